//! Counts by pool.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use mooring_workflow::Reading;
use mooring_workflow::plural::counted;
use serde::Serialize;

use crate::count::{AksPool, Count, Reads};
use crate::fleet::{Fleet, median};
use crate::merge::Inventory;
use crate::node::{JoinState, Node, Nodes, PoolKind};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PoolState {
    Healthy,
    /// New nodes fail, and the image is at fault.
    ImageFails,
    /// The last nodes failed or a failed node exists, for other causes.
    Failing,
    /// Nodes exist that are not ready, or none is ready yet.
    NotReady,
    /// Its last operation in Azure failed, or nodes are missing.
    Degraded,
    /// Nodes are joining for far longer than usual.
    Late,
    /// No problem is known, and a source could not be read.
    Unknown,
    /// No problem is known, and a source was not asked.
    NotChecked,
}

impl PoolState {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::ImageFails => "image fails",
            Self::Failing => "nodes fail",
            Self::NotReady => "nodes not ready",
            Self::Degraded => "degraded",
            Self::Late => "late",
            Self::Unknown => "unknown",
            Self::NotChecked => "not checked",
        }
    }
}

/// Nodes of one pool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Pool {
    pub name: String,
    pub kind: PoolKind,
    pub ready: Count,
    /// Nodes in the cluster, ready or not.
    pub nodes: Count,
    /// Nodes that an AKS pool should have; none if Azure was not asked.
    pub wanted: Option<usize>,
    /// `provisioningState` of an AKS pool; none if Azure was not asked.
    pub provisioning_state: Option<String>,
    pub joining: Count,
    pub failed: Count,
    /// The image of the newest node.
    pub new_image: Option<String>,
    /// Median time from creation to joining.
    pub seconds_to_join: Option<i64>,
    pub last_failure_at: Option<Timestamp>,
    pub state: PoolState,
    /// The sentence about nodes that are late.
    #[serde(skip)]
    pub late: Option<String>,
}

impl Pool {
    /// Returns what is wrong, unless failures of its nodes are.
    pub(crate) fn finding(&self) -> Option<String> {
        let name = &self.name;
        match self.state {
            PoolState::NotReady if self.nodes.is_none() && self.wanted.is_none() => Some(format!(
                "Pool {name} has no ready node yet, and {} are joining.",
                self.joining
            )),
            PoolState::NotReady
                if self.wanted.is_none_or(|wanted| self.nodes.exact() >= Some(wanted)) =>
            {
                Some(format!("{} of {} nodes of pool {name} are ready.", self.ready, self.nodes))
            }
            PoolState::Degraded | PoolState::NotReady => {
                let wanted =
                    self.wanted.map_or_else(|| "?".to_owned(), |wanted| wanted.to_string());
                let state = self.provisioning_state.as_deref().unwrap_or("unknown");
                let has = match self.nodes {
                    Count::Unknown => "has nodes that were not read".to_owned(),
                    nodes => format!("has {nodes} of {wanted} nodes"),
                };
                Some(format!("AKS pool {name} {has}, and its state in Azure is {state}."))
            }
            PoolState::Late => self.late.clone(),
            _ => None,
        }
    }
}

/// The last outcomes that decide if a pool fails.
const LAST: usize = 3;

/// Counts nodes by pool, by name.
pub fn pools(inventory: &Inventory, fleet: &Fleet, times: &JoinTimes) -> Vec<Pool> {
    let mut by_pool: BTreeMap<(&str, PoolKind), Vec<&Node>> = BTreeMap::new();
    for node in &inventory.nodes {
        if let Some(pool) = &node.pool {
            by_pool.entry((pool, node.pool_kind)).or_default().push(node);
        }
    }
    for pool in &inventory.aks_pools {
        by_pool.entry((&pool.name, PoolKind::AksPool)).or_default();
    }
    let pool =
        |((name, kind), nodes)| PoolNodes::new(name, kind, nodes, inventory).pool(fleet, times);
    by_pool.into_iter().map(pool).collect()
}

/// What was read of one pool.
struct PoolNodes<'a> {
    name: &'a str,
    kind: PoolKind,
    nodes: Vec<&'a Node>,
    /// Failures that only the counts have.
    unlisted: usize,
    in_azure: Option<&'a AksPool>,
    reads: &'a Reads,
}

