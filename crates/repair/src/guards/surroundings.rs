//! Guards 3 and 4: whether the rest of the cluster bears a rebuild.

use super::{Guard, Outcome};
use crate::counted::counted;
use crate::names::{PURPOSE, PURPOSE_TAG};
use crate::observation::{Pool, Reading, Seen};
use crate::settings::Settings;

/// Guard 3: the cluster is in a state from which it can be repaired.
pub(super) fn cluster_state(seen: &Seen) -> Guard {
    let guard = |outcome, evidence: String| Guard::new("cluster-state", outcome, evidence);
    match &seen.cluster {
        None => guard(Outcome::Unknown, "the cluster was not read".to_owned()),
        Some(Reading::Known(cluster)) => {
            let state = cluster.state.as_str();
            match state {
                "Succeeded" | "Canceled" | "Failed" | "Updating" | "Upgrading" => {
                    guard(Outcome::Pass, format!("the cluster is {state}"))
                }
                // The very state after an abort: it will end, so neither yes nor no.
                "Canceling" => Guard {
                    transient: true,
                    ..guard(Outcome::Unknown, "the cluster is Canceling; wait".to_owned())
                },
                "" => guard(Outcome::Fail, "the cluster does not say its state".to_owned()),
                _ => guard(
                    Outcome::Fail,
                    format!("the cluster is {}", mooring_contract::shown(state)),
                ),
            }
        }
        Some(Reading::NotFound) => guard(Outcome::Fail, "there is no such cluster".to_owned()),
        Some(other) => {
            guard(Outcome::Unknown, format!("the cluster {}", other.missing().unwrap_or_default()))
        }
    }
}

/// Guard 4: every other pool has nodes, or is meant to have none.
pub(super) fn other_pools(seen: &Seen, settings: &Settings) -> Guard {
    let guard = |outcome, evidence: String| Guard::new("other-pools", outcome, evidence);
    let pools = match &seen.pools {
        Some(Reading::Known(pools)) => pools,
        Some(other) => {
            return guard(
                Outcome::Unknown,
                format!("pools {}", other.missing().unwrap_or_default()),
            );
        }
        None => return guard(Outcome::Unknown, "pools were not read".to_owned()),
    };
    let name = &settings.target.pool;
    if !pools.iter().any(|pool| pool.name == *name) {
        return guard(Outcome::Fail, format!("there is no pool {name}"));
    }
    let others = || pools.iter().filter(|pool| pool.name != *name && !is_temporary(pool));
    let empty: Vec<&str> = others()
        .filter(|pool| pool.count() <= 0 && !meant_to_be_empty(pool))
        .map(|p| p.name.as_str())
        .collect();
    if empty.is_empty() {
        guard(
            Outcome::Pass,
            format!(
                "{} with the nodes that there should be",
                counted(others().count(), "other pool")
            ),
        )
    } else {
        guard(Outcome::Fail, format!("pools without nodes: {}", empty.join(", ")))
    }
}

fn meant_to_be_empty(pool: &Pool) -> bool {
    pool.stopped() || (pool.autoscaled() && pool.min_count() == Some(0))
}

fn is_temporary(pool: &Pool) -> bool {
    pool.tag(PURPOSE_TAG).as_deref() == Some(PURPOSE)
}
