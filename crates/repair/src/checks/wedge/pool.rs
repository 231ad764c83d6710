//! Signs of the pool itself: its nodes and its state.

use jiff::Timestamp;
use mooring_workflow::plural::counted;
use mooring_workflow::{CheckResult, Outcome};

use crate::check_ids::{MISSING_NODES, POOL_STATE};
use crate::checks::text::{known, target};
use crate::observation::{ClusterView, Node};
use crate::settings::Settings;

/// Fewer Ready, schedulable nodes than the minimum, or instances that are not registered as nodes.
pub(in crate::checks) fn missing_nodes(
    view: &ClusterView,
    settings: &Settings,
    now: Timestamp,
) -> CheckResult {
    let result = |outcome, evidence: String| CheckResult::new(MISSING_NODES, outcome, evidence);
    let pool_name = &settings.target.pool;
    let (pool, nodes) = match (target(view, pool_name), known(view.nodes.get())) {
        (Ok(Some(pool)), Ok(nodes)) => (pool, nodes),
        (Ok(None), _) => return result(Outcome::Fail, format!("pool {pool_name} was not found")),
        (Err(why), _) => return result(Outcome::Unknown, format!("pools {why}")),
        (_, Err(why)) => return result(Outcome::Unknown, format!("nodes {why}")),
    };
    let usable =
        nodes.iter().filter(|n| n.pool.as_deref() == Some(pool_name) && n.usable()).count();
    let min = pool.min_count().unwrap_or(0);
    let below = i64::try_from(usable).is_ok_and(|usable| usable < min);
    let counts = format!("{} (minimum {min})", counted(usable, "Ready, schedulable node"));
    if below {
        return result(Outcome::Pass, counts);
    }
    let Some(set) = view.scale_set_of(pool_name) else {
        return result(Outcome::Unknown, format!("{counts}; the scale set of the pool is unknown"));
    };
    let instances = match known(view.instances.get(&set.name)) {
        Ok(instances) => instances,
        Err(why) => return result(Outcome::Unknown, format!("{counts}; instances {why}")),
    };
    let unregistered =
        || instances.iter().filter(|instance| !nodes.iter().any(|node| node.is_on(&instance.id)));
    let dwell = settings.limits.registration;
    let old = unregistered()
        .filter(|i| i.created.is_some_and(|created| now.duration_since(created) >= dwell))
        .count();
    let ageless = unregistered().filter(|instance| instance.created.is_none()).count();
    let minutes = format!("{}m", dwell.as_mins());
    // A new node has no providerID yet.
    let without_id =
        |node: &&Node| node.pool.as_deref() == Some(pool_name) && node.provider_id.is_none();
    let without_id = nodes.iter().filter(without_id).count();
    if old > 0 && old <= without_id {
        let text = format!("{counts}; {} without a providerID", counted(without_id, "node"));
        result(Outcome::Unknown, text)
    } else if old > 0 {
        let text =
            format!("{counts}; {} not registered as nodes after {minutes}", counted(old, "VM"));
        result(Outcome::Pass, text)
    } else if ageless > 0 {
        result(
            Outcome::Unknown,
            format!("{counts}; {} not registered as nodes, age unknown", counted(ageless, "VM")),
        )
    } else {
        result(
            Outcome::Fail,
            format!("{counts}; all VMs older than {minutes} are registered as nodes"),
        )
    }
}

pub(in crate::checks) fn pool_state(
    view: &ClusterView,
    settings: &Settings,
    _: Timestamp,
) -> CheckResult {
    let result = |outcome, evidence: String| CheckResult::new(POOL_STATE, outcome, evidence);
    match target(view, &settings.target.pool) {
        Err(why) => result(Outcome::Unknown, format!("pools {why}")),
        Ok(None) => result(Outcome::Fail, format!("pool {} was not found", settings.target.pool)),
        Ok(Some(pool)) => {
            let state = pool.state();
            let wedged = settings.wedge_states.iter().any(|wedge| wedge == state);
            let shown = if state.is_empty() { "unknown" } else { state };
            let wanted = settings.wedge_states.join(", ");
            let outcome = if wedged { Outcome::Pass } else { Outcome::Fail };
            result(outcome, format!("pool {} is {shown} (wedged if {wanted})", pool.name))
        }
    }
}
