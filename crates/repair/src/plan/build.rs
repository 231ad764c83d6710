//! Builds a plan from a view.

use mooring_workflow::Step as _;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use thiserror::Error;

use super::document::{self, Document};
use super::step::Step;
use crate::checks::{self, Capacity, Planning, TIME, absent};
use crate::names::{RUN_TAG, temporary_pool};
use crate::observation::ClusterView;
use crate::pool_body;
use crate::pool_body::{CRITICAL_TAINT, PoolBodyError};
use crate::settings::Settings;
use crate::temporary_pool::TemporaryPool;
use mooring_workflow::Reading;
use mooring_workflow::canonical;
use mooring_workflow::secret_fields;
use mooring_workflow::{CheckResult, Outcome};

/// A repair as data.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plan {
    /// `mooring.repair.plan/v1`
    pub schema: &'static str,
    /// What `--plan-hash` takes: until when the plan can be begun, and the hash of [`Plan::document`].
    pub hash: String,
    /// Until when a run of it may begin.
    pub expires: Timestamp,
    /// The cluster's resource id.
    pub cluster: String,
    pub pool: String,
    /// The pool that carries the load meanwhile.
    pub temporary_pool: String,
    /// How long it takes in the usual case.
    pub expected_seconds: u32,
    /// What will be done.
    pub steps: Vec<PlannedStep>,
    #[serde(serialize_with = "with_details")]
    pub prechecks: Vec<CheckResult>,
    /// The temporary pool that an earlier run left.
    #[serde(rename = "leftTemporaryPool", skip_serializing_if = "Option::is_none")]
    pub left_temporary_pool: Option<TemporaryPool>,
    /// What will not be as before.
    pub changes: Vec<String>,
    /// What the approval covers and a run executes.
    #[serde(skip)]
    pub document: Arc<Document>,
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlannedStep {
    /// From 1.
    pub number: usize,
    pub name: Step,
    pub what: String,
    /// The request's body, with a mask over what may be secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
    /// How long it takes in the usual case.
    pub expected_seconds: u32,
    /// What can go wrong.
    pub risk: String,
}

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PlanError {
    /// Something needed could not be read.
    #[error("the {0} {1}")]
    Unread(&'static str, String),
    /// Something needed may be read later only: the service was asked too often.
    #[error("the {0} {1}")]
    Throttled(&'static str, String),
    /// There is no such pool, as a sentence.
    #[error("{0}")]
    NoPool(String),
    /// The pool is of another type or mode, or stopped, as a sentence.
    #[error("{0}")]
    NotRebuildable(String),
    /// The pool does not name its subnet although others do.
    #[error(
        "pool {0} has no vnetSubnetID although pool {1} of the cluster has one; its subnet is not known"
    )]
    NoSubnet(String, String),
    /// No body can be made of it.
    #[error(transparent)]
    Pool(#[from] PoolBodyError),
}

/// Makes a plan that can be begun until `expires`; `guards` are those of the same reading.
pub fn build(
    view: &ClusterView,
    settings: &Settings,
    around: &Capacity,
    guards: &[CheckResult],
    expires: Timestamp,
) -> Result<Plan, PlanError> {
    let cluster = known(view.cluster.as_ref(), "cluster")?;
    let pools = known(view.pools.as_ref(), "pools")?;
    known(view.scale_sets.as_ref(), "scale sets")?;
    let name = &settings.target.pool;
    let pool = pools.iter().find(|pool| pool.name == *name);
    let pool = pool.ok_or_else(|| PlanError::NoPool(absent(pools, name)))?;
    if let Some(why) = pool.not_rebuildable() {
        return Err(PlanError::NotRebuildable(why));
    }
    if pool.subnet().is_none()
        && let Some(other) = pools.iter().find(|other| other.subnet().is_some())
    {
        return Err(PlanError::NoSubnet(name.clone(), other.name.clone()));
    }
    let version = cluster.version.as_deref();
    let mut source = lasting(&pool.raw);
    let stripped = secret_fields::strip(&mut source);
    let temporary_body = pool_body::temporary(&source, settings.version, version)?;
    let pool_body = pool_body::pool_body(&source, settings.version, version)?;
    let steps: Vec<PlannedStep> = Step::ALL
        .iter()
        .copied()
        .enumerate()
        .map(|(index, step)| PlannedStep {
            number: index + 1,
            name: step,
            what: step.what().to_owned(),
            body: match step {
                Step::CreateTemporary => Some(temporary_body.clone()),
                Step::RecreatePool => Some(pool_body.clone()),
                Step::ReconcileCluster => Some(json!({
                    "operation": "Merge",
                    "properties": { "tags": { RUN_TAG: "the run's id" } }
                })),
                _ => None,
            },
            expected_seconds: step.expected_seconds(),
            risk: step.risk().to_owned(),
        })
        .collect();
    let expected = steps.iter().map(|step| step.expected_seconds).sum();
    let left_temporary_pool = TemporaryPool::of(pools, name);
    let left = left_temporary_pool.as_ref();
    let prechecks = checks::begin(&Planning {
        view,
        settings,
        cluster,
        pool,
        left,
        expected_seconds: expected,
        around,
    });
    let guards = guards.iter().map(|guard| (guard.name.as_str(), guard.outcome));
    // The time is a session's own, and a session's deadline is not part of the plan.
    let checks = prechecks.iter().filter(|check| check.name != TIME);
    let findings = guards.chain(checks.map(|check| (check.name.as_str(), check.outcome)));
    let document = Document {
        schema: document::SCHEMA.to_owned(),
        tool: env!("CARGO_PKG_VERSION").to_owned(),
        cluster: cluster.id.to_ascii_lowercase(),
        pool: name.clone(),
        pool_hash: pool_hash(&pool.raw),
        scale_set: view.scale_set_of(name).map(|set| set.id.clone()),
        settings: settings.bound(),
        adopts: left_temporary_pool.as_ref().and_then(|left| left.run.clone()),
        findings: findings
            .filter(|(_, outcome)| *outcome != Outcome::Pass)
            .map(|(name, outcome)| (name.to_owned(), outcome))
            .collect(),
        steps: Step::ALL.iter().map(|step| step.name().to_owned()).collect(),
        temporary_body,
        stripped,
        source,
        expires,
        pool_body,
    };
    Ok(Plan {
        schema: "mooring.repair.plan/v1",
        hash: document.token().to_string(),
        expires,
        cluster: cluster.id.clone(),
        pool: name.clone(),
        expected_seconds: expected,
        prechecks,
        left_temporary_pool,
        changes: changes(&pool.raw, &document),
        temporary_pool: temporary_pool(name, pool.is_windows()),
        steps,
        document: Arc::new(document),
    })
}

/// Checks of a plan have one text of evidence.
fn with_details<S: Serializer>(checks: &[CheckResult], serializer: S) -> Result<S::Ok, S::Error> {
    let details = checks.iter().map(
        |check| json!({"name": check.name, "outcome": check.outcome, "detail": check.detail()}),
    );
    serializer.collect_seq(details)
}

/// The hash of a pool without what changes by itself.
pub fn pool_hash(raw: &Value) -> String {
    canonical::hash(&lasting(raw))
}

/// A pool without what changes by itself.
fn lasting(raw: &Value) -> Value {
    let mut pool = raw.clone();
    for place in ["", "/properties"] {
        if let Some(members) = pool.pointer_mut(place).and_then(Value::as_object_mut) {
            // The status holds the last error, which every retry of the service may write anew.
            for name in ["provisioningState", "eTag", "status"] {
                members.remove(name);
            }
        }
    }
    pool
}

/// What the recreated pool will have otherwise than the old one.
fn changes(pool: &Value, plan: &Document) -> Vec<String> {
    let mut changes = Vec::new();
    let body = &plan.pool_body;
    let running = pool.pointer("/properties/currentOrchestratorVersion").and_then(Value::as_str);
    let wanted = body.pointer("/properties/orchestratorVersion").and_then(Value::as_str);
    if let (Some(running), Some(wanted)) = (running, wanted)
        && running != wanted
    {
        let policy = plan.settings.version.flag();
        changes.push(format!(
            "Kubernetes version: {running} -> {wanted} (--kubernetes-version {policy})"
        ));
    }
    let snapshot = body.pointer("/properties/creationData/sourceResourceId");
    if let Some(snapshot) = snapshot.and_then(Value::as_str) {
        let name = mooring_redact::identifier(snapshot.rsplit('/').next().unwrap_or_default());
        changes.push(format!("node image: that of snapshot {name}, as before"));
    } else if let Some(image) = pool.pointer("/properties/nodeImageVersion").and_then(Value::as_str)
    {
        changes.push(format!("node image: {image} -> the newest of the Kubernetes version"));
    }
    let taints = |body: &Value| body["properties"]["nodeTaints"].clone();
    if taints(&plan.temporary_body) != taints(body) {
        changes.push(format!("taint of the temporary pool: {CRITICAL_TAINT}"));
    }
    let count = |value: &Value| value.pointer("/properties/count").and_then(Value::as_i64);
    if let (Some(before), Some(after)) = (count(pool), count(body))
        && before != after
    {
        changes.push(format!("the count {before} is outside of the limits and becomes {after}"));
    }
    let stripped = plan.stripped.iter();
    changes.extend(stripped.map(|path| format!("{path} may be secret and is not kept")));
    changes
}

fn known<'a, T>(reading: Option<&'a Reading<T>>, what: &'static str) -> Result<&'a T, PlanError> {
    match reading {
        Some(Reading::Known(value)) => Ok(value),
        Some(other @ Reading::Throttled(_)) => {
            Err(PlanError::Throttled(what, other.missing().unwrap_or_default()))
        }
        Some(other) => Err(PlanError::Unread(what, other.missing().unwrap_or_default())),
        None => Err(PlanError::Unread(what, "was not read".to_owned())),
    }
}
