//! Checks of the cluster, its pools and their nodes.

use mooring_workflow::plural::counted;
use mooring_workflow::{Outcome, Reading};

use super::finding::{Finding, Found, Subject, fail, pass, pass_if};
use crate::names::{PURPOSE, PURPOSE_TAG};
use crate::observation::{Pool, known};

/// Fewer Ready, schedulable nodes than the minimum, or instances that are not registered as nodes.
pub(super) fn missing_nodes(subject: Subject<'_>) -> Found {
    let Subject { view, settings, now } = subject;
    let name = subject.name();
    let Some(pool) = subject.pool()? else { return fail(format!("pool {name} was not found")) };
    let nodes = known(view.nodes.get(), "nodes")?;
    let own = || nodes.iter().filter(|node| node.is_of(name));
    let usable = own().filter(|node| node.usable()).count();
    let min = pool.min_count().unwrap_or(0);
    let counts = format!("{} (minimum {min})", counted(usable, "Ready, schedulable node"));
    if i64::try_from(usable).is_ok_and(|usable| usable < min) {
        return pass(counts);
    }
    let and = |more: String| format!("{counts}; {more}");
    let Some(set) = view.scale_set_of(name) else {
        return Err(and("the scale set of the pool is unknown".to_owned()));
    };
    let instances = known(view.instances.get(&set.name), "instances").map_err(and)?;
    let is_unregistered = |id: &str| !nodes.iter().any(|node| node.is_on(id));
    let unregistered: Vec<_> =
        instances.iter().filter(|one| is_unregistered(&one.id)).map(|one| one.created).collect();
    let dwell = settings.limits.registration;
    let is_old = |created: &&_| now.duration_since(**created) >= dwell;
    let old = unregistered.iter().flatten().filter(is_old).count();
    let ageless = unregistered.iter().filter(|created| created.is_none()).count();
    // A new node has no providerID yet.
    let without_id = own().filter(|node| node.provider_id.is_none()).count();
    let minutes = dwell.as_mins();
    if old > without_id {
        pass(and(format!("{} not registered as nodes after {minutes}m", counted(old, "VM"))))
    } else if old > 0 {
        Err(and(format!("{} without a providerID", counted(without_id, "node"))))
    } else if ageless > 0 {
        Err(and(format!("{} not registered as nodes, age unknown", counted(ageless, "VM"))))
    } else {
        fail(and(format!("all VMs older than {minutes}m are registered as nodes")))
    }
}

pub(super) fn cluster_state(subject: Subject<'_>) -> Found {
    let reading = subject.view.cluster.get();
    if matches!(reading, Some(Reading::NotFound)) {
        return fail("the cluster was not found");
    }
    let state = known(reading, "the cluster")?.state.as_str();
    match state {
        "Succeeded" | "Canceled" | "Failed" | "Updating" | "Upgrading" => {
            pass(format!("cluster is {state}"))
        }
        // The state after an abort is temporary: neither ok nor failed.
        "Canceling" => Ok(Finding {
            transient: true,
            ..Finding::of(Outcome::Unknown, "cluster is Canceling; waiting")
        }),
        "" => fail("the cluster has no provisioningState"),
        _ => fail(format!("cluster is {}", mooring_redact::identifier(state))),
    }
}

/// Every other pool has nodes, or is scaled to zero on purpose.
pub(super) fn other_pools(subject: Subject<'_>) -> Found {
    let (pools, name) = (subject.pools()?, subject.name());
    let Some(target) = subject.pool()? else { return fail(absent(pools, name)) };
    if let Some(why) = target.not_rebuildable() {
        return fail(why);
    }
    let is_temporary = |pool: &Pool| pool.tag(PURPOSE_TAG).as_deref() == Some(PURPOSE);
    let others = pools.iter().filter(|pool| pool.name != name && !is_temporary(pool));
    let (other_kinds, others): (Vec<&Pool>, Vec<_>) =
        others.partition(|pool| pool.other_kind().is_some());
    let empty: Vec<&str> = others
        .iter()
        .filter(|pool| !is_empty_on_purpose(pool))
        // An unknown count is not 0.
        .filter(|pool| pool.count().is_some_and(|count| count <= 0))
        .map(|pool| pool.name.as_str())
        .collect();
    if !empty.is_empty() {
        return fail(format!("pools without nodes: {}", empty.join(", ")));
    }
    let mut evidence = format!("{}, none unexpectedly empty", counted(others.len(), "other pool"));
    let of_kind = |pool: &&Pool| Some(format!("{} ({})", pool.name, pool.other_kind()?));
    let kinds: Vec<String> = other_kinds.iter().filter_map(of_kind).collect();
    if !kinds.is_empty() {
        evidence.push_str("; not counted: ");
        evidence.push_str(&kinds.join(", "));
    }
    pass(evidence)
}

pub(super) fn pool_state(subject: Subject<'_>) -> Found {
    let name = subject.name();
    let Some(pool) = subject.pool()? else { return fail(format!("pool {name} was not found")) };
    let (state, wanted) = (pool.state(), &subject.settings.wedge_states);
    let shown = if state.is_empty() { "unknown" } else { state };
    let text = format!("pool {name} is {shown} (wedged if {})", wanted.join(", "));
    pass_if(wanted.iter().any(|wedge| wedge == state), text)
}

/// Returns the reason why a pool does not exist. AKS Automatic manages the system pool and does not list it.
pub fn absent(pools: &[Pool], name: &str) -> String {
    if pools.iter().any(Pool::is_system) {
        return format!("pool {name} was not found");
    }
    format!(
        "pool {name} was not found, and the cluster lists no system pool: AKS manages it (AKS Automatic)"
    )
}

fn is_empty_on_purpose(pool: &Pool) -> bool {
    pool.stopped() || (pool.autoscaled() && pool.min_count() == Some(0))
}
