//! Failures with the same cause, image and pool.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use mooring_diagnosis::{Stage, cause_page};
use serde::Serialize;

use crate::failure::{Code, Evidence, first_sentence};
use crate::merge::Inventory;
use crate::node::{Node, PoolKind};
use crate::unlisted::Unlisted;

/// Failures with the same cause, image and pool.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FailureGroup {
    pub cause: String,
    /// The cause in one sentence, without its full stop.
    pub summary: String,
    pub os: Option<&'static str>,
    pub image: Option<Arc<str>>,
    pub pool: Option<Arc<str>>,
    pub pool_kind: PoolKind,
    pub condition_reason: String,
    pub stage: &'static str,
    pub owner: Option<String>,
    pub confidence: Option<String>,
    pub message: String,
    pub reported: Option<Code>,
    pub effective: Option<Code>,
    /// The most frequent line.
    pub evidence: Vec<Evidence>,
    /// Nodes with this evidence.
    pub with_evidence: usize,
    pub failed: usize,
    /// Nodes that still exist.
    pub existing: usize,
    /// False if only events report these failures.
    pub is_confirmed: bool,
    pub first_at: Option<Timestamp>,
    pub last_at: Option<Timestamp>,
    /// Median time from launch to failure.
    pub seconds_to_failure: Option<i64>,
    /// Names of NodeClaims or Nodes, the last failure first.
    pub nodes: Vec<String>,
}

/// Groups failures, the largest group first.
pub fn groups(inventory: &Inventory) -> Vec<FailureGroup> {
    let mut found: BTreeMap<_, Vec<&Node>> = BTreeMap::new();
    for node in &inventory.nodes {
        let Some(failure) = &node.failure else { continue };
        let key = (
            !failure.is_confirmed,
            failure.cause.as_str(),
            node.image.as_deref(),
            node.pool.as_deref(),
            node.pool_kind,
        );
        found.entry(key).or_default().push(node);
    }
    let mut groups: Vec<FailureGroup> = found.into_values().filter_map(group).collect();
    for unlisted in inventory.unlisted_failures() {
        add_unlisted(&mut groups, unlisted);
    }
    groups.sort_by(|a, b| {
        let rank = |group: &FailureGroup| (group.is_confirmed, group.failed, group.last_at);
        rank(b).cmp(&rank(a)).then_with(|| a.cause.cmp(&b.cause))
    });
    groups
}

/// Adds failures without details to their group.
fn add_unlisted(groups: &mut Vec<FailureGroup>, unlisted: &Unlisted) {
    let Unlisted { pool, image, is_confirmed, .. } = unlisted;
    let cause = unlisted.cause.as_deref().unwrap_or_default();
    let is_same = |group: &&mut FailureGroup| {
        (&group.pool, &group.image) == (pool, image)
            && group.is_confirmed == *is_confirmed
            && (group.cause == cause || !is_confirmed)
    };
    let count = unlisted.count as usize;
    match groups.iter_mut().find(is_same) {
        Some(group) => group.failed += count,
        None => groups.push(without_details(unlisted, cause, count)),
    }
}

fn without_details(unlisted: &Unlisted, cause: &str, count: usize) -> FailureGroup {
    let page = cause_page(cause);
    let summary = page.as_ref().map_or("no details are recorded", |page| page.summary);
    FailureGroup {
        cause: cause.to_owned(),
        summary: first_sentence(summary).to_owned(),
        image: unlisted.image.clone(),
        pool: unlisted.pool.clone(),
        pool_kind: PoolKind::NodePool,
        stage: page.as_ref().map_or(Stage::Bootstrap, |page| page.stage).as_str(),
        owner: page.as_ref().map(|page| page.owner.as_str().to_owned()),
        failed: count,
        is_confirmed: unlisted.is_confirmed,
        ..FailureGroup::default()
    }
}

fn group(mut nodes: Vec<&Node>) -> Option<FailureGroup> {
    nodes.sort_by(|a, b| (b.at(), a.name()).cmp(&(a.at(), b.name())));
    let first = nodes.first()?;
    let failure = first.failure.as_ref()?;
    let (evidence, with_evidence) = most_frequent(&nodes);
    let times = || nodes.iter().filter_map(|node| node.failed_at());
    Some(FailureGroup {
        cause: failure.cause.clone(),
        summary: failure.summary.clone(),
        os: first.os(),
        image: first.image.clone(),
        pool: first.pool.clone(),
        pool_kind: first.pool_kind,
        condition_reason: failure.condition_reason.clone(),
        stage: failure.stage,
        owner: failure.owner.clone(),
        confidence: failure.confidence.clone(),
        message: failure.message.clone(),
        reported: failure.reported.clone(),
        effective: failure.effective.clone(),
        evidence,
        with_evidence,
        failed: nodes.len(),
        existing: nodes.iter().filter(|node| node.exists).count(),
        is_confirmed: failure.is_confirmed,
        first_at: times().min(),
        last_at: times().max(),
        seconds_to_failure: median(nodes.iter().filter_map(|node| node.seconds_to_failure())),
        nodes: nodes.iter().map(|node| node.name().to_owned()).collect(),
    })
}

/// Returns the most frequent evidence, and the number of nodes that have it.
fn most_frequent(nodes: &[&Node]) -> (Vec<Evidence>, usize) {
    let mut counts: BTreeMap<&[Evidence], usize> = BTreeMap::new();
    for failure in nodes.iter().filter_map(|node| node.failure.as_ref()) {
        if !failure.evidence.is_empty() {
            *counts.entry(&failure.evidence).or_default() += 1;
        }
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    most.map_or((Vec::new(), 0), |(evidence, count)| (evidence.to_vec(), count))
}

pub fn median(values: impl IntoIterator<Item = i64>) -> Option<i64> {
    let mut values: Vec<i64> = values.into_iter().collect();
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}
