//! Checks of the cluster and its other pools.

use super::text::known;
use super::{CLUSTER_STATE, OTHER_POOLS};
use crate::names::{PURPOSE, PURPOSE_TAG};
use crate::observation::{ClusterView, Pool};
use crate::settings::Settings;
use jiff::Timestamp;
use mooring_workflow::plural::counted;
use mooring_workflow::{CheckResult, Outcome, Reading};

pub(super) fn cluster_state(view: &ClusterView, _: &Settings, _: Timestamp) -> CheckResult {
    let result = |outcome, evidence: String| CheckResult::new(CLUSTER_STATE, outcome, evidence);
    match view.cluster.get() {
        None => result(Outcome::Unknown, "the cluster was not read".to_owned()),
        Some(Reading::Known(cluster)) => {
            let state = cluster.state.as_str();
            match state {
                "Succeeded" | "Canceled" | "Failed" | "Updating" | "Upgrading" => {
                    result(Outcome::Pass, format!("cluster is {state}"))
                }
                // The state after an abort is temporary: neither ok nor failed.
                "Canceling" => CheckResult {
                    transient: true,
                    ..result(Outcome::Unknown, "cluster is Canceling; waiting".to_owned())
                },
                "" => result(Outcome::Fail, "the cluster has no provisioningState".to_owned()),
                _ => result(
                    Outcome::Fail,
                    format!("cluster is {}", mooring_redact::identifier(state)),
                ),
            }
        }
        Some(Reading::NotFound) => result(Outcome::Fail, "the cluster was not found".to_owned()),
        Some(other) => {
            result(Outcome::Unknown, format!("the cluster {}", other.missing().unwrap_or_default()))
        }
    }
}

/// Every other pool has nodes, or is scaled to zero on purpose.
pub(super) fn other_pools(view: &ClusterView, settings: &Settings, _: Timestamp) -> CheckResult {
    let result = |outcome, evidence: String| CheckResult::new(OTHER_POOLS, outcome, evidence);
    let pools = match known(view.pools.get()) {
        Ok(pools) => pools,
        Err(why) => return result(Outcome::Unknown, format!("pools {why}")),
    };
    let name = &settings.target.pool;
    let Some(target) = pools.iter().find(|pool| pool.name == *name) else {
        return result(Outcome::Fail, absent(pools, name));
    };
    if let Some(why) = target.not_rebuildable() {
        return result(Outcome::Fail, why);
    }
    let others = || pools.iter().filter(|pool| pool.name != *name && !is_temporary(pool));
    let empty: Vec<&str> = others()
        .filter(|pool| pool.other_kind().is_none() && !is_empty_on_purpose(pool))
        // An unknown count is not 0.
        .filter(|pool| pool.count().is_some_and(|count| count <= 0))
        .map(|p| p.name.as_str())
        .collect();
    if empty.is_empty() {
        let of_kind = |pool: &Pool| Some(format!("{} ({})", pool.name, pool.other_kind()?));
        let kinds: Vec<String> = others().filter_map(of_kind).collect();
        let counted_pools = others().count() - kinds.len();
        let mut evidence =
            format!("{}, none unexpectedly empty", counted(counted_pools, "other pool"));
        if !kinds.is_empty() {
            evidence.push_str("; not counted: ");
            evidence.push_str(&kinds.join(", "));
        }
        result(Outcome::Pass, evidence)
    } else {
        result(Outcome::Fail, format!("pools without nodes: {}", empty.join(", ")))
    }
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

fn is_temporary(pool: &Pool) -> bool {
    pool.tag(PURPOSE_TAG).as_deref() == Some(PURPOSE)
}
