//! Checks of a plan: quota, VM size, subnet, PDBs, names and limits.

use std::collections::BTreeMap;

use mooring_arm::calls::{DenyAssignment, Lock, Permission};
use mooring_workflow::plural::counted;
use mooring_workflow::{CheckResult, Outcome, Reading};

use super::{
    DENY_ASSIGNMENTS, LOCKS, PDB, PERMISSIONS, POOL_LIMIT, POOL_NAME, QUOTA, RECREATIONS, SUBNET,
    TIME, VM_SIZE,
};
use crate::names::temporary_pool;
use crate::observation::{ClusterView, EvictionBlocker, ManagedCluster, Pool};
use crate::pool::pool_body::temporary_count;
use crate::pool::temporary_pool::TemporaryPool;
use crate::settings::{MAX_RECREATIONS, Settings};

/// Capacity of the subscription and network for a temporary pool.
#[derive(Debug, Clone, PartialEq)]
pub struct Capacity {
    /// vCPUs of one node.
    pub vcpus: Reading<i64>,
    /// Available vCPUs in the region or in the VM family, whichever is fewer.
    pub quota_left: Reading<i64>,
    /// Reasons why the VM size is not available in the pool's zones.
    pub restrictions: Reading<Vec<String>>,
    /// Free IP addresses of each of the pool's [`subnets`], by subnet id.
    pub free_addresses: BTreeMap<String, Reading<i64>>,
    /// Deletions of the pool within a day, by any client.
    pub deletions: Reading<usize>,
    pub rights: AccessRules,
}

/// Permissions, locks and deny assignments, by the scope at which they were read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AccessRules {
    /// Object id of the caller, if its token has it.
    pub caller: Option<String>,
    pub permissions: BTreeMap<String, Reading<Vec<Permission>>>,
    pub locks: BTreeMap<String, Reading<Vec<Lock>>>,
    pub deny_assignments: BTreeMap<String, Reading<Vec<DenyAssignment>>>,
}

impl Capacity {
    #[must_use]
    pub fn unread() -> Self {
        let why = "was not read";
        Self {
            vcpus: Reading::of(None, why),
            quota_left: Reading::of(None, why),
            restrictions: Reading::of(None, why),
            free_addresses: BTreeMap::new(),
            deletions: Reading::of(None, why),
            rights: AccessRules::default(),
        }
    }
}

impl Capacity {
    /// Returns the checks whose reads are not permitted, with the reason.
    pub(crate) fn denied(&self) -> impl Iterator<Item = (&'static str, &str)> {
        fn why<'a, T>(
            check: &'static str,
            reading: &'a Reading<T>,
        ) -> Option<(&'static str, &'a str)> {
            match reading {
                Reading::Denied(why) => Some((check, why)),
                _ => None,
            }
        }
        let Self { vcpus, quota_left, restrictions, free_addresses, deletions, rights } = self;
        let one = [
            why(QUOTA, vcpus),
            why(QUOTA, quota_left),
            why(VM_SIZE, restrictions),
            why(RECREATIONS, deletions),
        ];
        let subnets = free_addresses.values().map(|free| why(SUBNET, free));
        let permissions = rights.permissions.values().map(|one| why(PERMISSIONS, one));
        let locks = rights.locks.values().map(|one| why(LOCKS, one));
        let denials = rights.deny_assignments.values().map(|one| why(DENY_ASSIGNMENTS, one));
        one.into_iter().chain(subnets).chain(permissions).chain(locks).chain(denials).flatten()
    }
}

/// Returns the subnets of a temporary pool, with the number of IP addresses that it needs. Empty in the AKS-managed VNet,
/// which the pool does not reference.
pub fn subnets(cluster: &ManagedCluster, pool: &Pool) -> Vec<(String, i64)> {
    let subnet = |name: &str| pool.raw["properties"][name].as_str().map(str::to_owned);
    let Some(own) = subnet("vnetSubnetID") else { return Vec::new() };
    let nodes = nodes(pool);
    let max_pods = pool.raw["properties"]["maxPods"].as_i64().unwrap_or(30);
    let pods = nodes.saturating_mul(max_pods);
    match subnet("podSubnetID") {
        // A node allocates IP addresses of a pod subnet in batches.
        Some(of_pods) => {
            vec![(own, nodes), (of_pods, nodes.saturating_mul(max_pods.min(IP_BATCH_SIZE)))]
        }
        None if cluster.pods_in_subnet => vec![(own, nodes.saturating_add(pods))],
        None => vec![(own, nodes)],
    }
}

const IP_BATCH_SIZE: i64 = 16;

/// Returns the number of nodes of the temporary pool.
fn nodes(pool: &Pool) -> i64 {
    let properties = &pool.raw["properties"];
    temporary_count(properties["count"].as_i64(), properties["minCount"].as_i64())
}

/// Inputs of a plan.
pub(crate) struct Planning<'a> {
    pub(crate) view: &'a ClusterView,
    pub(crate) settings: &'a Settings,
    pub(crate) cluster: &'a ManagedCluster,
    pub(crate) pool: &'a Pool,
    /// Temporary pool of an earlier run.
    pub(crate) left: Option<&'a TemporaryPool>,
    pub(crate) expected_seconds: u32,
    pub(crate) capacity: &'a Capacity,
}

impl Planning<'_> {
    fn temporary(&self) -> String {
        temporary_pool(&self.pool.name, self.pool.is_windows())
    }

    /// Passes if the temporary pool exists already.
    fn unless_left(
        &self,
        id: &'static str,
        check: impl FnOnce() -> (Outcome, String),
    ) -> CheckResult {
        let (outcome, detail) = match self.left {
            Some(_) => (Outcome::Pass, format!("pool {} exists already", self.temporary())),
            None => check(),
        };
        CheckResult::new(id, outcome, detail)
    }
}

