//! `mooring.repair.detection/v1`.

use jiff::Timestamp;
use mooring_workflow::published::{Evidence, Next, SourceName};
use mooring_workflow::{CheckResult, Outcome};
use serde::Serialize;

use crate::checks::verdict::WedgeVerdict;
use crate::checks::{MISSING_NODES, PDB, POOL_NAME, TIME, TOLERATIONS};
use crate::pool::temporary_pool::TemporaryPool;
use crate::present::report::{DetectionReport, SkippedPool};

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Detected {
    /// The worst verdict of all pools.
    pub verdict: WedgeVerdict,
    pub pools: Vec<DetectedPool>,
    pub skipped: Vec<SkippedPool>,
    pub next: Vec<Next>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DetectedPool {
    pub name: String,
    pub verdict: WedgeVerdict,
    pub signs: Vec<PublishedSign>,
    pub operation: Option<PublishedOperation>,
    pub temporary_pool: Option<Temporary>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PublishedSign {
    pub name: String,
    pub state: SignState,
    pub evidence: Vec<Evidence>,
    /// The operator's comment of an override.
    pub overridden: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SignState {
    Yes,
    No,
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PublishedOperation {
    #[serde(rename = "operationId")]
    pub id: String,
    pub started_at: Timestamp,
    /// None for an operation of the cluster.
    pub pool: Option<String>,
    pub is_too_recent: bool,
    pub seconds: i64,
}

/// The temporary pool of an unfinished run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Temporary {
    pub name: String,
    pub run_id: Option<String>,
    pub journal: Option<String>,
    pub plan_hash: Option<String>,
    pub source_id: Option<String>,
}

impl From<&TemporaryPool> for Temporary {
    fn from(pool: &TemporaryPool) -> Self {
        Self {
            name: pool.pool.clone(),
            run_id: pool.run.clone(),
            journal: pool.journal.clone(),
            plan_hash: pool.approval.as_ref().map(ToString::to_string),
            source_id: pool.source.clone(),
        }
    }
}

impl Detected {
    pub fn new(reports: &[DetectionReport], skipped: &[SkippedPool], next: Vec<Next>) -> Self {
        Self {
            verdict: WedgeVerdict::worst(reports.iter().map(|report| report.detection.verdict)),
            pools: reports.iter().map(pool).collect(),
            skipped: skipped.to_vec(),
            next,
        }
    }
}

fn pool(report: &DetectionReport) -> DetectedPool {
    DetectedPool {
        name: report.pool.clone(),
        verdict: report.detection.verdict,
        signs: report.detection.checks.iter().map(sign).collect(),
        operation: report.operation.as_ref().map(|running| PublishedOperation {
            id: running.id.clone(),
            started_at: running.since,
            pool: running.pool.clone(),
            is_too_recent: running.left_alone,
            seconds: report.at.duration_since(running.since).as_secs(),
        }),
        temporary_pool: report.temporary_pool.as_ref().map(Temporary::from),
    }
}

fn sign(check: &CheckResult) -> PublishedSign {
    PublishedSign {
        name: check.name.clone(),
        state: match check.outcome {
            Outcome::Pass => SignState::Yes,
            Outcome::Fail => SignState::No,
            Outcome::Unknown => SignState::Unknown,
        },
        evidence: Evidence::list(&check.evidence, source(&check.name)),
        overridden: check.overridden.clone(),
    }
}

/// Returns the source of a check's evidence.
pub(super) fn source(check: &str) -> Option<SourceName> {
    match check {
        TIME | POOL_NAME => None,
        MISSING_NODES | PDB | TOLERATIONS => Some(SourceName::Cluster),
        _ => Some(SourceName::Azure),
    }
}
