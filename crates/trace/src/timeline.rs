//! Timeline of one node.

use jiff::Timestamp;
use mooring_diagnosis::Diagnosis;
use serde::Serialize;

use crate::life::NodeLife;
use crate::production::{FigureComparison, Speed, System};

#[derive(Debug, Clone)]
pub struct Timeline {
    /// Host name if a log contains it, else the directory name.
    pub node: String,
    pub outcome: TimelineOutcome,
    pub exit_code: Option<i64>,
    /// First and last known instant; none if nothing has a time.
    pub extent: Option<Extent>,
    /// By start; parents before their children.
    pub spans: Vec<Span>,
    /// The step that was running when the bootstrap failed: the failing step writes no event.
    pub running: Option<RunningStep>,
    /// The critical path: indices into `spans`, by start.
    pub chain: Vec<usize>,
    pub gaps: Vec<Gap>,
    pub diagnosis: Option<Diagnosis>,
    /// The previous attempt, if its report exists.
    pub earlier: Option<BootstrapAttempt>,
    pub system: System,
    /// Facts of the cluster and of Azure, if their files exist.
    pub life: Option<NodeLife>,
    pub skipped: Vec<SkippedFile>,
}

impl Timeline {
    /// Indices into `spans` in display order: stages, boot, bootstrap, then concurrent spans, each in order of time.
    pub fn shown(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.spans.len()).collect();
        order.sort_by_key(|&index| match self.spans[index].kind {
            SpanKind::Stage => 0,
            SpanKind::Boot => 1,
            SpanKind::Agent | SpanKind::Run | SpanKind::Step => 2,
            SpanKind::Beside => 3,
        });
        order
    }

    pub(crate) fn longest_gap(&self) -> Option<&Gap> {
        self.gaps.iter().max_by(|a, b| a.seconds().total_cmp(&b.seconds()))
    }

    /// Name of a span below its parent: a part of a step without the name of the step.
    pub fn label(&self, index: usize) -> &str {
        let span = &self.spans[index];
        let name = span.short_name();
        let parent = span.parent.map(|parent| self.spans[parent].short_name());
        let rest = parent.and_then(|parent| name.strip_prefix(parent));
        rest.filter(|rest| rest.len() > 1 && rest.starts_with('.')).unwrap_or(name)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    pub begin: Timestamp,
    pub end: Timestamp,
}

impl Extent {
    pub fn seconds_to(&self, at: Timestamp) -> f64 {
        at.duration_since(self.begin).as_secs_f64()
    }

    pub fn seconds(&self) -> f64 {
        self.seconds_to(self.end)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimelineOutcome {
    Succeeded,
    Failed,
    /// No report, or a report without a result.
    Unknown,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    pub name: String,
    pub kind: SpanKind,
    pub start: Timestamp,
    /// End of the bootstrap if it never finished.
    pub end: Timestamp,
    pub status: SpanStatus,
    /// Several if they agree.
    pub sources: Vec<SpanSource>,
    pub parent: Option<usize>,
    pub depth: usize,
    /// A track per kind, on which spans do not overlap partially.
    pub lane: usize,
    /// Message if it is more than the name; redacted.
    pub message: String,
    pub comparison: Option<FigureComparison>,
}

impl Span {
    pub fn seconds(&self) -> f64 {
        self.end.duration_since(self.start).as_secs_f64()
    }

    /// Returns true if it took longer than the p95 of production or the limit.
    pub(crate) fn is_slow(&self) -> bool {
        self.comparison.is_some_and(|one| one.pace != Speed::Usual)
    }

    /// Name without the common prefix.
    pub fn short_name(&self) -> &str {
        let name = self.name.as_str();
        ["AKS.CSE.", "AKS.AKSNodeController.", "AKS."]
            .iter()
            .find_map(|family| name.strip_prefix(family))
            .unwrap_or(name)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpanKind {
    /// Part of a node's life in the cluster and in Azure.
    Stage,
    /// Kernel, cloud-init, network, guest agent, kubelet.
    Boot,
    Agent,
    Run,
    Step,
    /// Waits for or watches other spans.
    Beside,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpanStatus {
    /// Finished. (A step that returned an error looks the same: the scripts do not record it.)
    Done,
    Failed,
    Unfinished,
    Instant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SpanSource {
    Event,
    /// `cluster-provision.log`.
    Trace,
    /// `provision.json`.
    Report,
    AgentLog,
    CloudInit,
    Handler,
    /// The NodeClaim or the Node.
    Cluster,
    /// The VM with its extensions.
    Azure,
    /// The failure record.
    Record,
    /// Inferred from the order of the steps and the exit code.
    Concluded,
}

impl SpanSource {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Trace => "trace",
            Self::Report => "report",
            Self::AgentLog => "agent-log",
            Self::CloudInit => "cloud-init",
            Self::Handler => "handler",
            Self::Cluster => "cluster",
            Self::Azure => "azure",
            Self::Record => "record",
            Self::Concluded => "concluded",
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct BootstrapAttempt {
    pub exit_code: Option<i64>,
    /// Start time as the scripts recorded it.
    pub started: Option<String>,
    pub diagnosis: Option<Diagnosis>,
}

impl BootstrapAttempt {
    pub fn summary(&self) -> String {
        let code =
            self.exit_code.map_or("no exit code".to_owned(), |code| format!("exit code {code}"));
        let started = self.started.as_ref().map(|at| format!(", started {at}")).unwrap_or_default();
        let cause = self.diagnosis.as_ref();
        let cause = cause.map(|cause| format!(": {}: {}", cause.reason, cause.summary));
        format!("an earlier attempt ended with {code}{started}{}", cause.unwrap_or_default())
    }
}

/// The last running step.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunningStep {
    pub name: String,
    /// Its span, if its start is known.
    pub span: Option<usize>,
    pub evidence: String,
}

/// A period without log entries.
#[derive(Debug, Clone, PartialEq)]
pub struct Gap {
    pub start: Timestamp,
    pub end: Timestamp,
    pub after: String,
    pub before: String,
}

impl Gap {
    pub fn seconds(&self) -> f64 {
        self.end.duration_since(self.start).as_secs_f64()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkippedFile {
    pub path: String,
    pub why: String,
}
