//! What can be known to fail before anything is begun.

use std::collections::BTreeMap;

use serde::Serialize;

use super::needs::needs;
use super::rights::{self, Rights};
use crate::names::temporary_pool;
use crate::observation::{Cluster, Hold, Pool, Seen};
use crate::sanitise::temporary_count;
use crate::settings::{MOST_RECREATIONS, RECREATIONS, Settings};
use crate::stand_in::StandIn;
use mooring_workflow::Outcome;
use mooring_workflow::Reading;
use mooring_workflow::plural::counted;

/// The check of the session's deadline.
pub(super) const TIME: &str = "time";

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Precheck {
    /// Its name.
    pub name: &'static str,
    /// What it says.
    pub outcome: Outcome,
    /// Why.
    pub detail: String,
}

impl Precheck {
    /// Returns true if it is about rights that could not be read: a run may begin, and its operator is warned.
    #[must_use]
    pub fn warns(&self) -> bool {
        self.outcome == Outcome::Unknown && rights::NAMES.contains(&self.name)
    }

    /// True if it is known that a run would not succeed, or not known that it is no third one. A budget that never
    /// clears and a short time are left to the run: it respects the one and can be resumed after the other.
    #[must_use]
    pub fn forbids(&self) -> bool {
        match self.outcome {
            Outcome::Pass => false,
            Outcome::Unknown => self.name == RECREATIONS,
            Outcome::Fail => !matches!(self.name, "budgets" | TIME),
        }
    }
}

/// Facts about the subscription and network that a temporary pool needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Surroundings {
    /// vCPUs of one node of the pool's size.
    pub vcpus: Reading<i64>,
    /// vCPUs left in the region and in the size's family, whichever is fewer.
    pub quota_left: Reading<i64>,
    /// Why the size cannot be had in the pool's zones; empty if it can.
    pub restrictions: Reading<Vec<String>>,
    /// Free addresses of each of the pool's [`subnets`], by the subnet's id.
    pub free_addresses: BTreeMap<String, Reading<i64>>,
    /// How often the pool was deleted within a day, by whomever.
    pub deletions: Reading<usize>,
    /// What the caller may do, and what is locked or denied.
    pub rights: Rights,
}

impl Surroundings {
    /// Nothing is known.
    #[must_use]
    pub fn unread() -> Self {
        let why = || "was not read".to_owned();
        Self {
            vcpus: Reading::Failed(why()),
            quota_left: Reading::Failed(why()),
            restrictions: Reading::Failed(why()),
            free_addresses: BTreeMap::new(),
            deletions: Reading::Failed(why()),
            rights: Rights::default(),
        }
    }
}

/// The subnets of which a temporary pool takes addresses, each with how many. None of a pool in the network that
/// AKS made for its cluster: nothing in the pool names it.
#[must_use]
pub fn subnets(cluster: &Cluster, pool: &Pool) -> Vec<(String, i64)> {
    let subnet = |name: &str| pool.raw["properties"][name].as_str().map(str::to_owned);
    let Some(own) = subnet("vnetSubnetID") else { return Vec::new() };
    let nodes = nodes(pool);
    let most = pool.raw["properties"]["maxPods"].as_i64().unwrap_or(30);
    let pods = nodes.saturating_mul(most);
    match subnet("podSubnetID") {
        // A node takes addresses of a subnet for pods by the batch, as its pods come.
        Some(of_pods) => vec![(own, nodes), (of_pods, nodes.saturating_mul(most.min(BATCH)))],
        None if cluster.pods_in_subnet => vec![(own, nodes.saturating_add(pods))],
        None => vec![(own, nodes)],
    }
}

/// How many addresses a node takes at a time.
const BATCH: i64 = 16;

/// How many nodes the temporary pool has.
fn nodes(pool: &Pool) -> i64 {
    let properties = &pool.raw["properties"];
    temporary_count(properties["count"].as_i64(), properties["minCount"].as_i64())
}

pub(super) fn check(
    seen: &Seen,
    settings: &Settings,
    pool: &Pool,
    left: Option<&StandIn>,
    expected_seconds: u32,
    around: &Surroundings,
) -> Vec<Precheck> {
    let nodes = nodes(pool);
    let temporary = temporary_pool(&pool.name, pool.is_windows());
    let cluster = seen.cluster.as_ref().and_then(Reading::known);
    let room = cluster.map(|cluster| subnets(cluster, pool)).unwrap_or_default();
    let quota = needed(
        "quota",
        "vCPUs",
        around.vcpus.known().map(|vcpus| vcpus.saturating_mul(nodes)),
        &around.quota_left,
    );
    let size = match &around.restrictions {
        Reading::Known(found) if found.is_empty() => {
            (Outcome::Pass, "the size can be had".to_owned())
        }
        Reading::Known(found) => (Outcome::Fail, found.join("; ")),
        other => (Outcome::Unknown, other.missing().unwrap_or_default()),
    };
    let mut checks = vec![
        quota,
        Precheck { name: "size", outcome: size.0, detail: size.1 },
        addresses(&room, &around.free_addresses),
        budgets(seen, &pool.name),
        name(seen, left, &temporary),
        limit(seen),
        recreations(&around.deletions),
    ];
    if left.is_some() {
        for check in &mut checks {
            if matches!(check.name, "quota" | "size" | "subnet" | "pool-limit") {
                (check.outcome, check.detail) =
                    (Outcome::Pass, format!("{temporary} is there already"));
            }
        }
    }
    if let Some(cluster) = cluster {
        checks.extend(rights::check(&needs(seen, settings, cluster, pool), &around.rights));
    }
    let budget = settings.limits.overall.as_secs();
    let enough = i64::from(expected_seconds) <= budget;
    checks.push(Precheck {
        name: TIME,
        outcome: if enough { Outcome::Pass } else { Outcome::Fail },
        detail: format!(
            "{} expected, {} allowed",
            counted(expected_seconds / 60, "minute"),
            budget / 60
        ),
    });
    checks
}

