//! Nodes that only the counts have: the record keeps the last failures of each pool, and joined nodes are deleted.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::node::{Filter, Node, Nodes};
use crate::record::counts::{self, CountsDocument};

/// Counted nodes of one pool, image and outcome that are not in the inventory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unlisted {
    pub pool: Option<Arc<str>>,
    pub image: Option<Arc<str>>,
    /// None for joined nodes.
    pub cause: Option<String>,
    /// False if only events report these failures.
    pub is_confirmed: bool,
    pub count: u32,
}

impl Unlisted {
    pub fn is_failed(&self) -> bool {
        self.cause.is_some()
    }
}

/// Outcomes of one pool and image.
#[derive(Default)]
struct Outcomes {
    joined: u32,
    failed: BTreeMap<String, u32>,
}

/// Returns the counted nodes that are not listed. A listed node that is counted is subtracted, so no node counts twice.
pub(crate) fn unlisted(nodes: &Nodes, counts: &CountsDocument, filter: &Filter) -> Vec<Unlisted> {
    let all_causes = Filter { cause: None, ..filter.clone() };
    let mut listed: BTreeMap<(&str, &str), Outcomes> = BTreeMap::new();
    for node in nodes
        .iter()
        .filter(|node| all_causes.matches(node) && is_counted(node, counts, filter.since))
    {
        let key =
            (node.pool.as_deref().unwrap_or_default(), node.image.as_deref().unwrap_or_default());
        let outcomes = listed.entry(key).or_default();
        match &node.failure {
            None => outcomes.joined += 1,
            Some(failure) => {
                let cause =
                    if failure.is_confirmed { &*failure.cause } else { counts::UNCONFIRMED };
                *outcomes.failed.entry(cause.to_owned()).or_default() += 1;
            }
        }
    }
    let selected =
        counts::Filter { since: filter.since, pool: filter.pool.as_deref(), ..Default::default() };
    let mut found = Vec::new();
    let totals = counts.totals(selected);
    for total in &totals {
        if !filter.has_image(Some(&total.image)) {
            continue;
        }
        let listed = listed.remove(&(&*total.pool, &*total.image)).unwrap_or_default();
        let some = |text: &str| (!text.is_empty()).then(|| Arc::from(text));
        let row = |cause: Option<&str>, count: u32| Unlisted {
            pool: some(&total.pool),
            image: some(&total.image),
            is_confirmed: cause != Some(counts::UNCONFIRMED),
            cause: cause.map(str::to_owned),
            count,
        };
        let joined = saturated(total.joined).saturating_sub(listed.joined);
        if joined > 0 && filter.has_cause(None) {
            found.push(row(None, joined));
        }
        // A later diagnosis may have another cause than the one that was counted.
        let all: u32 = total.failed.values().copied().map(saturated).sum();
        let mut left = all.saturating_sub(listed.failed.values().sum());
        let mut causes: Vec<(&str, u32)> = total
            .failed
            .iter()
            .map(|(cause, count)| {
                let known = listed.failed.get(cause).copied().unwrap_or_default();
                (cause.as_str(), saturated(*count).saturating_sub(known))
            })
            .collect();
        causes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        for (cause, count) in causes {
            let count = count.min(left);
            left -= count;
            if count > 0 && filter.has_cause(Some(cause)) {
                found.push(row(Some(cause), count));
            }
        }
    }
    found
}

/// Returns true if the counts of this time have the node.
fn is_counted(node: &Node, counts: &CountsDocument, since: Option<Timestamp>) -> bool {
    let at = match &node.failure {
        Some(_) => node.at(),
        None if node.has_joined() => node.joined_at,
        None => return false,
    };
    let is_recent = |at: Timestamp| since.is_none_or(|since| at >= since);
    at.is_some_and(|at| is_recent(at) && counts.is_counted(&node.uid, at))
}

fn saturated(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
