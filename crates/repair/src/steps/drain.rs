//! Cordons all nodes of a pool, then evicts pods, honoring PDBs.

use std::collections::BTreeMap;

use crate::checks::{self, PDB};
use crate::observation::{EvictionBlocker, Node, Pod};
use crate::plan::Step;
use crate::settings::BudgetPolicy;
use crate::workflow::effects::Effect;
use crate::workflow::{
    Context, Decision, Fact, Halt, Progress, Reason, Unknown, Workload, resumable,
};
use mooring_workflow::plural::counted;

/// Cordons all nodes first, so that no pod moves to another node of the pool.
pub(super) fn cordon(context: &Context<'_>, pool: &str) -> Progress {
    let nodes = context.nodes_of(pool)?;
    match nodes.iter().find(|node| !node.unschedulable && !node.deleting) {
        Some(node) => Err(context.effect(Effect::cordon(node))),
        None => Ok(vec![format!("{} of pool {pool} cordoned", counted(nodes.len(), "node"))]),
    }
}

pub(super) fn drain(context: &Context<'_>, step: Step, pool: &str) -> Progress {
    if !context.run.facts.workloads.contains_key(&step) {
        cordon(context, pool)?;
        let fact = baseline(step, context.pods()?, &evictable_pods(context, pool)?);
        return Err(Decision::Record(Box::new(fact)).into());
    }
    ensure_empty(context, pool)
}

/// Returns the pods on a pool's nodes that a drain must evict.
pub(super) fn evictable_pods<'a>(
    context: &Context<'a>,
    pool: &str,
) -> Result<Vec<(&'a Pod, &'a Node)>, Unknown> {
    let nodes = context.nodes_of(pool)?;
    let node_of = |pod: &Pod| {
        nodes.iter().find(|node| pod.node.as_deref() == Some(node.name.as_str())).copied()
    };
    let pods = context.pods()?.iter().filter(|pod| pod.movable());
    Ok(pods.filter_map(|pod| Some((pod, node_of(pod)?))).collect())
}

/// Ensures that all nodes are cordoned and no evictable pod remains.
pub(super) fn ensure_empty(context: &Context<'_>, pool: &str) -> Progress {
    // The autoscaler may have added a node since.
    cordon(context, pool)?;
    let here = evictable_pods(context, pool)?;
    if let Some((pod, _)) = here.first() {
        checks::ensure(context, &evict(pod))?;
    }
    let budgets = context.pdbs()?;
    let mut waits = Vec::new();
    let mut blocked = Vec::new();
    let mut evidence = vec![format!("pool {pool} drained")];
    for (pod, node) in &here {
        // A dead node never confirms the deletion of a pod, and its pods do not run.
        let dead = node.is_dead(context.now);
        // It was rescheduled on a cordoned node, and is deleted with the node.
        if pod.ignores_cordon && pod.created.is_some_and(|at| at > context.run.step_since()) {
            continue;
        }
        if pod.deleting.is_some() {
            if !dead {
                waits.push(
                    context.wait(format!("for pod {}/{} to terminate", pod.namespace, pod.name)),
                );
            }
            continue;
        }
        if let Some(blocker) = EvictionBlocker::of(pod, budgets) {
            if dead {
                let (budget, node) = (blocker.budget, &node.name);
                evidence.push(format!(
                    "pod {}/{} is deleted with NotReady node {node}; PDB {} bypassed",
                    pod.namespace, pod.name, budget.name
                ));
            } else if node.ready {
                blocked.push(blocker);
            } else {
                waits.push(
                    context.wait(format!("for node {} to become Ready: {blocker}", node.name)),
                );
            }
            continue;
        }
        match context.effect(evict(pod)) {
            Halt::Decision(Decision::Wait { .. }) if dead => {}
            wait @ Halt::Decision(Decision::Wait { .. }) => waits.push(wait),
            halt => return Err(halt),
        }
    }
    if let Some(wait) = soonest(waits) {
        return Err(wait);
    }
    if !blocked.is_empty() {
        return Err(handle_blocked(context, &blocked));
    }
    Ok(evidence)
}

pub(super) fn evict(pod: &Pod) -> Effect {
    let (namespace, name) = (pod.namespace.clone(), pod.name.clone());
    Effect::Evict { namespace, pod: name, uid: pod.uid.clone() }
}

fn soonest(waits: Vec<Halt>) -> Option<Halt> {
    waits.into_iter().min_by_key(|wait| match wait {
        Halt::Decision(Decision::Wait { until, .. }) => Some(*until),
        _ => None,
    })
}

/// Applies the PDB policy: wait, stop, or override with a recorded reason.
fn handle_blocked(context: &Context<'_>, blocked: &[EvictionBlocker<'_>]) -> Halt {
    let never = blocked.iter().any(|blocker| !blocker.can_clear());
    let texts: Vec<String> = blocked.iter().take(5).map(ToString::to_string).collect();
    let message = texts.join(" | ");
    let waited = context.now.duration_since(context.run.step_since());
    match &context.settings.budgets {
        BudgetPolicy::Wait if !never => context.wait(message),
        BudgetPolicy::Stop | BudgetPolicy::Wait => resumable(
            Reason::BudgetBlocks,
            format!("{message} (change it, or `resume --override {PDB}=REASON`)"),
        ),
        BudgetPolicy::Override(reason) => {
            let permanent = blocked.iter().find(|blocker| !blocker.can_clear());
            let pod = permanent.unwrap_or(&blocked[0]).pod;
            if never || waited >= context.settings.limits.drain / 2 {
                context.effect(Effect::DeletePod {
                    namespace: pod.namespace.clone(),
                    pod: pod.name.clone(),
                    uid: pod.uid.clone(),
                    reason: reason.clone(),
                })
            } else {
                context.wait(message)
            }
        }
    }
}

/// Records the Ready pods of each controller, and the losses of a drain.
fn baseline(step: Step, pods: &[Pod], here: &[(&Pod, &Node)]) -> Fact {
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
    Fact::Workloads { step, workloads, losses }
}

/// Returns the number of Ready pods of a controller.
pub(super) fn serving<'a>(pods: impl IntoIterator<Item = &'a Pod>, controller: &str) -> usize {
    let of = |pod: &&Pod| pod.controller.as_ref().is_some_and(|c| c.uid == controller);
    pods.into_iter().filter(of).filter(|pod| pod.serving()).count()
}
