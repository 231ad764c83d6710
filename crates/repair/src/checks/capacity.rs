//! What can be known to fail before anything is begun.

use std::collections::BTreeMap;

use mooring_workflow::plural::counted;
use mooring_workflow::{CheckResult, Outcome, Reading};

use super::rights::Rights;
use super::{PDB, POOL_LIMIT, POOL_NAME, QUOTA, RECREATIONS, SUBNET, TIME, VM_SIZE};
use crate::names::temporary_pool;
use crate::observation::{Cluster, ClusterView, EvictionBlocker, Pool};
use crate::pool_body::temporary_count;
use crate::settings::{MAX_RECREATIONS, Settings};
use crate::temporary_pool::TemporaryPool;

/// Facts about the subscription and network that a temporary pool needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Capacity {
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

impl Capacity {
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

/// What a plan is made from.
pub(crate) struct Planning<'a> {
    pub(crate) view: &'a ClusterView,
    pub(crate) settings: &'a Settings,
    pub(crate) cluster: &'a Cluster,
    pub(crate) pool: &'a Pool,
    /// The temporary pool that an earlier run left.
    pub(crate) left: Option<&'a TemporaryPool>,
    pub(crate) expected_seconds: u32,
    pub(crate) around: &'a Capacity,
}

impl Planning<'_> {
    fn temporary(&self) -> String {
        temporary_pool(&self.pool.name, self.pool.is_windows())
    }

    /// What is needed for a temporary pool is not needed for one that exists.
    fn unless_left(
        &self,
        id: &'static str,
        check: impl FnOnce() -> (Outcome, String),
    ) -> CheckResult {
        let (outcome, detail) = match self.left {
            Some(_) => (Outcome::Pass, format!("{} is there already", self.temporary())),
            None => check(),
        };
        CheckResult::new(id, outcome, detail)
    }
}

pub(super) fn quota(plan: &Planning<'_>) -> CheckResult {
    plan.unless_left(QUOTA, || {
        let vcpus = plan.around.vcpus.known();
        let need = vcpus.map(|vcpus| vcpus.saturating_mul(nodes(plan.pool)));
        needed("vCPUs", need, &plan.around.quota_left)
    })
}

pub(super) fn size(plan: &Planning<'_>) -> CheckResult {
    plan.unless_left(VM_SIZE, || match &plan.around.restrictions {
        Reading::Known(found) if found.is_empty() => {
            (Outcome::Pass, "the size can be had".to_owned())
        }
        Reading::Known(found) => (Outcome::Fail, found.join("; ")),
        other => (Outcome::Unknown, other.missing().unwrap_or_default()),
    })
}

pub(super) fn subnet(plan: &Planning<'_>) -> CheckResult {
    plan.unless_left(SUBNET, || {
        addresses(&subnets(plan.cluster, plan.pool), &plan.around.free_addresses)
    })
}

pub(super) fn time(plan: &Planning<'_>) -> CheckResult {
    let budget = plan.settings.limits.overall.as_secs();
    let enough = i64::from(plan.expected_seconds) <= budget;
    let detail = format!(
        "{} expected, {} allowed",
        counted(plan.expected_seconds / 60, "minute"),
        budget / 60
    );
    let outcome = if enough { Outcome::Pass } else { Outcome::Fail };
    CheckResult::new(TIME, outcome, detail)
}

fn needed(what: &str, need: Option<i64>, left: &Reading<i64>) -> (Outcome, String) {
    match (need, left) {
        (Some(need), Reading::Known(left)) => (
            if need <= *left { Outcome::Pass } else { Outcome::Fail },
            format!("{need} {what} needed, {left} left"),
        ),
        (None, _) => (Outcome::Unknown, format!("the need of {what} is not known")),
        (_, other) => (Outcome::Unknown, other.missing().unwrap_or_default()),
    }
}