pub(super) fn quota(plan: &Planning<'_>) -> CheckResult {
    plan.unless_left(QUOTA, || {
        let vcpus = plan.capacity.vcpus.known();
        let need = vcpus.map(|vcpus| vcpus.saturating_mul(nodes(plan.pool)));
        needed("vCPUs", need, &plan.capacity.quota_left)
    })
}

pub(super) fn size(plan: &Planning<'_>) -> CheckResult {
    plan.unless_left(VM_SIZE, || match &plan.capacity.restrictions {
        Reading::Known(found) if found.is_empty() => {
            (Outcome::Pass, "VM size is available".to_owned())
        }
        Reading::Known(found) => (Outcome::Fail, found.join("; ")),
        other => (Outcome::Unknown, other.missing().unwrap_or_default()),
    })
}

pub(super) fn subnet(plan: &Planning<'_>) -> CheckResult {
    plan.unless_left(SUBNET, || {
        addresses(&subnets(plan.cluster, plan.pool), &plan.capacity.free_addresses)
    })
}

pub(super) fn time(plan: &Planning<'_>) -> CheckResult {
    let deadline = plan.settings.limits.overall.as_secs();
    let enough = i64::from(plan.expected_seconds) <= deadline;
    let detail = format!("{}m expected, deadline {}m", plan.expected_seconds / 60, deadline / 60);
    let outcome = if enough { Outcome::Pass } else { Outcome::Fail };
    CheckResult::new(TIME, outcome, detail)
}

fn needed(what: &str, need: Option<i64>, left: &Reading<i64>) -> (Outcome, String) {
    match (need, left) {
        (Some(need), Reading::Known(left)) => (
            if need <= *left { Outcome::Pass } else { Outcome::Fail },
            format!("{need} {what} needed, {left} available"),
        ),
        (None, _) => (Outcome::Unknown, format!("the number of {what} needed is unknown")),
        (_, other) => (Outcome::Unknown, other.missing().unwrap_or_default()),
    }
}

/// Returns the worst outcome of all subnets.
fn addresses(needs: &[(String, i64)], free: &BTreeMap<String, Reading<i64>>) -> (Outcome, String) {
    let unread = Reading::Failed("was not read".to_owned());
    let checks = needs.iter().map(|(id, need)| {
        let name = id.rsplit('/').next().unwrap_or(id);
        let of = format!("IP addresses in {}", mooring_redact::identifier(name));
        needed(&of, Some(*need), free.get(id).unwrap_or(&unread))
    });
    checks.max_by_key(|(outcome, _)| *outcome).unwrap_or_else(|| {
        let why = "not checked: the pool uses the AKS-managed VNet";
        (Outcome::Unknown, why.to_owned())
    })
}

/// Finds PDBs that permanently block eviction of the pool's pods.
pub(super) fn pdb(plan: &Planning<'_>) -> CheckResult {
    let (view, pool) = (plan.view, plan.pool.name.as_str());
    let result = |outcome, detail: String| CheckResult::new(PDB, outcome, detail);
    let readings = (
        view.nodes.get().and_then(Reading::known),
        view.pods.get().and_then(Reading::known),
        view.pdbs.get().and_then(Reading::known),
    );
    let (Some(nodes), Some(pods), Some(pdbs)) = readings else {
        let detail = "nodes, pods or PDBs were not read".to_owned();
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
            EvictionBlocker::of(pod, pdbs)
                .filter(|blocker| !blocker.can_clear())
                .map(|blocker| blocker.to_string())
        })
        .collect();
    if stuck.is_empty() {
        let detail = "no PDB permanently blocks eviction".to_owned();
        result(Outcome::Pass, detail)
    } else {
        result(Outcome::Fail, stuck.join("; "))
    }
}

pub(super) fn name(plan: &Planning<'_>) -> CheckResult {
    let temporary = plan.temporary();
    let pools = plan.view.pools.get().and_then(Reading::known);
    let taken = || pools.is_some_and(|pools| pools.iter().any(|pool| pool.name == temporary));
    let (outcome, detail) = match plan.left {
        // The journal shows whether it can be adopted.
        Some(left) => (Outcome::Unknown, left.remediation()),
        None if taken() => {
            (Outcome::Fail, format!("pool {temporary} exists and was not created by Mooring"))
        }
        None => (Outcome::Pass, format!("pool name {temporary} is available")),
    };
    CheckResult::new(POOL_NAME, outcome, detail)
}

/// Limits recreations that the journal does not show.
pub(super) fn recreations(plan: &Planning<'_>) -> CheckResult {
    let (outcome, detail) = match &plan.capacity.deletions {
        Reading::Known(count) => (
            if *count < MAX_RECREATIONS { Outcome::Pass } else { Outcome::Fail },
            format!(
                "pool deleted {} in the last 24h (limit {MAX_RECREATIONS})",
                counted(*count, "time")
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
        let pools = plan.view.pools.get().and_then(Reading::known).map_or(0, Vec::len);
        let Some(max_pools) = plan.cluster.max_pools else {
            let why = "the cluster does not report its maximum number of pools";
            return (Outcome::Unknown, why.to_owned());
        };
        let fits = i64::try_from(pools).is_ok_and(|pools| pools < max_pools);
        let outcome = if fits { Outcome::Pass } else { Outcome::Fail };
        (outcome, format!("{pools} of {max_pools} pools exist"))
    })
}