impl<'a> PoolNodes<'a> {
    fn new(name: &'a str, kind: PoolKind, nodes: Vec<&'a Node>, inventory: &'a Inventory) -> Self {
        let unlisted = inventory.unlisted_failures();
        let of_pool = unlisted.filter(|one| one.pool.as_deref() == Some(name));
        let is_node_pool = kind == PoolKind::NodePool;
        let unlisted = of_pool.filter(|_| is_node_pool).map(|one| one.count as usize).sum();
        let in_azure = inventory.aks_pools.iter().find(|pool| !is_node_pool && pool.name == name);
        Self { name, kind, nodes, unlisted, in_azure, reads: &inventory.reads }
    }

    fn found(&self, states: &[JoinState]) -> usize {
        self.nodes.iter().filter(|node| states.contains(&node.state)).count()
    }

    fn failures(&self) -> impl Iterator<Item = &&Node> {
        self.nodes.iter().filter(|node| node.is_failed())
    }

    fn in_cluster(&self) -> Count {
        let joined = [JoinState::Ready, JoinState::NotReady, JoinState::Joined];
        Count::of(self.found(&joined), self.reads.nodes.is_read())
    }

    fn existing(&self) -> usize {
        self.nodes.iter().filter(|node| node.exists).count()
    }

    /// Returns nodes that are joining. Those of an AKS pool are not in the cluster before they have joined, and so are
    /// those that failed to.
    fn joining(&self) -> Count {
        let is_complete = match self.kind {
            PoolKind::NodePool => self.reads.claims.is_known(),
            PoolKind::AksPool => {
                self.in_azure.is_some_and(|pool| pool.has_all(self.existing(), self.reads))
            }
        };
        Count::of(self.found(&[JoinState::Joining]), is_complete)
    }

    fn failed(&self) -> Count {
        let is_complete = match self.kind {
            PoolKind::NodePool => {
                let is_decided = !self.nodes.iter().any(|node| node.is_undecided());
                self.reads.claims.is_known() && self.reads.record.is_known() && is_decided
            }
            PoolKind::AksPool => {
                self.in_azure.is_some_and(|pool| pool.has_all(self.existing(), self.reads))
            }
        };
        let found = self.failures().count() + self.unlisted;
        Count::of(found, is_complete && self.reads.nodes.is_read())
    }

    fn pool(self, fleet: &Fleet, times: &JoinTimes) -> Pool {
        let newest = self.nodes.iter().filter(|node| node.image.is_some());
        let newest = newest.max_by_key(|node| node.began_at());
        let new_image = newest.and_then(|node| node.image.as_deref());
        let image_fails = fleet.findings().any(|row| {
            Some(&*row.image) == new_image && row.pools.iter().any(|pool| pool == self.name)
        });
        let late = times.finding(self.name, &self.nodes);
        let state = if image_fails { PoolState::ImageFails } else { self.state(late.is_some()) };
        Pool {
            name: self.name.to_owned(),
            kind: self.kind,
            ready: Count::of(self.found(&[JoinState::Ready]), self.reads.nodes.is_read()),
            nodes: self.in_cluster(),
            wanted: self.in_azure.and_then(|pool| pool.wanted),
            provisioning_state: self.in_azure.and_then(|pool| pool.state.clone()),
            joining: self.joining(),
            failed: self.failed(),
            seconds_to_join: median(self.nodes.iter().filter_map(|node| node.claim_seconds())),
            last_failure_at: self.failures().filter_map(|node| node.failed_at()).max(),
            new_image: new_image.map(str::to_owned),
            state,
            late,
        }
    }

    /// Returns the state of a pool whose image is not at fault: what is wrong, then what was not read.
    fn state(&self, is_late: bool) -> PoolState {
        let in_cluster = self.in_cluster();
        let ready = self.found(&[JoinState::Ready]);
        let exists = |node: &&Node| node.exists && node.state == JoinState::Failed;
        let has_failed_node = self.nodes.iter().any(exists);
        let none_is_ready = self.reads.nodes.is_read() && ready == 0;
        let is_failing = last_failed(&self.nodes)
            || has_failed_node
            || (none_is_ready && self.failed().is_some());
        let unread = self.unread();
        let lacks_nodes = self.in_azure.is_some_and(|pool| pool.lacks_nodes(in_cluster))
            || self.found(&[JoinState::NotReady]) > 0
            || (none_is_ready && self.found(&[JoinState::Joining]) > 0);
        if is_failing {
            PoolState::Failing
        } else if self.in_azure.is_some_and(|pool| pool.is_degraded(in_cluster)) {
            PoolState::Degraded
        } else if is_late {
            PoolState::Late
        } else if unread.iter().any(|reading| reading.has_failed()) {
            PoolState::Unknown
        } else if lacks_nodes {
            PoolState::NotReady
        } else if unread.is_empty() {
            PoolState::Healthy
        } else {
            PoolState::NotChecked
        }
    }

