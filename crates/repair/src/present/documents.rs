//! Content of the JSON documents. The command adds schema, time, cluster and sources.

use mooring_workflow::published::{Evidence, Next, PublishedCheck, SourceName};
use mooring_workflow::{CheckResult, Outcome};
use serde::{Serialize, Serializer};

use super::report::{DetectionReport, SkippedPool};
use crate::checks::blocks;
use crate::checks::verdict::WedgeVerdict;
use crate::names::{MISSING_NODES, PDB, POOL_NAME, TIME, TOLERATIONS};
use crate::plan::Plan;

/// `mooring.repair.detection/v1`.
#[derive(Debug, Serialize)]
pub struct Detected<'a> {
    /// The worst verdict of all pools.
    verdict: WedgeVerdict,
    pools: &'a [DetectionReport],
    skipped: &'a [SkippedPool],
    next: &'a [Next],
}

impl<'a> Detected<'a> {
    pub fn new(pools: &'a [DetectionReport], skipped: &'a [SkippedPool], next: &'a [Next]) -> Self {
        let verdict = WedgeVerdict::worst(pools.iter().map(|report| report.detection.verdict));
        Self { verdict, pools, skipped, next }
    }
}

/// `mooring.repair.plan/v1`.
#[derive(Debug, Serialize)]
pub struct PublishedPlan<'a> {
    #[serde(flatten)]
    pub plan: &'a Plan,
    pub next: &'a [Next],
}

#[derive(Serialize)]
struct Sign<'a> {
    name: &'a str,
    state: &'static str,
    evidence: Vec<Evidence>,
    /// The operator's comment of an override.
    overridden: Option<&'a str>,
}

/// Serializes the checks of a verdict as signs.
pub(crate) fn signs<S: Serializer>(
    checks: &[CheckResult],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(checks.iter().map(|check| Sign {
        name: &check.name,
        state: match check.outcome {
            Outcome::Pass => "yes",
            Outcome::Fail => "no",
            Outcome::Unknown => "unknown",
        },
        evidence: Evidence::list(&check.evidence, source(&check.name)),
        overridden: check.overridden.as_deref(),
    }))
}

/// Serializes the checks of a plan.
pub(crate) fn published<S: Serializer>(
    checks: &[CheckResult],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    self::checks(checks).serialize(serializer)
}

/// Returns the checks of a plan as they are published.
pub fn checks(checks: &[CheckResult]) -> Vec<PublishedCheck> {
    let published = |check| PublishedCheck::new(check, blocks(check), source(&check.name));
    checks.iter().map(published).collect()
}

/// Returns the source of a check's evidence.
fn source(check: &str) -> Option<SourceName> {
    match check {
        TIME | POOL_NAME => None,
        MISSING_NODES | PDB | TOLERATIONS => Some(SourceName::Cluster),
        _ => Some(SourceName::Azure),
    }
}