fn needed(name: &'static str, what: &str, need: Option<i64>, left: &Reading<i64>) -> Precheck {
    let (outcome, detail) = match (need, left) {
        (Some(need), Reading::Known(left)) => (
            if need <= *left { Outcome::Pass } else { Outcome::Fail },
            format!("{need} {what} needed, {left} left"),
        ),
        (None, _) => (Outcome::Unknown, format!("the need of {what} is not known")),
        (_, other) => (Outcome::Unknown, other.missing().unwrap_or_default()),
    };
    Precheck { name, outcome, detail }
}

/// The scarcest subnet decides: one that is too small is certain, one that could not be read is not.
fn addresses(needs: &[(String, i64)], free: &BTreeMap<String, Reading<i64>>) -> Precheck {
    let unread = Reading::Failed("was not read".to_owned());
    let checks = needs.iter().map(|(id, need)| {
        let name = id.rsplit('/').next().unwrap_or(id);
        let of = format!("addresses of {}", mooring_contract::shown(name));
        needed("subnet", &of, Some(*need), free.get(id).unwrap_or(&unread))
    });
    let worst = checks.max_by_key(|check| match check.outcome {
        Outcome::Fail => 2,
        Outcome::Unknown => 1,
        Outcome::Pass => 0,
    });
    worst.unwrap_or_else(|| Precheck {
        name: "subnet",
        outcome: Outcome::Unknown,
        detail: "not checked: the pool names no subnet, it is in the network that AKS made"
            .to_owned(),
    })
}

/// Budgets that can never let their pods on this pool go.
fn budgets(seen: &Seen, pool: &str) -> Precheck {
    let readings = (
        seen.nodes.as_ref().and_then(Reading::known),
        seen.pods.as_ref().and_then(Reading::known),
        seen.pdbs.as_ref().and_then(Reading::known),
    );
    let (Some(nodes), Some(pods), Some(budgets)) = readings else {
        let detail = "nodes, pods or budgets were not read".to_owned();
        return Precheck { name: "budgets", outcome: Outcome::Unknown, detail };
    };
    let here = |pod: &&crate::observation::Pod| {
        nodes.iter().any(|n| {
            n.pool.as_deref() == Some(pool) && pod.node.as_deref() == Some(n.name.as_str())
        })
    };
    let stuck: Vec<String> = pods
        .iter()
        .filter(|pod| pod.movable())
        .filter(here)
        .filter_map(|pod| {
            Hold::of(pod, budgets).filter(|hold| !hold.can_clear()).map(|hold| hold.to_string())
        })
        .collect();
    if stuck.is_empty() {
        let detail = "no budget holds a pod for ever".to_owned();
        Precheck { name: "budgets", outcome: Outcome::Pass, detail }
    } else {
        Precheck { name: "budgets", outcome: Outcome::Fail, detail: stuck.join("; ") }
    }
}

fn name(seen: &Seen, left: Option<&StandIn>, temporary: &str) -> Precheck {
    let pools = seen.pools.as_ref().and_then(Reading::known);
    let taken = || pools.is_some_and(|pools| pools.iter().any(|pool| pool.name == temporary));
    let (outcome, detail) = match left {
        // Whether it may be taken over is in the journal.
        Some(left) => (Outcome::Unknown, left.and_now()),
        None if taken() => (Outcome::Fail, format!("{temporary} is somebody else's pool")),
        None => (Outcome::Pass, format!("{temporary} is free")),
    };
    Precheck { name: "name", outcome, detail }
}

/// The circuit breaker for those whose journal knows of nothing.
fn recreations(deletions: &Reading<usize>) -> Precheck {
    let (outcome, detail) = match deletions {
        Reading::Known(count) => (
            if *count < MOST_RECREATIONS { Outcome::Pass } else { Outcome::Fail },
            format!(
                "the activity log has {} of the pool within a day, {MOST_RECREATIONS} are too many",
                counted(*count, "deletion")
            ),
        ),
        other => {
            (Outcome::Unknown, format!("the activity log {}", other.missing().unwrap_or_default()))
        }
    };
    Precheck { name: RECREATIONS, outcome, detail }
}

fn limit(seen: &Seen) -> Precheck {
    let most = seen.cluster.as_ref().and_then(Reading::known).and_then(|cluster| cluster.max_pools);
    let pools = seen.pools.as_ref().and_then(Reading::known).map_or(0, Vec::len);
    let (outcome, detail) = match most {
        None => {
            (Outcome::Unknown, "the cluster does not say how many pools it may have".to_owned())
        }
        Some(most) => {
            let fits = i64::try_from(pools).is_ok_and(|pools| pools < most);
            (
                if fits { Outcome::Pass } else { Outcome::Fail },
                format!("{pools} of {most} pools exist"),
            )
        }
    };
    Precheck { name: "pool-limit", outcome, detail }
}
