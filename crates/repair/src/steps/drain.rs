//! Cordons all nodes of a pool, then evicts pods, honoring PDBs.

use std::collections::BTreeMap;

use mooring_workflow::plural::counted;
use mooring_workflow::{NotRead, Note, Reason};

use super::done;
use crate::names::PDB;
use crate::observation::{EvictionBlocker, Node, Pod, movable_on};
use crate::plan::Step;
use crate::settings::BudgetPolicy;
use crate::workflow::effects::Effect;
use crate::workflow::{Context, Decision, Services, Workload};

impl<'a, S: Services> Context<'a, S> {
    /// Cordons all nodes first, so that no pod moves to another node of the pool.
    pub(super) async fn cordon(&self, pool: &str) -> Result<Decision, NotRead> {
        let nodes = self.nodes_of(pool).await?;
        Ok(match nodes.iter().find(|node| !node.unschedulable && !node.deleting) {
            Some(node) => self.effect(Effect::cordon(node)),
            None => done(format!("{} of pool {pool} cordoned", counted(nodes.len(), "node"))),
        })
    }

    pub(super) async fn drain(&self, step: Step, pool: &str) -> Result<Decision, NotRead> {
        if self.run.facts.workloads.contains_key(&step) {
            return self.empty(pool).await;
        }
        if let Some(other) = self.cordon(pool).await?.unless_done() {
            return Ok(other);
        }
        let (workloads, losses) = baseline(self.pods().await?, &self.evictable_pods(pool).await?);
        let mut facts = self.run.facts.clone();
        facts.record(step, workloads, losses);
        Ok(Decision::Note(Box::new(Note { facts, backup: None, text: String::new() })))
    }

    /// Returns the pods on a pool's nodes that a drain must evict.
    pub(super) async fn evictable_pods(
        &self,
        pool: &str,
    ) -> Result<Vec<(&'a Pod, &'a Node)>, NotRead> {
        let nodes = self.nodes_of(pool).await?;
        Ok(movable_on(self.pods().await?, &nodes))
    }

    /// Done once all nodes are cordoned and no evictable pod remains.
    pub(super) async fn empty(&self, pool: &str) -> Result<Decision, NotRead> {
        // The autoscaler may have added a node since.
        if let Some(other) = self.cordon(pool).await?.unless_done() {
            return Ok(other);
        }
        let here = self.evictable_pods(pool).await?;
        if let Some((pod, _)) = here.first()
            && let Some(other) = self.blocked(&evict(pod)).await?
        {
            return Ok(other);
        }
        let budgets = self.pdbs().await?;
        let mut waits = Vec::new();
        let mut blocked = Vec::new();
        let mut evidence = vec![format!("pool {pool} drained")];
        for (pod, node) in &here {
            // A dead node never confirms the deletion of a pod, and its pods do not run.
            let dead = node.is_dead(self.now);
            // It was rescheduled on a cordoned node, and is deleted with the node.
            if pod.ignores_cordon && pod.created.is_some_and(|at| at > self.run.step_since()) {
                continue;
            }
            let name = format!("{}/{}", pod.namespace, pod.name);
            if pod.deleting.is_some() {
                if !dead {
                    waits.push(self.wait(format!("for pod {name} to terminate")));
                }
                continue;
            }
            match EvictionBlocker::of(pod, budgets) {
                Some(pdb) if dead => evidence.push(format!(
                    "pod {name} is deleted with NotReady node {}; PDB {} bypassed",
                    node.name, pdb.budget.name
                )),
                Some(pdb) if node.ready => blocked.push(pdb),
                Some(pdb) => {
                    let why = format!("for node {} to become Ready: {pdb}", node.name);
                    waits.push(self.wait(why));
                }
                None => match self.effect(evict(pod)) {
                    Decision::Wait { .. } if dead => {}
                    wait @ Decision::Wait { .. } => waits.push(wait),
                    other => return Ok(other),
                },
            }
        }
        let soonest = waits.into_iter().min_by_key(|wait| match wait {
            Decision::Wait { until, .. } => Some(*until),
            _ => None,
        });
        Ok(soonest.unwrap_or_else(|| match blocked[..] {
            [] => Decision::Done(evidence),
            _ => self.handle_blocked(&blocked),
        }))
    }

    /// Applies the PDB policy: wait, stop, or override with a recorded reason.
    fn handle_blocked(&self, blocked: &[EvictionBlocker<'_>]) -> Decision {
        let never = blocked.iter().any(|blocker| !blocker.can_clear());
        let texts: Vec<String> = blocked.iter().take(5).map(ToString::to_string).collect();
        let message = texts.join(" | ");
        let waited = self.now.duration_since(self.run.step_since());
        match &self.settings.budgets {
            BudgetPolicy::Wait if !never => self.wait(message),
            BudgetPolicy::Stop | BudgetPolicy::Wait => Decision::resumable(
                Reason::Blocked,
                format!("{message} (change it, or `resume --override {PDB}=REASON`)"),
            ),
            BudgetPolicy::Override(reason) => {
                let permanent = blocked.iter().find(|blocker| !blocker.can_clear());
                let pod = permanent.unwrap_or(&blocked[0]).pod;
                if !never && waited < self.settings.limits.drain / 2 {
                    return self.wait(message);
                }
                self.effect(Effect::DeletePod {
                    namespace: pod.namespace.clone(),
                    pod: pod.name.clone(),
                    uid: pod.uid.clone(),
                    reason: reason.clone(),
                })
            }
        }
    }
}

fn evict(pod: &Pod) -> Effect {
    let (namespace, name) = (pod.namespace.clone(), pod.name.clone());
    Effect::Evict { namespace, pod: name, uid: pod.uid.clone() }
}

/// Returns the Ready pods of each controller by its uid, and the losses of a drain.
fn baseline(pods: &[Pod], here: &[(&Pod, &Node)]) -> (BTreeMap<String, Workload>, Vec<String>) {
    let mut workloads = BTreeMap::new();
    let mut losses = Vec::new();
    for (pod, _) in here {
        let name = format!("{}/{}", pod.namespace, pod.name);
        if pod.local_data {
            losses.push(format!("pod {name} has an emptyDir, whose data is lost"));
        }
        let Some(controller) = &pod.controller else {
            losses.push(format!("pod {name} has no controller and will not be recreated"));
            continue;
        };
        // Pods of a Job end on their own.
        if controller.kind == "Job" {
            continue;
        }
        workloads.entry(controller.uid.clone()).or_insert_with(|| Workload {
            name: format!("{}/{}/{}", pod.namespace, controller.kind, controller.name),
            serving: serving(pods, &controller.uid),
        });
    }
    (workloads, losses)
}

/// Returns the number of Ready pods of a controller.
pub(super) fn serving<'a>(pods: impl IntoIterator<Item = &'a Pod>, controller: &str) -> usize {
    let of = |pod: &&Pod| pod.controller.as_ref().is_some_and(|c| c.uid == controller);
    pods.into_iter().filter(of).filter(|pod| pod.serving()).count()
}