/// The scarcest subnet decides: one that is too small is certain, one that could not be read is not.
fn addresses(needs: &[(String, i64)], free: &BTreeMap<String, Reading<i64>>) -> (Outcome, String) {
    let unread = Reading::Failed("was not read".to_owned());
    let checks = needs.iter().map(|(id, need)| {
        let name = id.rsplit('/').next().unwrap_or(id);
        let of = format!("addresses of {}", mooring_redact::identifier(name));
        needed(&of, Some(*need), free.get(id).unwrap_or(&unread))
    });
    let worst = checks.max_by_key(|(outcome, _)| match outcome {
        Outcome::Fail => 2,
        Outcome::Unknown => 1,
        Outcome::Pass => 0,
    });
    worst.unwrap_or_else(|| {
        let why = "not checked: the pool names no subnet, it is in the network that AKS made";
        (Outcome::Unknown, why.to_owned())
    })
}

/// Budgets that can never let their pods on this pool go.
pub(super) fn budgets(plan: &Planning<'_>) -> CheckResult {
    let (view, pool) = (plan.view, plan.pool.name.as_str());
    let result = |outcome, detail: String| CheckResult::new(PDB, outcome, detail);
    let readings = (
        view.nodes.as_ref().and_then(Reading::known),
        view.pods.as_ref().and_then(Reading::known),
        view.pdbs.as_ref().and_then(Reading::known),
    );
    let (Some(nodes), Some(pods), Some(budgets)) = readings else {
        let detail = "nodes, pods or budgets were not read".to_owned();
        return result(Outcome::Unknown, detail);
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
            EvictionBlocker::of(pod, budgets)
                .filter(|hold| !hold.can_clear())
                .map(|hold| hold.to_string())
        })
        .collect();
    if stuck.is_empty() {
        let detail = "no budget holds a pod for ever".to_owned();
        result(Outcome::Pass, detail)
    } else {
        result(Outcome::Fail, stuck.join("; "))
    }
}

pub(super) fn name(plan: &Planning<'_>) -> CheckResult {
    let temporary = plan.temporary();
    let pools = plan.view.pools.as_ref().and_then(Reading::known);
    let taken = || pools.is_some_and(|pools| pools.iter().any(|pool| pool.name == temporary));
    let (outcome, detail) = match plan.left {
        // Whether it may be taken over is in the journal.
        Some(left) => (Outcome::Unknown, left.remediation()),
        None if taken() => (Outcome::Fail, format!("{temporary} is somebody else's pool")),
        None => (Outcome::Pass, format!("{temporary} is free")),
    };
    CheckResult::new(POOL_NAME, outcome, detail)
}

/// The circuit breaker for those whose journal knows of nothing.
pub(super) fn recreations(plan: &Planning<'_>) -> CheckResult {
    let (outcome, detail) = match &plan.around.deletions {
        Reading::Known(count) => (
            if *count < MAX_RECREATIONS { Outcome::Pass } else { Outcome::Fail },
            format!(
                "the activity log has {} of the pool within a day, {MAX_RECREATIONS} are too many",
                counted(*count, "deletion")
            ),
        ),
        other => {
            (Outcome::Unknown, format!("the activity log {}", other.missing().unwrap_or_default()))
        }
    };
    CheckResult::new(RECREATIONS, outcome, detail)
}

pub(super) fn pool_limit(plan: &Planning<'_>) -> CheckResult {
    plan.unless_left(POOL_LIMIT, || {
        let pools = plan.view.pools.as_ref().and_then(Reading::known).map_or(0, Vec::len);
        let Some(most) = plan.cluster.max_pools else {
            let why = "the cluster does not say how many pools it may have";
            return (Outcome::Unknown, why.to_owned());
        };
        let fits = i64::try_from(pools).is_ok_and(|pools| pools < most);
        let outcome = if fits { Outcome::Pass } else { Outcome::Fail };
        (outcome, format!("{pools} of {most} pools exist"))
    })
}
