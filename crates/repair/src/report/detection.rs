//! The report of `detect`.

use std::fmt;

use jiff::Timestamp;
use mooring_redact::Lines;
use serde::Serialize;

use crate::checks;
use crate::checks::reads;
use crate::observation::{ClusterView, Query};
use crate::operation::{Running, Scope, running};
use crate::settings::Settings;
use crate::temporary_pool::TemporaryPool;
use crate::verdict::{Detection, Verdict, verdict};
use mooring_workflow::Outcome;
use mooring_workflow::Reading;
use mooring_workflow::plural::counted;

/// What `detect` found, as it is printed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DetectionReport {
    /// `mooring.repair/v1`
    pub schema: &'static str,
    /// When it was read.
    pub at: Timestamp,
    pub cluster: String,
    pub pool: String,
    /// True if there is no such cluster; only a pipeline takes that for a rollout to come.
    pub greenfield: bool,
    /// The verdict and the guards.
    #[serde(flatten)]
    pub detection: Detection,
    /// The operation that runs, if one does that can be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<RunningOperation>,
    /// The temporary pool of a run that is not over.
    #[serde(rename = "temporaryPool", skip_serializing_if = "Option::is_none")]
    pub temporary_pool: Option<TemporaryPool>,
}

/// An operation that runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunningOperation {
    /// Its id, as the operations endpoint or the activity log has it.
    pub id: String,
    pub since: Timestamp,
    /// The pool that it belongs to; none if it is the cluster's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// It is too young to be fought.
    pub left_alone: bool,
    /// For how many minutes it has run.
    pub minutes: i64,
}

impl RunningOperation {
    fn of(view: &ClusterView, settings: &Settings, now: Timestamp) -> Option<Self> {
        let Running::One { id, started, scope } = running(view) else { return None };
        let age = now.duration_since(started);
        Some(Self {
            id,
            since: started,
            pool: match scope {
                Scope::Cluster => None,
                Scope::Pool(pool) => Some(pool),
            },
            left_alone: age < settings.limits.operation_age,
            minutes: age.as_mins(),
        })
    }
}

impl fmt::Display for RunningOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "operation {} of ", self.id)?;
        match &self.pool {
            Some(pool) => write!(f, "pool {pool}")?,
            None => f.write_str("the cluster")?,
        }
        write!(f, " has run for {}", counted(self.minutes, "minute"))?;
        if self.left_alone { f.write_str(" only; it is left alone") } else { Ok(()) }
    }
}

/// Returns what must be read before a judgement, as far as the view shows it; each once, whatever comes of it.
pub fn queries(view: &ClusterView, settings: &Settings) -> Vec<Query> {
    if matches!(view.cluster, Some(Reading::NotFound)) {
        return Vec::new();
    }
    let mut queries = reads::of_verdict(view, &settings.target.pool);
    if running(view) != Running::Nothing {
        queries.push(Query::LatestOperation);
    }
    queries
}

/// Evaluates a view.
pub fn detect(view: &ClusterView, settings: &Settings, now: Timestamp) -> DetectionReport {
    let greenfield = matches!(view.cluster, Some(Reading::NotFound));
    let detection = if greenfield {
        Detection { verdict: Verdict::Unknown, guards: Vec::new() }
    } else {
        let guards = checks::evaluate(view, settings, now);
        Detection { verdict: verdict(&guards), guards }
    };
    DetectionReport {
        schema: "mooring.repair/v1",
        at: now,
        cluster: settings.target.cluster.clone(),
        pool: settings.target.pool.clone(),
        greenfield,
        detection,
        operation: RunningOperation::of(view, settings, now),
        temporary_pool: view
            .pools
            .as_ref()
            .and_then(Reading::known)
            .and_then(|pools| TemporaryPool::of(pools, &settings.target.pool)),
    }
}

impl DetectionReport {
    /// The exit code: 0 healthy, 1 suspect or confirmed, 3 unknown.
    pub fn exit_code(&self) -> u8 {
        match self.detection.verdict {
            Verdict::Healthy => 0,
            Verdict::Suspect | Verdict::Confirmed => 1,
            Verdict::Unknown => 3,
        }
    }

    /// Lines for a terminal.
    pub fn table(&self) -> String {
        let verdict = match self.detection.verdict {
            Verdict::Healthy => "healthy",
            Verdict::Suspect => "suspect",
            Verdict::Confirmed => "confirmed",
            Verdict::Unknown => "unknown",
        };
        let mut text = Lines::default();
        text.line(format_args!("pool {} of {}: {verdict}", self.pool, self.cluster));
        text.line("");
        for guard in &self.detection.guards {
            let outcome = match guard.outcome {
                Outcome::Pass => "pass",
                Outcome::Fail => "fail",
                Outcome::Unknown => "unknown",
            };
            let overridden = guard.overridden.as_ref();
            let overridden = overridden.map(|reason| format!(" (overridden: {reason})"));
            text.line(format_args!(
                "{outcome:<8} {:<15} {}{}",
                guard.name,
                guard.evidence.join("; "),
                overridden.unwrap_or_default()
            ));
        }
        let temporary_pool = self.temporary_pool.iter().map(ToString::to_string);
        let operation = self.operation.iter().map(ToString::to_string);
        for line in operation.chain(temporary_pool) {
            text.line(format_args!("{:<8} {:<15} {line}", "also", ""));
        }
        text.into()
    }
}
