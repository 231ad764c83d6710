//! What is measured. Names start with `mooring_`: Karpenter's prefix is Karpenter's.
//!
//! Labels that come from outside (pools, images) have a limit each. What is above it is counted under
//! `other`, and that it was is counted too; no name of a VM or a claim is ever a label.

pub mod log;

use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use crate::state::{Dropped, Lengths};
use crate::verdict::condition::Reason;
use crate::verdict::patch::Kind;

/// Pools, images and causes that have a label of their own.
const MOST_VALUES: usize = 64;
/// Longer values say nothing to a person.
const LONGEST_VALUE: usize = 64;

/// Labels of a failed bootstrap.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct FailureLabels {
    code: String,
    reason: String,
    nodepool: String,
    image: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ImageLabels {
    image: String,
    reason: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Label {
    kind: &'static str,
}

/// What the client of Azure says about itself.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ArmSnapshot {
    /// Requests sent, since the start.
    pub requests: u64,
    /// Answers 429, since the start.
    pub throttled: u64,
    /// Reads that may be sent at once.
    pub budget_left: f64,
}

/// A failed bootstrap, as it is counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    pub code: Option<i32>,
    pub cause: String,
    pub pool: String,
    pub image: String,
}

/// Everything that is measured.
pub struct Metrics {
    registry: Registry,
    failures: Family<FailureLabels, Counter>,
    unregistered: Family<FailureLabels, Counter>,
    image_findings: Family<ImageLabels, Gauge>,
    overflows: Family<Label, Counter>,
    verdict_seconds: Family<Label, Histogram, fn() -> Histogram>,
    writes: Family<Label, Counter>,
    write_failures: Family<Label, Counter>,
    deferred: Counter,
    dropped: Family<Label, Counter>,
    queue: Family<Label, Gauge>,
    arm_requests: Counter,
    arm_throttled: Counter,
    arm_budget: Gauge<f64, AtomicU64>,
    leader: Gauge,
    nodes_without_provider_id: Gauge,
    known: Mutex<Known>,
}

/// Values that have a label of their own.
#[derive(Default)]
struct Known {
    pools: HashSet<String>,
    images: HashSet<String>,
    causes: HashSet<String>,
}

/// Writes that are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    Patch(Kind),
    Event,
    Record,
    Lease,
}

impl Write {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Patch(Kind::Verdict) => "condition",
            Self::Patch(Kind::Reassert) => "condition_reassert",
            Self::Event => "event",
            Self::Record => "record",
            Self::Lease => "lease",
        }
    }
}

/// From a node that fails at once to Karpenter's limit of 15 minutes.
fn verdict_buckets() -> Histogram {
    Histogram::new([30.0, 60.0, 90.0, 120.0, 180.0, 240.0, 300.0, 420.0, 600.0, 900.0, 1200.0])
}

