//! What happened on one node, and when.

use jiff::Timestamp;
use mooring_diagnosis::Diagnosis;

use crate::field::Comparison;

#[derive(Debug, Clone)]
pub struct Timeline {
    /// What the node is called: its host name if a log tells it, else the folder that it was found in.
    pub node: String,
    pub outcome: Outcome,
    /// The exit code that the node reports.
    pub exit_code: Option<i64>,
    /// The first and the last instant that is known; none if nothing has a time.
    pub extent: Option<Extent>,
    /// By start; parents before their children.
    pub spans: Vec<Span>,
    /// What was running when the bootstrap ended badly: the failing step writes no event.
    pub running: Option<Running>,
    /// The longest chain: what would have to be shorter for the whole to be shorter. Indices into `spans`, by start.
    pub chain: Vec<usize>,
    /// Stretches of which nothing tells.
    pub gaps: Vec<Gap>,
    pub diagnosis: Option<Diagnosis>,
    /// The attempt before this one, whose report was kept.
    pub earlier: Option<Attempt>,
    /// The system whose figures the steps are compared with.
    pub system: crate::field::System,
    /// Files that could not be used, and why.
    pub skipped: Vec<Skipped>,
}

impl Timeline {
    /// The spans as people read them: the system's way up, then the bootstrap, then what ran beside it, each in the
    /// order of time. Indices into `spans`.
    pub fn shown(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.spans.len()).collect();
        order.sort_by_key(|&index| match self.spans[index].kind {
            Kind::Boot => 0,
            Kind::Agent | Kind::Run | Kind::Step => 1,
            Kind::Beside => 2,
        });
        order
    }

    /// What a span is called below its parent: a part of a step is named after it, and the rest is enough.
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
    /// Seconds from the beginning to an instant.
    pub fn seconds_to(&self, at: Timestamp) -> f64 {
        at.duration_since(self.begin).as_secs_f64()
    }

    pub fn seconds(&self) -> f64 {
        self.seconds_to(self.end)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The node says that it is well.
    Succeeded,
    /// The node says that it failed.
    Failed,
    /// There is no report, or none that says.
    Unknown,
}

impl Outcome {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        }
    }
}

/// Something that took time, or an instant.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    pub name: String,
    pub kind: Kind,
    pub start: Timestamp,
    /// When it ended; the end of the bootstrap if it never did.
    pub end: Timestamp,
    pub status: Status,
    /// Where it was read; several if they agree.
    pub sources: Vec<Source>,
    /// The span around it.
    pub parent: Option<usize>,
    pub depth: usize,
    /// A track of its own kind on which spans only follow or hold each other.
    pub lane: usize,
    /// What it says of itself, if that is more than its name; without secrets.
    pub message: String,
    /// How it compares with the field's figures.
    pub comparison: Option<Comparison>,
}

impl Span {
    pub fn seconds(&self) -> f64 {
        self.end.duration_since(self.start).as_secs_f64()
    }

    /// The name without the family's prefix that all have.
    pub fn short_name(&self) -> &str {
        let name = self.name.as_str();
        ["AKS.CSE.", "AKS.AKSNodeController.", "AKS."]
            .iter()
            .find_map(|family| name.strip_prefix(family))
            .unwrap_or(name)
    }
}

/// What sort of thing a span is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The system's own way up: kernel, cloud-init, network, guest agent, kubelet.
    Boot,
    Agent,
    /// The scripts as a whole.
    Run,
    /// A step of the scripts.
    Step,
    /// Somebody who only waits, or watches from beside.
    Beside,
}

impl Kind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Boot => "boot",
            Self::Agent => "agent",
            Self::Run => "run",
            Self::Step => "step",
            Self::Beside => "beside",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It came to its end. (A step that returns an error looks the same: the scripts do not tell.)
    Done,
    /// It says that it failed.
    Failed,
    /// It was begun and has no end.
    Unfinished,
    /// It has no length.
    Instant,
}

impl Status {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Unfinished => "unfinished",
            Self::Instant => "instant",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// An event file for the guest agent.
    Event,
    /// The scripts' trace, `cluster-provision.log`.
    Trace,
    /// The report, `provision.json`.
    Report,
    /// The agent's own log.
    AgentLog,
    CloudInit,
    /// The extension handler's log.
    Handler,
    /// Nowhere: concluded from the order of the steps and the exit code.
    Concluded,
}

impl Source {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Trace => "trace",
            Self::Report => "report",
            Self::AgentLog => "agent-log",
            Self::CloudInit => "cloud-init",
            Self::Handler => "handler",
            Self::Concluded => "concluded",
        }
    }
}

/// An earlier attempt to bootstrap the node.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    pub exit_code: Option<i64>,
    /// When its scripts started, in their own words.
    pub started: Option<String>,
    pub diagnosis: Option<Diagnosis>,
}

impl Attempt {
    /// The attempt in a sentence.
    pub fn summary(&self) -> String {
        let code =
            self.exit_code.map_or("no exit code".to_owned(), |code| format!("exit code {code}"));
        let started = self.started.as_ref().map(|at| format!(", started {at}")).unwrap_or_default();
        let cause = self.diagnosis.as_ref();
        let cause = cause.map(|cause| format!(": {}: {}", cause.reason, cause.summary));
        format!("an earlier attempt ended with {code}{started}{}", cause.unwrap_or_default())
    }
}

/// The step that was running at the end.
#[derive(Debug, Clone, PartialEq)]
pub struct Running {
    pub name: String,
    /// Its span, if it is known when it began.
    pub span: Option<usize>,
    /// How that is known, in words.
    pub evidence: String,
}

/// A stretch of which nothing tells.
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

/// A file that could not be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    pub path: String,
    pub why: String,
}
