//! Images and causes with 95 % intervals.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use mooring_diagnosis::fleet::{MIN_SAMPLE, Rate};
use mooring_diagnosis::{Stage, cause_page};
use serde::Serialize;

use crate::count::{Count, Listed};
use crate::failure::{Code, Evidence, first_sentence};
use crate::merge::Inventory;
use crate::node::{JoinState, Node, PoolKind};
use crate::record::counts::OTHER;
use crate::unlisted::Unlisted;
use crate::verdict::registration::RegistrationCause;

/// Name of an image that is not known.
const UNKNOWN: &str = "unknown";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FleetVerdict {
    /// The image fails, and others do not.
    Image,
    NotTheImage,
    TooFewNodes,
}

/// A failure rate with its interval, in percent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Share {
    pub failed: u32,
    pub nodes: u32,
    pub low: f64,
    pub high: f64,
}

impl From<Rate> for Share {
    fn from(rate: Rate) -> Self {
        let percent = |value: f64| (value * 1000.0).round() / 10.0;
        let Rate { failed, nodes, low, high } = rate;
        Self { failed, nodes, low: percent(low), high: percent(high) }
    }
}

/// One image and one cause.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FleetRow {
    pub image: String,
    pub cause: String,
    pub verdict: FleetVerdict,
    /// Nodes with this image.
    pub here: Share,
    /// Nodes with other images.
    pub others: Share,
    pub pools: Vec<String>,
    /// AKSNodeClasses of the failed nodes.
    pub node_classes: Vec<String>,
    pub first_at: Option<Timestamp>,
    pub last_at: Option<Timestamp>,
}

/// Failures of a cluster by image and cause.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Fleet {
    pub since: Option<Timestamp>,
    pub ready: Count,
    pub not_ready: Count,
    pub joining: Count,
    pub failed: Count,
    /// Failed nodes that still exist.
    pub failed_existing: Count,
    /// Failures that only events report; not counted in rows.
    pub unconfirmed: Count,
    /// Failures that did not fit into the record; none if it was not read.
    pub dropped: Option<u64>,
    pub rows: Listed<FleetRow>,
}

impl Fleet {
    pub fn of(inventory: &Inventory, since: Option<Timestamp>) -> Self {
        let is_existing = |node: &&Node| node.is_failed() && node.exists;
        let is_unconfirmed =
            |node: &&Node| node.failure.as_ref().is_some_and(|failure| !failure.is_confirmed);
        let unlisted = inventory.unlisted_failures().filter(|one| !one.is_confirmed);
        let unlisted_unconfirmed = unlisted.map(|one| one.count as usize);
        let existing = inventory.nodes.iter().filter(is_existing).count();
        let unconfirmed = inventory.nodes.iter().filter(is_unconfirmed).count()
            + unlisted_unconfirmed.sum::<usize>();
        let failed = inventory.failed();
        let is_complete = failed.exact().is_some();
        Self {
            since,
            ready: inventory.count(JoinState::Ready),
            not_ready: inventory.count(JoinState::NotReady),
            joining: inventory.count(JoinState::Joining),
            failed,
            failed_existing: Count::of(existing, inventory.has_all_outcomes()),
            unconfirmed: Count::of(unconfirmed, is_complete),
            dropped: inventory.dropped,
            rows: Listed::of(rows(inventory), is_complete),
        }
    }

    /// Returns the rows in which the image is at fault.
    pub fn findings(&self) -> impl Iterator<Item = &FleetRow> {
        self.rows.iter().filter(|row| row.verdict == FleetVerdict::Image)
    }
}

fn rows(inventory: &Inventory) -> Vec<FleetRow> {
    // Nodes whose outcome is known.
    let known = |node: &&Node| {
        node.has_joined() || node.failure.as_ref().is_some_and(|failure| failure.is_confirmed)
    };
    let nodes = inventory.nodes.iter().filter(known);
    let mut totals: BTreeMap<&str, u32> = BTreeMap::new();
    let mut failed: BTreeMap<(&str, &str), Failures> = BTreeMap::new();
    for node in nodes {
        let image = node.image.as_deref().unwrap_or(UNKNOWN);
        *totals.entry(image).or_default() += 1;
        if let Some(failure) = &node.failure {
            failed.entry((image, &failure.cause)).or_default().add(node);
        }
    }
    for one in inventory.unlisted.iter().filter(|one| one.is_confirmed) {
        let image = one.image.as_deref().unwrap_or(UNKNOWN);
        *totals.entry(image).or_default() += one.count;
        if let Some(cause) = &one.cause {
            let failures = failed.entry((image, cause)).or_default();
            failures.count += one.count;
            failures.pools.extend(one.pool.as_deref());
        }
    }
    let all: u32 = totals.values().sum();
    let mut by_cause: BTreeMap<&str, u32> = BTreeMap::new();
    for (&(_, cause), failures) in &failed {
        *by_cause.entry(cause).or_default() += failures.count;
    }
    let mut rows: Vec<FleetRow> = failed
        .iter()
        .map(|(&(image, cause), failures)| {
            let Failures { count, pools, node_classes, nodes } = failures;
            let total = totals.get(image).copied().unwrap_or_default();
            let elsewhere = by_cause.get(cause).copied().unwrap_or_default();
            let here = Rate::new(*count, total);
            let others = Rate::new(elsewhere - count, all - total);
            FleetRow {
                image: image.to_owned(),
                cause: cause.to_owned(),
                verdict: verdict(image, cause, here, others),
                here: here.into(),
                others: others.into(),
                pools: owned(pools),
                node_classes: owned(node_classes),
                first_at: nodes.iter().filter_map(|node| node.failed_at()).min(),
                last_at: nodes.iter().filter_map(|node| node.failed_at()).max(),
            }
        })
        .collect();
    // Rows are in the order of image and cause.
    rows.sort_by_key(|row| Reverse(row.here.failed));
    rows
}

fn owned(names: &BTreeSet<&str>) -> Vec<String> {
    names.iter().copied().map(str::to_owned).collect()
}

/// Failures of one image and cause.
#[derive(Default)]
struct Failures<'a> {
    /// Listed and unlisted failures.
    count: u32,
    pools: BTreeSet<&'a str>,
    node_classes: BTreeSet<&'a str>,
    nodes: Vec<&'a Node>,
}

impl<'a> Failures<'a> {
    fn add(&mut self, node: &'a Node) {
        self.count += 1;
        self.pools.extend(node.pool.as_deref());
        self.node_classes.extend(node.node_class.as_deref());
        self.nodes.push(node);
    }
}

/// The image is at fault only if both sides have enough nodes and their intervals do not touch.
fn verdict(image: &str, cause: &str, here: Rate, others: Rate) -> FleetVerdict {
    if here.nodes < MIN_SAMPLE || others.nodes < MIN_SAMPLE {
        FleetVerdict::TooFewNodes
    } else if ![UNKNOWN, OTHER].contains(&image)
        && RegistrationCause::can_be_image(cause)
        && here.low > others.high
    {
        FleetVerdict::Image
    } else {
        FleetVerdict::NotTheImage
    }
}

/// Returns a percentage as text: `0.5` or `91`.
pub fn percent(value: f64) -> String {
    if value > 0.0 && value < 10.0 { format!("{value:.1}") } else { format!("{value:.0}") }
}

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
