//! Content of `mooring.finalizers.plan/v1`. The command adds schema, time, cluster and sources.

use std::collections::BTreeMap;

use jiff::Timestamp;
use mooring_workflow::CheckResult;
use mooring_workflow::approval::ApprovalToken;
use mooring_workflow::published::{Next, PublishedCheck, SourceName};
use mooring_workflow::status::OverrideStatus;
use serde::{Serialize, Serializer};

use crate::plan::Plan;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PublishedPlan<'a> {
    /// Value of `--plan-hash`.
    hash: &'a ApprovalToken,
    expires_at: Timestamp,
    #[serde(flatten)]
    plan: &'a Plan,
    next: &'a [Next],
}

impl<'a> PublishedPlan<'a> {
    pub fn new(plan: &'a Plan, next: &'a [Next]) -> Self {
        Self { hash: &plan.approval, expires_at: plan.approval.expires, plan, next }
    }
}

pub(crate) fn overrides<S: Serializer>(
    overrides: &BTreeMap<String, String>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(
        overrides.iter().map(|(check, comment)| OverrideStatus {
            check: check.clone(),
            comment: comment.clone(),
        }),
    )
}

pub(crate) fn published<S: Serializer>(
    checks: &[CheckResult],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    self::checks(checks).serialize(serializer)
}

/// Returns the checks of a plan as they are published.
pub fn checks(checks: &[CheckResult]) -> Vec<PublishedCheck> {
    let published = |check| PublishedCheck::new(check, true, Some(SourceName::Cluster));
    checks.iter().map(published).collect()
}
