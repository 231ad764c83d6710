//! Checks of a plan: quota, VM size, subnet, PDBs, tolerations, names and limits.

use std::collections::BTreeMap;

use mooring_arm::calls::{DenyAssignment, Lock, Permission};
use mooring_workflow::plural::counted;
use mooring_workflow::{Outcome, Reading};

use super::finding::{Found, fail, pass, pass_if};
use crate::names::{
    DENY_ASSIGNMENTS, LOCKS, PERMISSIONS, QUOTA, RECREATIONS, SUBNET, VM_SIZE, temporary_pool,
};
use crate::observation::{
    ClusterView, EvictionBlocker, ManagedCluster, Node, Pod, Pool, denied, movable_on,
};
use crate::pool_body::{CRITICAL_TAINT, temporary_count};
use crate::settings::{MAX_RECREATIONS, Settings};
use crate::temporary_pool::TemporaryPool;

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
        Self {
            vcpus: unread(),
            quota_left: unread(),
            restrictions: unread(),
            free_addresses: BTreeMap::new(),
            deletions: unread(),
            rights: AccessRules::default(),
        }
    }

    /// Returns the checks whose reads are not permitted, with the reason.
    pub(crate) fn denied(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let Self { vcpus, quota_left, restrictions, free_addresses, deletions, rights } = self;
        let one = [
            (QUOTA, denied(Some(vcpus))),
            (QUOTA, denied(Some(quota_left))),
            (VM_SIZE, denied(Some(restrictions))),
            (RECREATIONS, denied(Some(deletions))),
        ];
        let subnets = free_addresses.values().map(|free| (SUBNET, denied(Some(free))));
        let permissions = rights.permissions.values().map(|one| (PERMISSIONS, denied(Some(one))));
        let locks = rights.locks.values().map(|one| (LOCKS, denied(Some(one))));
        let denials = rights.deny_assignments.values();
        let denials = denials.map(|one| (DENY_ASSIGNMENTS, denied(Some(one))));
        let all = one.into_iter().chain(subnets).chain(permissions).chain(locks).chain(denials);
        all.filter_map(|(check, why)| Some((check, why?)))
    }
}

fn unread<T>() -> Reading<T> {
    Reading::Failed("was not read".to_owned())
}

/// Returns the subnets of a temporary pool, with the number of IP addresses that it needs. Empty in the AKS-managed VNet,
/// which the pool does not reference.
pub fn subnets(cluster: &ManagedCluster, pool: &Pool) -> Vec<(String, i64)> {
    let subnet = |name: &str| pool.raw["properties"][name].as_str().map(str::to_owned);
    let Some(own) = subnet("vnetSubnetID") else { return Vec::new() };
    let nodes = nodes(pool);
    let max_pods = pool.raw["properties"]["maxPods"].as_i64().unwrap_or(30);
    match subnet("podSubnetID") {
        // A node allocates IP addresses of a pod subnet in batches.
        Some(of_pods) => {
            vec![(own, nodes), (of_pods, nodes.saturating_mul(max_pods.min(IP_BATCH_SIZE)))]
        }
        None if cluster.pods_in_subnet => {
            vec![(own, nodes.saturating_add(nodes.saturating_mul(max_pods)))]
        }
        None => vec![(own, nodes)],
    }
}

const IP_BATCH_SIZE: i64 = 16;

/// Returns the number of nodes of the temporary pool.
fn nodes(pool: &Pool) -> i64 {
    temporary_count(pool.count(), pool.min_count())
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

impl<'a> Planning<'a> {
    pub(super) fn temporary(&self) -> String {
        temporary_pool(&self.pool.name, self.pool.is_windows())
    }

    fn pools(&self) -> &'a [Pool] {
        self.view.pools.get().and_then(Reading::known).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns all nodes and pods, if they were read.
    fn nodes_and_pods(&self) -> Option<(&'a [Node], &'a [Pod])> {
        Some((self.view.nodes.get()?.known()?, self.view.pods.get()?.known()?))
    }

    /// Returns the pods that a drain of the pool must evict.
    fn movable(&self, nodes: &'a [Node], pods: &'a [Pod]) -> impl Iterator<Item = &'a Pod> {
        let own: Vec<&Node> = nodes.iter().filter(|node| node.is_of(&self.pool.name)).collect();
        movable_on(pods, &own).into_iter().map(|(pod, _)| pod)
    }
}

/// Returns a value that was read, or why it is unknown.
fn value<T>(reading: &Reading<T>) -> Result<&T, String> {
    reading.known().ok_or_else(|| reading.missing().unwrap_or_default())
}

pub(super) fn quota(plan: &Planning<'_>) -> Found {
    let need = plan.capacity.vcpus.known().map(|vcpus| vcpus.saturating_mul(nodes(plan.pool)));
    needed("vCPUs", need, &plan.capacity.quota_left)
}

