//! `mooring.repair.plan/v1`.

use jiff::Timestamp;
use mooring_workflow::published::{Next, PublishedCheck};
use serde::Serialize;
use serde_json::Value;

use super::detection::{Temporary, source};
use crate::checks::blocks;
use crate::checks::verdict::WedgeVerdict;
use crate::plan::{Plan, Step};

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PublishedPlan {
    /// Value of `--plan-hash`.
    pub hash: String,
    pub expires_at: Timestamp,
    pub pool: String,
    pub temporary_pool: String,
    /// Verdict of the same reads.
    pub verdict: WedgeVerdict,
    /// Nodes of the pool; none if they could not be read.
    pub node_count: Option<usize>,
    /// Pods on these nodes; none if they could not be read.
    pub pod_count: Option<usize>,
    pub expected_seconds: u32,
    pub steps: Vec<PublishedStep>,
    /// First step that cannot be rolled back.
    pub point_of_no_return: usize,
    pub checks: Vec<PublishedCheck>,
    /// Temporary pool of an earlier run.
    pub left_temporary_pool: Option<Temporary>,
    pub changes: Vec<String>,
    pub next: Vec<Next>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PublishedStep {
    pub number: usize,
    pub name: Step,
    pub what: String,
    /// Request body, with secrets redacted.
    pub body: Option<Value>,
    pub expected_seconds: u32,
    pub risk: Option<String>,
}

impl PublishedPlan {
    pub fn new(plan: &Plan, verdict: WedgeVerdict, next: Vec<Next>) -> Self {
        let steps = plan.steps.iter().map(|step| PublishedStep {
            number: step.number,
            name: step.name,
            what: step.what.clone(),
            body: step.body.clone(),
            expected_seconds: step.expected_seconds,
            risk: Some(step.risk.clone()).filter(|risk| risk != "none"),
        });
        Self {
            hash: plan.hash.clone(),
            expires_at: plan.expires,
            pool: plan.pool.clone(),
            temporary_pool: plan.temporary_pool.clone(),
            verdict,
            node_count: plan.nodes,
            pod_count: plan.pods,
            expected_seconds: plan.expected_seconds,
            steps: steps.collect(),
            point_of_no_return: Step::DeletePool.number(),
            checks: checks(plan),
            left_temporary_pool: plan.left_temporary_pool.as_ref().map(Temporary::from),
            changes: plan.changes.clone(),
            next,
        }
    }
}

/// Returns the checks of a plan as they are published.
pub fn checks(plan: &Plan) -> Vec<PublishedCheck> {
    let published = |check| PublishedCheck::new(check, blocks(check), source(&check.name));
    plan.checks.iter().map(published).collect()
}
