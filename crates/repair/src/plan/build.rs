//! Builds a plan from a view.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};
use thiserror::Error;

use crate::checks::verdict::{WedgeVerdict, verdict};
use crate::checks::{self, Capacity, Planning, absent};
use crate::names::{RUN_TAG, TIME, temporary_pool};
use crate::observation::{ClusterView, Pod};
use crate::pool_body;
use crate::pool_body::CRITICAL_TAINT;
use crate::settings::Settings;
use crate::temporary_pool::TemporaryPool;
use crate::workflow::{HashedPlan, PlanDocument, Step};
use mooring_workflow::{CheckResult, Outcome, Reading, canonical};

/// A plan as it is shown and published; what is approved is its document.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// Value of `--plan-hash`: expiry, and hash of [`Plan::document`].
    pub hash: String,
    /// Time until which a run may start.
    #[serde(rename = "expiresAt")]
    pub expires: Timestamp,
    pub pool: String,
    pub temporary_pool: String,
    /// Verdict of the same reads.
    pub verdict: WedgeVerdict,
    /// Nodes of the pool, if known.
    #[serde(rename = "nodeCount")]
    pub nodes: Option<usize>,
    /// Pods on these nodes, if known.
    #[serde(rename = "podCount")]
    pub pods: Option<usize>,
    pub expected_seconds: u32,
    pub steps: Vec<PlannedStep>,
    /// First step that cannot be rolled back.
    pub point_of_no_return: usize,
    #[serde(serialize_with = "crate::documents::published")]
    pub checks: Vec<CheckResult>,
    /// Temporary pool of an earlier run.
    pub left_temporary_pool: Option<TemporaryPool>,
    /// Differences between the old and the recreated pool.
    pub changes: Vec<String>,
    /// Resource id of the cluster.
    #[serde(skip)]
    pub cluster: String,
    /// Region of the cluster, if known.
    #[serde(skip)]
    pub region: Option<String>,
    /// Approved and executed document.
    #[serde(skip)]
    pub document: HashedPlan,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedStep {
    pub number: usize,
    pub name: Step,
    pub what: &'static str,
    /// Request body, with secrets redacted.
    pub body: Option<Value>,
    pub expected_seconds: u32,
    pub risk: Option<&'static str>,
}

/// No plan can be created.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PlanError {
    #[error("the {0} {1}")]
    Unread(&'static str, String),
    #[error("the {0} {1}")]
    Throttled(&'static str, String),
    #[error("{0}")]
    NoPool(String),
    /// Other type or mode, or stopped.
    #[error("{0}")]
    NotRebuildable(String),
    #[error(
        "pool {0} has no vnetSubnetID although pool {1} of the cluster has one; its subnet is unknown"
    )]
    NoSubnet(String, String),
    #[error("{0}")]
    Pool(&'static str),
}

