//! Emptying a pool: cordon all of it, then evict as far as disruption budgets allow.

use std::collections::BTreeMap;

use super::context::{Context, Halt, Progress, Unknown, resumable};
use crate::checks::{self, PDB};
use crate::effects::Effect;
use crate::observation::{EvictionBlocker, Node, Pod};
use crate::plan::Step;
use crate::settings::BudgetPolicy;
use crate::workflow::Reason;
use crate::workflow::{Decision, Fact, Workload};
use mooring_workflow::plural::counted;

/// All nodes of the pool first, so that no pod moves to the next doomed node.
pub(super) fn cordon(context: &Context<'_>, pool: &str) -> Progress {
    let nodes = context.nodes_of(pool)?;
    match nodes.iter().find(|node| !node.unschedulable && !node.deleting) {
        Some(node) => {
            Err(context.effect(Effect::Cordon { node: node.name.clone(), uid: node.uid.clone() }))
        }
        None => {
            Ok(vec![format!("pool {pool} takes no new pods on {}", counted(nodes.len(), "node"))])
        }
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

/// The pods on a pool's nodes that a drain must move.
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

/// All of the pool is cordoned, and no pod that could be moved is left on it; whatever else there is, is moved first.
pub(super) fn ensure_empty(context: &Context<'_>, pool: &str) -> Progress {
    // The autoscaler may have added a node meanwhile.
    cordon(context, pool)?;
    let here = evictable_pods(context, pool)?;
    if let Some((pod, _)) = here.first() {
        checks::ensure(context, &evict(pod))?;
    }
    let budgets = context.pdbs()?;
    let mut waits = Vec::new();
    let mut blocked = Vec::new();
    let mut proof = vec![format!("no pod of pool {pool} is left that could be moved")];
    for (pod, node) in &here {
        // A dead node never confirms that a pod has ended; its pods go with it, and serve nobody.
        let dead = node.is_dead(context.now);
        // It came back to a cordoned node, and would again; it goes with the node.
        if pod.ignores_cordon && pod.created.is_some_and(|at| at > context.run.step_since()) {
            continue;
        }
        if pod.deleting.is_some() {
            if !dead {
                waits.push(context.wait(format!("for {}/{} to end", pod.namespace, pod.name)));
            }
            continue;
        }
        if let Some(hold) = EvictionBlocker::of(pod, budgets) {
            if dead {
                let (budget, node) = (hold.budget, &node.name);
                proof.push(format!(
                    "pod {}/{} goes with dead node {node}, whatever budget {} says",
                    pod.namespace, pod.name, budget.name
                ));
            } else if node.ready {
                blocked.push(hold);
            } else {
                waits.push(context.wait(format!(
                    "to see whether node {} comes back, on which {hold}",
                    node.name
                )));
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
        return Err(budget_blocks(context, &blocked));
    }
    Ok(proof)
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

/// The stated policy for budgets: wait, stop, or go over them for a recorded reason.
fn budget_blocks(context: &Context<'_>, blocked: &[EvictionBlocker<'_>]) -> Halt {
    let never = blocked.iter().any(|hold| !hold.can_clear());
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
            let hopeless = blocked.iter().find(|hold| !hold.can_clear());
            let pod = hopeless.unwrap_or(&blocked[0]).pod;
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

/// How many pods of each controller serve now, and what a drain will cost.
fn baseline(step: Step, pods: &[Pod], here: &[(&Pod, &Node)]) -> Fact {
    let mut workloads = BTreeMap::new();
    let mut losses = Vec::new();
    for (pod, _) in here {
        let name = format!("{}/{}", pod.namespace, pod.name);
        if pod.local_data {
            losses
                .push(format!("pod {name} keeps data in an emptyDir, which is lost when it moves"));
        }
        let Some(controller) = &pod.controller else {
            losses.push(format!("pod {name} has no controller, so nothing makes it again"));
            continue;
        };
        // A job's pods end by themselves: their number proves nothing.
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

/// How many pods of a controller serve.
pub(super) fn serving<'a>(pods: impl IntoIterator<Item = &'a Pod>, controller: &str) -> usize {
    let of = |pod: &&Pod| pod.controller.as_ref().is_some_and(|c| c.uid == controller);
    pods.into_iter().filter(of).filter(|pod| pod.serving()).count()
}
