//! Images and causes with 95 % intervals.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use mooring_diagnosis::fleet::{MIN_SAMPLE, Rate};
use serde::Serialize;

use crate::count::{Count, Listed};
use crate::merge::Inventory;
use crate::node::{JoinState, Node};
use crate::record::counts::OTHER;
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
