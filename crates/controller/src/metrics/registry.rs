//! The metrics, and their labels.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use mooring_nodes::verdict::ConditionReason;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Metric, Registry};

use crate::state::{DropCounts, QueueLengths};
use crate::verdict::patch::StatusPatchKind;

/// Pools, images and causes with a separate label value.
pub(super) const MAX_VALUES: usize = 64;
pub(super) const MAX_VALUE_LENGTH: usize = 64;

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub(super) struct FailureLabels {
    pub(super) code: String,
    pub(super) reason: String,
    pub(super) nodepool: String,
    pub(super) image: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub(super) struct ImageLabels {
    pub(super) image: String,
    pub(super) reason: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub(super) struct Label {
    pub(super) kind: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteLabel {
    Patch(StatusPatchKind),
    Event,
    Record,
    Counts,
    Lease,
}

impl WriteLabel {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Patch(StatusPatchKind::Verdict) => "condition",
            Self::Patch(StatusPatchKind::Reassert) => "condition_reassert",
            Self::Event => "event",
            Self::Record => "record",
            Self::Counts => "counts",
            Self::Lease => "lease",
        }
    }
}

/// Counters of the Azure client.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ArmSnapshot {
    pub requests: u64,
    pub throttled: u64,
    pub budget_left: f64,
}

/// A failed bootstrap for the counters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedNode {
    pub code: Option<i32>,
    pub cause: String,
    pub pool: String,
    pub image: String,
}

pub struct Metrics {
    registry: Registry,
    failures: Family<FailureLabels, Counter>,
    unregistered: Family<FailureLabels, Counter>,
    without_rule: Counter,
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
    /// Values with a separate label value, by kind.
    known: Mutex<HashMap<&'static str, HashSet<String>>>,
}

/// From an immediate failure to Karpenter's limit of 15 minutes.
fn verdict_buckets() -> Histogram {
    Histogram::new([30.0, 60.0, 90.0, 120.0, 180.0, 240.0, 300.0, 420.0, 600.0, 900.0, 1200.0])
}

fn register<M: Metric + Clone>(to: &mut Registry, name: &str, help: &str, metric: M) -> M {
    to.register(name, help, metric.clone());
    metric
}

fn add<M: Metric + Clone + Default>(to: &mut Registry, name: &str, help: &str) -> M {
    register(to, name, help, M::default())
}

impl Metrics {
    #[must_use]
    pub fn new() -> Self {
        let mut registry = Registry::with_prefix("mooring");
        let to = &mut registry;
        let version = vec![("version", env!("CARGO_PKG_VERSION"))];
        to.register("build", "Version of the controller", Info::new(version));
        let metrics = Self {
            failures: add(
                to,
                "cse_failures",
                "Failed bootstraps by reported exit code and diagnosed cause",
            ),
            unregistered: add(to, "nodes_not_registered", "Nodes that did not register, by cause"),
            without_rule: add(
                to,
                "failures_without_rule",
                "Failures of which only a line is known, because no rule fits",
            ),
            image_findings: add(
                to,
                "image_fails_bootstrap",
                "1 for an image that fails with this cause while other images do not",
            ),
            overflows: add(
                to,
                "label_overflows",
                "Label values counted as `other` because of the limit",
            ),
            verdict_seconds: register(
                to,
                "verdict_seconds",
                "Time from launch to diagnosis",
                Family::new_with_constructor(verdict_buckets),
            ),
            writes: add(to, "writes", "Writes to the API server"),
            write_failures: add(to, "write_failures", "Writes that failed permanently"),
            deferred: add(
                to,
                "writes_deferred",
                "Writes that found the write queue full and were retried later",
            ),
            dropped: add(to, "dropped", "Work dropped because a limit was reached"),
            queue: add(
                to,
                "queue_length",
                "NodeClaims tracked, scheduled for a read, and waiting for the rate limit",
            ),
            arm_requests: add(to, "arm_requests", "Requests to Azure"),
            arm_throttled: add(to, "arm_throttled", "Requests throttled by Azure"),
            arm_budget: add(to, "arm_budget_left", "Reads currently allowed by the rate limit"),
            nodes_without_provider_id: add(
                to,
                "nodes_without_provider_id",
                "Nodes of NodePools that Karpenter cannot register because they have no providerID",
            ),
            leader: add(to, "leader", "1 while this replica is the leader"),
            registry,
            known: Mutex::default(),
        };
        // Series that exist from the start, so that the first increase is visible.
        metrics.dropped(DropCounts::default());
        metrics
    }