/// Creates a plan that can be started until `expires`; `detected` are the results of the verdict's checks from the same reads.
pub fn build(
    view: &ClusterView,
    settings: &Settings,
    capacity: &Capacity,
    detected: &[CheckResult],
    expires: Timestamp,
) -> Result<Plan, PlanError> {
    let cluster = known(view.cluster.get(), "cluster")?;
    let pools = known(view.pools.get(), "pools")?;
    known(view.scale_sets.get(), "scale sets")?;
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
    let stripped = mooring_redact::json::strip(&mut source);
    let temporary_body = pool_body::temporary(&source, settings.version, version);
    let temporary_body = temporary_body.map_err(PlanError::Pool)?;
    let pool_body = pool_body::pool_body(&source, settings.version, version);
    let pool_body = pool_body.map_err(PlanError::Pool)?;
    let steps: Vec<PlannedStep> = Step::ALL
        .iter()
        .map(|&step| PlannedStep {
            number: step.number(),
            name: step,
            what: step.what(),
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
            risk: step.risk(),
        })
        .collect();
    let expected = steps.iter().map(|step| step.expected_seconds).sum();
    let left_temporary_pool = TemporaryPool::of(pools, name);
    let left = left_temporary_pool.as_ref();
    let checks = checks::begin(&Planning {
        view,
        settings,
        cluster,
        pool,
        left,
        expected_seconds: expected,
        capacity,
    });
    // The deadline belongs to a session, not to the plan.
    let lasting = checks.iter().filter(|check| check.name != TIME);
    let findings = detected.iter().chain(lasting).map(|check| (check.name.as_str(), check.outcome));
    let document = HashedPlan::new(PlanDocument {
        tool: env!("CARGO_PKG_VERSION").to_owned(),
        cluster: cluster.id.to_ascii_lowercase(),
        cluster_uid: view.uid.get().and_then(Reading::known).cloned(),
        pool: name.clone(),
        pool_hash: pool_hash(&pool.raw),
        scale_set: view.scale_set_of(name).map(|set| set.id.clone()),
        settings: settings.bound(),
        adopts: left_temporary_pool.as_ref().and_then(|left| left.run.clone()),
        findings: findings
            .filter(|(_, outcome)| *outcome != Outcome::Pass)
            .map(|(name, outcome)| (name.to_owned(), outcome))
            .collect(),
        steps: Step::ALL.to_vec(),
        temporary_body,
        stripped,
        source,
        expires,
        pool_body,
    });
    Ok(Plan {
        hash: document.token().to_string(),
        verdict: verdict(detected),
        point_of_no_return: Step::DeletePool.number(),
        expires,
        cluster: cluster.id.clone(),
        pool: name.clone(),
        expected_seconds: expected,
        checks,
        left_temporary_pool,
        changes: changes(&pool.raw, &document),
        nodes: nodes_of(view, name).map(|nodes| nodes.len()),
        pods: pods_of(view, name),
        region: cluster.location.clone(),
        temporary_pool: temporary_pool(name, pool.is_windows()),
        steps,
        document,
    })
}

fn nodes_of<'a>(view: &'a ClusterView, pool: &str) -> Option<Vec<&'a str>> {
    let nodes = view.nodes.get()?.known()?;
    let own = nodes.iter().filter(|node| node.pool.as_deref() == Some(pool));
    Some(own.map(|node| node.name.as_str()).collect())
}

/// Counts the pods on the pool's nodes.
fn pods_of(view: &ClusterView, pool: &str) -> Option<usize> {
    let nodes = nodes_of(view, pool)?;
    let pods = view.pods.get()?.known()?;
    let on = |pod: &&Pod| pod.node.as_deref().is_some_and(|node| nodes.contains(&node));
    Some(pods.iter().filter(on).count())
}

/// Returns the hash of a pool without fields that the service changes.
pub fn pool_hash(raw: &Value) -> String {
    canonical::hash(&lasting(raw))
}

/// Returns a pool without fields that the service changes.
fn lasting(raw: &Value) -> Value {
    let mut pool = raw.clone();
    for place in ["", "/properties"] {
        if let Some(members) = pool.pointer_mut(place).and_then(Value::as_object_mut) {
            // Every retry of the service may update `status`.
            for name in ["provisioningState", "eTag", "status"] {
                members.remove(name);
            }
        }
    }
    pool
}

/// Returns the differences between the old and the recreated pool.
fn changes(pool: &Value, plan: &PlanDocument) -> Vec<String> {
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
        changes.push(format!("node image: from snapshot {name}, unchanged"));
    } else if let Some(image) = pool.pointer("/properties/nodeImageVersion").and_then(Value::as_str)
    {
        changes.push(format!("node image: {image} -> the latest for this Kubernetes version"));
    }
    let taints = |body: &Value| body["properties"]["nodeTaints"].clone();
    if taints(&plan.temporary_body) != taints(body) {
        changes.push(format!("taint of the temporary pool: {CRITICAL_TAINT}"));
    }
    let count = |value: &Value| value.pointer("/properties/count").and_then(Value::as_i64);
    if let (Some(before), Some(after)) = (count(pool), count(body))
        && before != after
    {
        changes.push(format!("count: {before} -> {after} (outside the autoscaler limits)"));
    }
    let stripped = plan.stripped.iter();
    changes.extend(stripped.map(|path| format!("{path} may be a secret and is not saved")));
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