pub(super) fn size(plan: &Planning<'_>) -> Found {
    let found = value(&plan.capacity.restrictions)?;
    if found.is_empty() { pass("VM size is available") } else { fail(found.join("; ")) }
}

/// Returns the worst outcome of all subnets.
pub(super) fn subnet(plan: &Planning<'_>) -> Found {
    let unread = unread();
    let checks = subnets(plan.cluster, plan.pool).into_iter().map(|(id, need)| {
        let name = mooring_redact::identifier(id.rsplit('/').next().unwrap_or(&id));
        let free = plan.capacity.free_addresses.get(&id).unwrap_or(&unread);
        needed(&format!("IP addresses in {name}"), Some(need), free)
    });
    let outcome = |found: &Found| found.as_ref().map_or(Outcome::Unknown, |found| found.outcome);
    let worst = checks.max_by_key(outcome);
    worst.unwrap_or_else(|| Err("not checked: the pool uses the AKS-managed VNet".to_owned()))
}

fn needed(what: &str, need: Option<i64>, left: &Reading<i64>) -> Found {
    let need = need.ok_or_else(|| format!("the number of {what} needed is unknown"))?;
    let left = value(left)?;
    pass_if(need <= *left, format!("{need} {what} needed, {left} available"))
}

/// Finds PDBs that permanently block eviction of the pool's pods.
pub(super) fn pdb(plan: &Planning<'_>) -> Found {
    let pdbs = plan.view.pdbs.get().and_then(Reading::known);
    let (Some((nodes, pods)), Some(pdbs)) = (plan.nodes_and_pods(), pdbs) else {
        return Err("nodes, pods or PDBs were not read".to_owned());
    };
    let blockers = plan.movable(nodes, pods).filter_map(|pod| EvictionBlocker::of(pod, pdbs));
    let stuck: Vec<String> =
        blockers.filter(|one| !one.can_clear()).map(|one| one.to_string()).collect();
    if stuck.is_empty() {
        pass("no PDB permanently blocks eviction")
    } else {
        fail(stuck.join("; "))
    }
}

/// Pods of a System pool can run while its temporary pool has a taint that the pool lacks. None for pools that have the
/// taint: their pods tolerate the temporary pool.
pub(super) fn tolerations(plan: &Planning<'_>) -> Option<Found> {
    let taints = plan.pool.raw["properties"]["nodeTaints"].as_array();
    let is_tainted = taints.is_some_and(|taints| taints.iter().any(|t| t == CRITICAL_TAINT));
    (plan.pool.is_system() && !is_tainted).then(|| {
        let unread = || "nodes or pods were not read".to_owned();
        let (nodes, pods) = plan.nodes_and_pods().ok_or_else(unread)?;
        let moved = plan.movable(nodes, pods).filter(|pod| !pod.tolerates_critical).count();
        if moved == 0 {
            return pass("every pod of the pool tolerates CriticalAddonsOnly");
        }
        let others = nodes.iter().filter(|node| !node.is_of(&plan.pool.name));
        let open = others.filter(|node| node.usable() && !node.tainted).count();
        let text = format!(
            "{} of the pool without a toleration for CriticalAddonsOnly, {} without taints in other pools",
            counted(moved, "pod"),
            counted(open, "Ready, schedulable node")
        );
        pass_if(open > 0, text)
    })
}

pub(super) fn name(plan: &Planning<'_>) -> Found {
    let temporary = plan.temporary();
    match plan.left {
        // The journal shows whether it can be adopted.
        Some(left) => Err(left.remediation()),
        None if plan.pools().iter().any(|pool| pool.name == temporary) => {
            fail(format!("pool {temporary} exists and was not created by Mooring"))
        }
        None => pass(format!("pool name {temporary} is available")),
    }
}

/// Limits recreations that the journal does not show.
pub(super) fn recreations(plan: &Planning<'_>) -> Found {
    let count = value(&plan.capacity.deletions).map_err(|why| format!("the activity log {why}"))?;
    let times = counted(*count, "time");
    let text = format!("pool deleted {times} in the last 24h (limit {MAX_RECREATIONS})");
    pass_if(*count < MAX_RECREATIONS, text)
}

pub(super) fn pool_limit(plan: &Planning<'_>) -> Found {
    let unknown = || "the cluster does not report its maximum number of pools".to_owned();
    let (pools, most) = (plan.pools().len(), plan.cluster.max_pools.ok_or_else(unknown)?);
    let fits = i64::try_from(pools).is_ok_and(|pools| pools < most);
    pass_if(fits, format!("{pools} of {most} pools exist"))
}

pub(super) fn time(plan: &Planning<'_>) -> Found {
    let (expected, deadline) = (plan.expected_seconds, plan.settings.limits.overall.as_secs());
    let text = format!("{}m expected, deadline {}m", expected / 60, deadline / 60);
    pass_if(i64::from(expected) <= deadline, text)
}