    /// Returns what could deny that the pool is healthy, and was not read.
    fn unread(&self) -> Vec<&Reading<()>> {
        let Reads { claims, nodes, record, aks_pools, runs: _ } = self.reads;
        let mut all: Vec<&Reading<()>> =
            Some(nodes).filter(|nodes| !nodes.is_read()).into_iter().collect();
        match self.kind {
            PoolKind::NodePool => {
                // Without a record, its nodes are all that is known; without NodeClaims, nothing is.
                all.extend(Some(claims).filter(|claims| !claims.is_known()));
                all.extend(Some(record).filter(|record| !record.is_read()));
                let undecided = self.nodes.iter().filter(|node| node.is_undecided());
                all.extend(undecided.map(|node| &node.azure));
            }
            PoolKind::AksPool => {
                let is_whole = self.in_azure.is_some_and(|pool| pool.is_whole(self.in_cluster()));
                all.extend(Some(aks_pools).filter(|_| !is_whole));
            }
        }
        all
    }
}

/// Returns true if the last nodes of a pool failed, at least one of them recently created.
fn last_failed(nodes: &[&Node]) -> bool {
    let mut ended: Vec<&&Node> =
        nodes.iter().filter(|node| node.state != JoinState::Joining).collect();
    ended.sort_by_key(|node| std::cmp::Reverse(node.began_at()));
    ended.len() >= LAST && ended.iter().take(LAST).all(|node| node.is_failed())
}

/// A node is late after this multiple of the time in which nearly all nodes of its pool join.
const FACTOR: i64 = 2;
/// Pools of small VMs join fast, and a slow start is no problem.
const MIN_LIMIT: i64 = 5 * 60;
/// Karpenter gives up soon after it. Also the limit of a pool in which no node has joined.
const MAX_LIMIT: i64 = 10 * 60;

/// Time from creation to joining, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usual {
    pub median: i64,
    pub p95: i64,
}

impl Usual {
    pub fn of(mut seconds: Vec<i64>) -> Option<Self> {
        seconds.sort_unstable();
        let p95 = *seconds.get(seconds.len() * 95 / 100)?;
        Some(Self { median: median(seconds)?, p95 })
    }
}

/// Usual times by pool, to compare with the age of joining nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JoinTimes {
    usual: BTreeMap<String, Usual>,
    now: Timestamp,
}

impl JoinTimes {
    pub fn of(nodes: &Nodes, now: Timestamp) -> Self {
        let mut seconds: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
        for node in nodes {
            if let (Some(pool), Some(taken)) = (&node.pool, node.claim_seconds()) {
                seconds.entry(pool).or_default().push(taken);
            }
        }
        let usual = seconds.into_iter();
        let usual = usual.filter_map(|(pool, all)| Some((pool.to_owned(), Usual::of(all)?)));
        Self { usual: usual.collect(), now }
    }

    pub fn usual(&self, pool: Option<&str>) -> Option<Usual> {
        self.usual.get(pool?).copied()
    }

    /// Returns true for a node that is joining for far longer than its pool usually takes.
    pub fn is_late(&self, node: &Node) -> bool {
        let usual = self.usual(node.pool.as_deref()).map(|usual| usual.p95.saturating_mul(FACTOR));
        let limit = usual.map_or(MAX_LIMIT, |limit| limit.clamp(MIN_LIMIT, MAX_LIMIT));
        let age = node.created_at.map(|created| self.now.duration_since(created));
        node.state == JoinState::Joining
            && age.is_some_and(|age| age > SignedDuration::from_secs(limit))
    }

    /// Returns `2 nodes of pool default are joining for far longer than usual: the oldest for 9m, usually 2m`.
    pub(crate) fn finding(&self, pool: &str, nodes: &[&Node]) -> Option<String> {
        let late: Vec<&&Node> = nodes.iter().filter(|node| self.is_late(node)).collect();
        let oldest = late.iter().filter_map(|node| node.created_at).min()?;
        let age = self.now.duration_since(oldest).as_mins();
        let usual = self.usual(Some(pool));
        let usual = usual.map_or_else(String::new, |usual| {
            format!(", usually {}m", usual.median.unsigned_abs().div_ceil(60))
        });
        let are = if late.len() == 1 { "is" } else { "are" };
        let count = counted(late.len(), "node");
        Some(format!(
            "{count} of pool {pool} {are} joining for far longer than usual: the oldest for {age}m{usual}."
        ))
    }
}