    pub fn failed(&self, failed: &FailedNode) {
        self.failures.get_or_create(&self.labels(failed)).inc();
        self.count_without_rule(failed);
    }

    pub fn not_registered(&self, failed: &FailedNode) {
        self.unregistered.get_or_create(&self.labels(failed)).inc();
        self.count_without_rule(failed);
    }

    fn count_without_rule(&self, failed: &FailedNode) {
        if mooring_diagnosis::is_unruled(&failed.cause) {
            self.without_rule.inc();
        }
    }

    fn labels(&self, failed: &FailedNode) -> FailureLabels {
        FailureLabels {
            // Scripts exit with a byte; other numbers are not exit codes.
            code: match failed.code {
                Some(code @ -1..=255) => code.to_string(),
                Some(_) => "other".to_owned(),
                None => "none".to_owned(),
            },
            reason: self.bounded("reason", &failed.cause),
            nodepool: self.bounded("nodepool", &failed.pool),
            image: self.bounded("image", &failed.image),
        }
    }

    fn bounded(&self, kind: &'static str, value: &str) -> String {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-._/".contains(c);
        let value: String =
            value.chars().map(|c| if plain(c) { c } else { '_' }).take(MAX_VALUE_LENGTH).collect();
        if value.is_empty() {
            return "unknown".to_owned();
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.entry(kind).or_default();
        if known.contains(&value) || known.len() < MAX_VALUES {
            known.insert(value.clone());
            return value;
        }
        self.overflows.get_or_create(&Label { kind }).inc();
        "other".to_owned()
    }

    pub fn image_fails(&self, image: &str, cause: &str) {
        self.image_finding(image, cause).set(1);
    }

    pub fn image_recovered(&self, image: &str, cause: &str) {
        self.image_finding(image, cause).set(0);
    }

    fn image_finding(&self, image: &str, cause: &str) -> impl Deref<Target = Gauge> {
        let reason = self.bounded("reason", cause);
        let labels = ImageLabels { image: self.bounded("image", image), reason };
        self.image_findings.get_or_create(&labels)
    }

    pub fn verdict(&self, reason: ConditionReason, seconds: f64) {
        self.verdict_seconds.get_or_create(&Label { kind: reason.as_str() }).observe(seconds);
    }

    pub fn wrote(&self, write: WriteLabel) {
        self.writes.get_or_create(&Label { kind: write.as_str() }).inc();
    }

    /// Counts a write that failed permanently.
    pub fn write_failed(&self, write: WriteLabel) {
        self.write_failures.get_or_create(&Label { kind: write.as_str() }).inc();
    }

    /// Counts writes that found the write queue full.
    pub fn deferred(&self, writes: usize) {
        self.deferred.inc_by(writes as u64);
    }

    /// Sets the counters of dropped work, counted since the start.
    pub fn dropped(&self, dropped: DropCounts) {
        let DropCounts { deleted, events, writes } = dropped;
        for (kind, value) in [("nodeclaim", deleted), ("event", events), ("write", writes)] {
            self.dropped.get_or_create(&Label { kind }).inner().store(value, Ordering::Relaxed);
        }
    }

    pub fn lengths(&self, lengths: QueueLengths) {
        for (kind, value) in
            [("claims", lengths.claims), ("pending", lengths.pending), ("waiting", lengths.waiting)]
        {
            self.queue.get_or_create(&Label { kind }).set(i64::try_from(value).unwrap_or(i64::MAX));
        }
        let nodes = i64::try_from(lengths.nodes_without_provider_id).unwrap_or(i64::MAX);
        self.nodes_without_provider_id.set(nodes);
    }

    pub fn arm(&self, arm: ArmSnapshot) {
        // The client counts; these only export it.
        self.arm_requests.inner().store(arm.requests, Ordering::Relaxed);
        self.arm_throttled.inner().store(arm.throttled, Ordering::Relaxed);
        self.arm_budget.set(arm.budget_left);
    }

    pub fn leads(&self, leads: bool) {
        self.leader.set(i64::from(leads));
    }

    /// Returns the metrics in the text format of `OpenMetrics`.
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
