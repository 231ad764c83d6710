//! The time that nodes take to join, and nodes that take much longer.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use mooring_workflow::plural::counted;

use crate::group::median;
use crate::node::Nodes;
use crate::node::{JoinState, Node};

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
