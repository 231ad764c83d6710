//! Counts by pool.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use crate::aks_pool::AksPool;
use crate::fleet::Fleet;
use crate::group::median;
use crate::merge::Inventory;
use crate::node::{JoinState, Node, PoolKind};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PoolState {
    Healthy,
    /// New nodes fail, and the image is at fault.
    ImageFails,
    /// The last nodes failed or a failed node exists, for other causes.
    Failing,
    /// Nodes exist that are not ready.
    NotReady,
    /// Its last operation in Azure failed, or nodes are missing.
    Degraded,
    /// No problem is known, and a source was not read.
    Unknown,
}

impl PoolState {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::ImageFails => "image fails",
            Self::Failing => "nodes fail",
            Self::NotReady => "nodes not ready",
            Self::Degraded => "degraded",
            Self::Unknown => "unknown",
        }
    }
}

/// Nodes of one pool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Pool {
    pub name: String,
    pub kind: PoolKind,
    pub ready: usize,
    /// Nodes in the cluster, ready or not.
    pub nodes: usize,
    /// Nodes that an AKS pool should have; none if Azure was not asked.
    pub wanted: Option<usize>,
    /// `provisioningState` of an AKS pool; none if Azure was not asked.
    pub provisioning_state: Option<String>,
    pub joining: usize,
    pub failed: usize,
    /// The image of the newest node.
    pub new_image: Option<String>,
    /// Median time from creation to joining.
    pub seconds_to_join: Option<i64>,
    pub last_failure_at: Option<Timestamp>,
    pub state: PoolState,
}

/// The last outcomes that decide if a pool fails.
const LAST: usize = 3;

/// Counts nodes by pool, by name.
pub fn pools(inventory: &Inventory, fleet: &Fleet) -> Vec<Pool> {
    let mut by_pool: BTreeMap<(&str, PoolKind), Vec<&Node>> = BTreeMap::new();
    for node in &inventory.nodes {
        if let Some(pool) = &node.pool {
            by_pool.entry((pool, node.pool_kind)).or_default().push(node);
        }
    }
    for pool in &inventory.aks_pools {
        by_pool.entry((&pool.name, PoolKind::AksPool)).or_default();
    }
    let pool = |((name, kind), nodes): ((&str, PoolKind), Vec<&Node>)| {
        let unlisted = inventory.unlisted_failures();
        let of_pool = unlisted.filter(|one| one.pool.as_deref() == Some(name));
        let more: usize = of_pool.map(|one| one.count as usize).sum();
        let counted = if kind == PoolKind::NodePool { more } else { 0 };
        let in_azure = inventory.aks_pools.iter().find(|pool| pool.name == name);
        let in_azure = in_azure.filter(|_| kind == PoolKind::AksPool);
        let pool = pool(name, kind, &nodes, in_azure, fleet);
        Pool { failed: pool.failed + counted, ..pool }
    };
    by_pool.into_iter().map(pool).collect()
}

fn pool(
    name: &str,
    kind: PoolKind,
    nodes: &[&Node],
    in_azure: Option<&AksPool>,
    fleet: &Fleet,
) -> Pool {
    let count = |state: JoinState| nodes.iter().filter(|node| node.state == state).count();
    let newest = nodes.iter().filter(|node| node.image.is_some());
    let newest = newest.max_by_key(|node| node.began_at());
    let new_image = newest.and_then(|node| node.image.as_deref());
    let (ready, not_ready) = (count(JoinState::Ready), count(JoinState::NotReady));
    let failures = || nodes.iter().filter(|node| node.is_failed());
    let image_fails = fleet
        .findings()
        .any(|row| Some(&*row.image) == new_image && row.pools.iter().any(|pool| pool == name));
    let has_failed_node = nodes.iter().any(|node| node.exists && node.state == JoinState::Failed);
    let state = match image_fails {
        true => PoolState::ImageFails,
        false if last_failed(nodes) || has_failed_node => PoolState::Failing,
        false if in_azure.is_some_and(|pool| pool.is_degraded(ready + not_ready)) => {
            PoolState::Degraded
        }
        false if not_ready > 0 => PoolState::NotReady,
        false => PoolState::Healthy,
    };
    Pool {
        ready,
        nodes: ready + not_ready,
        wanted: in_azure.and_then(|pool| pool.wanted),
        provisioning_state: in_azure.map(|pool| pool.state.clone()),
        joining: count(JoinState::Joining),
        failed: failures().count(),
        seconds_to_join: median(nodes.iter().filter_map(|node| node.seconds_to_join())),
        last_failure_at: failures().filter_map(|node| node.failed_at()).max(),
        new_image: new_image.map(str::to_owned),
        state,
        name: name.to_owned(),
        kind,
    }
}

/// Returns true if the last nodes of a pool failed, at least one of them recently created.
fn last_failed(nodes: &[&Node]) -> bool {
    let mut ended: Vec<&&Node> =
        nodes.iter().filter(|node| node.state != JoinState::Joining).collect();
    ended.sort_by_key(|node| std::cmp::Reverse(node.began_at()));
    ended.len() >= LAST && ended.iter().take(LAST).all(|node| node.is_failed())
}