impl Metrics {
    #[must_use]
    pub fn new() -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("mooring"),
            failures: Family::default(),
            unregistered: Family::default(),
            image_findings: Family::default(),
            overflows: Family::default(),
            verdict_seconds: Family::new_with_constructor(verdict_buckets),
            writes: Family::default(),
            write_failures: Family::default(),
            deferred: Counter::default(),
            dropped: Family::default(),
            queue: Family::default(),
            arm_requests: Counter::default(),
            arm_throttled: Counter::default(),
            arm_budget: Gauge::default(),
            leader: Gauge::default(),
            nodes_without_provider_id: Gauge::default(),
            known: Mutex::default(),
        };
        metrics.register();
        // Series that exist from the start, so that the first increase shows.
        metrics.dropped(Dropped::default());
        metrics
    }

    fn register(&mut self) {
        let Self { registry: to, .. } = self;
        to.register(
            "cse_failures",
            "Bootstraps that failed, by reported code and diagnosed cause",
            self.failures.clone(),
        );
        to.register(
            "nodes_not_registered",
            "Nodes that did not register, by cause",
            self.unregistered.clone(),
        );
        to.register(
            "image_fails_bootstrap",
            "1 for an image that fails with a cause while others do not",
            self.image_findings.clone(),
        );
        to.register(
            "label_overflows",
            "Values counted as `other` because there were too many",
            self.overflows.clone(),
        );
        to.register("verdict_seconds", "Time from launch to verdict", self.verdict_seconds.clone());
        to.register("writes", "Writes to the API server", self.writes.clone());
        to.register("write_failures", "Writes that failed for good", self.write_failures.clone());
        to.register(
            "writes_deferred",
            "Writes that found the write queue full and were retried later",
            self.deferred.clone(),
        );
        to.register("dropped", "Work dropped because a limit was reached", self.dropped.clone());
        to.register(
            "queue_length",
            "Claims kept, with a look ahead, and waiting for the budget",
            self.queue.clone(),
        );
        to.register("arm_requests", "Requests to Azure", self.arm_requests.clone());
        to.register("arm_throttled", "Requests that Azure throttled", self.arm_throttled.clone());
        to.register("arm_budget_left", "Reads that may be sent at once", self.arm_budget.clone());
        to.register(
            "nodes_without_provider_id",
            "Nodes of NodePools that Karpenter cannot register, as they have no providerID",
            self.nodes_without_provider_id.clone(),
        );
        to.register("leader", "1 while this replica leads", self.leader.clone());
    }

    pub fn failed(&self, failed: &Failed) {
        self.failures.get_or_create(&self.labels(failed)).inc();
    }

    /// A node did not register.
    pub fn not_registered(&self, failed: &Failed) {
        self.unregistered.get_or_create(&self.labels(failed)).inc();
    }

    fn labels(&self, failed: &Failed) -> FailureLabels {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let Known { pools, images, causes } = &mut *known;
        FailureLabels {
            // An exit code is a byte; what is not is no code that a script can end with.
            code: match failed.code {
                Some(code @ -1..=255) => code.to_string(),
                Some(_) => "other".to_owned(),
                None => "none".to_owned(),
            },
            reason: self.bounded("reason", &failed.cause, causes),
            nodepool: self.bounded("nodepool", &failed.pool, pools),
            image: self.bounded("image", &failed.image, images),
        }
    }

    fn bounded(&self, kind: &'static str, value: &str, known: &mut HashSet<String>) -> String {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-._/".contains(c);
        let value: String =
            value.chars().map(|c| if plain(c) { c } else { '_' }).take(LONGEST_VALUE).collect();
        if value.is_empty() {
            return "unknown".to_owned();
        }
        if known.contains(&value) || known.len() < MOST_VALUES {
            known.insert(value.clone());
            return value;
        }
        self.overflows.get_or_create(&Label { kind }).inc();
        "other".to_owned()
    }

    /// An image fails with a cause while others do not.
    pub fn image_fails(&self, image: &str, cause: &str) {
        let failed = Failed {
            code: None,
            cause: cause.to_owned(),
            pool: String::new(),
            image: image.to_owned(),
        };
        let FailureLabels { reason, image, .. } = self.labels(&failed);
        self.image_findings.get_or_create(&ImageLabels { image, reason }).set(1);
    }

    /// A verdict was found this long after the launch.
    pub fn verdict(&self, reason: Reason, seconds: f64) {
        self.verdict_seconds.get_or_create(&Label { kind: reason.as_str() }).observe(seconds);
    }

    pub fn wrote(&self, write: Write) {
        self.writes.get_or_create(&Label { kind: write.as_str() }).inc();
    }

    /// A write failed for good.
    pub fn write_failed(&self, write: Write) {
        self.write_failures.get_or_create(&Label { kind: write.as_str() }).inc();
    }

    /// Writes found the write queue full.
    pub fn deferred(&self, writes: usize) {
        self.deferred.inc_by(writes as u64);
    }

    /// Work was dropped, counted since the start.
    pub fn dropped(&self, dropped: Dropped) {
        let Dropped { deleted, events, writes } = dropped;
        for (kind, value) in [("nodeclaim", deleted), ("event", events), ("write", writes)] {
            self.dropped.get_or_create(&Label { kind }).inner().store(value, Ordering::Relaxed);
        }
    }

    pub fn lengths(&self, lengths: Lengths) {
        for (kind, value) in
            [("claims", lengths.claims), ("pending", lengths.pending), ("waiting", lengths.waiting)]
        {
            self.queue.get_or_create(&Label { kind }).set(i64::try_from(value).unwrap_or(i64::MAX));
        }
        let nodes = i64::try_from(lengths.nodes_without_provider_id).unwrap_or(i64::MAX);
        self.nodes_without_provider_id.set(nodes);
    }

    /// What the client of Azure says about itself.
    pub fn arm(&self, arm: ArmSnapshot) {
        // The client counts; these only show it.
        self.arm_requests.inner().store(arm.requests, Ordering::Relaxed);
        self.arm_throttled.inner().store(arm.throttled, Ordering::Relaxed);
        self.arm_budget.set(arm.budget_left);
    }

    pub fn leads(&self, leads: bool) {
        self.leader.set(i64::from(leads));
    }

    /// The text that Prometheus reads.
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _: fmt::Result = encode(&mut text, &self.registry);
        text
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

/// Shared by the loop and the server that shows them.
pub type Shared = Arc<Metrics>;

#[cfg(test)]
mod tests;
