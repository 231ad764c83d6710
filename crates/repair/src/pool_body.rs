//! From a pool as Azure describes it to a body that Azure accepts.
//!
//! Works on raw JSON, so that a property which this version does not know survives. The input is never
//! changed: it is the snapshot, and the only copy of what will be deleted.

use serde_json::{Map, Value, json};
use thiserror::Error;

use crate::names::{PURPOSE, PURPOSE_TAG, SOURCE_TAG};
use crate::settings::VersionPolicy;

/// Members of a pool that the service writes and refuses or ignores in a request.
const READ_ONLY_TOP: [&str; 5] = ["id", "name", "type", "eTag", "systemData"];
/// The same among its properties.
const READ_ONLY: [&str; 4] = ["provisioningState", "currentOrchestratorVersion", "eTag", "status"];
/// Properties that the service would act upon: an image can only be set back to one that a pool has used, and a new pool has
/// used none; a pool that is rebuilt is one that runs.
const NOT_SENT: [&str; 2] = ["nodeImageVersion", "powerState"];
/// The taint of temporary pools for System pools: only what tolerates it is placed there.
pub const CRITICAL_TAINT: &str = "CriticalAddonsOnly=true:NoSchedule";
/// The prefix of tags that belong to the service.
const MANAGED_TAGS: &str = "aks-managed-";
/// Fields of the autoscaler.
const AUTOSCALER: [&str; 3] = ["minCount", "maxCount", "enableAutoScaling"];

/// A pool from which no request can be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum PoolBodyError {
    /// There is no pool.
    #[error("the pool has no properties")]
    NoProperties,
    /// The control plane's version is wanted and not known.
    #[error("the Kubernetes version for the new pool is not known")]
    NoVersion,
    /// The size of the machines is not known.
    #[error("the pool has no vmSize")]
    NoVmSize,
    /// The pool's id is not known.
    #[error("the pool has no resource id")]
    NoId,
}

/// The body that makes the pool again.
///
/// `control_plane` is the cluster's current version, used by [`VersionPolicy::ControlPlane`] only.
pub fn pool_body(
    pool: &Value,
    policy: VersionPolicy,
    control_plane: Option<&str>,
) -> Result<Value, PoolBodyError> {
    let mut body = pool.as_object().ok_or(PoolBodyError::NoProperties)?.clone();
    let mut properties = body
        .remove("properties")
        .and_then(|properties| match properties {
            Value::Object(members) => Some(members),
            _ => None,
        })
        .ok_or(PoolBodyError::NoProperties)?;
    let running = text(&properties, "currentOrchestratorVersion");
    let wanted = match policy {
        VersionPolicy::Keep => running.or_else(|| text(&properties, "orchestratorVersion")),
        VersionPolicy::ControlPlane => {
            control_plane.filter(|version| !version.is_empty()).map(str::to_owned)
        }
    };
    for name in READ_ONLY_TOP {
        body.remove(name);
    }
    for name in READ_ONLY.into_iter().chain(NOT_SENT) {
        properties.remove(name);
    }
    // 0 means the default, and so does a request without it.
    if properties.get("osDiskSizeGB").and_then(Value::as_i64) == Some(0) {
        properties.remove("osDiskSizeGB");
    }
    properties.insert("orchestratorVersion".into(), wanted.ok_or(PoolBodyError::NoVersion)?.into());
    clamp_count(&mut properties);
    if let Some(Value::Object(tags)) = properties.get_mut("tags") {
        tags.retain(|name, _| !name.starts_with(MANAGED_TAGS));
    }
    body.insert("properties".into(), Value::Object(properties));
    Ok(Value::Object(body))
}

/// A wedge may leave a count outside of the autoscaler's limits, which the service would refuse after the
/// pool was deleted. A System pool has one node at least.
fn clamp_count(properties: &mut Map<String, Value>) {
    let number = |name: &str| properties.get(name).and_then(Value::as_i64);
    let Some(mut count) = number("count") else { return };
    if properties.get("enableAutoScaling") == Some(&Value::Bool(true)) {
        // The maximum last: with a minimum above it the service's own limit is the safer one.
        count = count.max(number("minCount").unwrap_or(count));
        count = count.min(number("maxCount").unwrap_or(count));
    }
    if properties.get("mode").and_then(Value::as_str) == Some("System") {
        count = count.max(1);
    }
    properties.insert("count".into(), count.into());
}

/// The body of the temporary pool, without the tags that name the run, its journal and its plan.
pub fn temporary(
    pool: &Value,
    policy: VersionPolicy,
    control_plane: Option<&str>,
) -> Result<Value, PoolBodyError> {
    let mut body = pool_body(pool, policy, control_plane)?;
    let id = pool.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
    let id = id.ok_or(PoolBodyError::NoId)?;
    let live = &pool["properties"];
    if live["vmSize"].as_str().is_none_or(str::is_empty) {
        return Err(PoolBodyError::NoVmSize);
    }
    let count = temporary_count(live["count"].as_i64(), live["minCount"].as_i64());
    let properties = &mut body["properties"];
    if let Some(members) = properties.as_object_mut() {
        for name in AUTOSCALER {
            members.remove(name);
        }
    }
    properties["count"] = count.into();
    if properties["mode"] == "System" {
        let taints = properties["nodeTaints"].as_array().cloned().unwrap_or_default();
        if !taints.iter().any(|taint| taint == CRITICAL_TAINT) {
            properties["nodeTaints"] =
                taints.into_iter().chain([CRITICAL_TAINT.into()]).collect::<Vec<Value>>().into();
        }
    }
    if !properties["tags"].is_object() {
        properties["tags"] = json!({});
    }
    properties["tags"][PURPOSE_TAG] = PURPOSE.into();
    properties["tags"][SOURCE_TAG] = id.into();
    Ok(body)
}

/// As many nodes as the pool has, else as it must have, else one: what it carried must fit.
pub fn temporary_count(count: Option<i64>, min_count: Option<i64>) -> i64 {
    [count, min_count].into_iter().flatten().find(|number| *number > 0).unwrap_or(1)
}

/// What an operator could have changed: the body for the same pool, without the count where the autoscaler
/// changes it. Two such values differ only if somebody edited the pool.
pub fn intent_of(pool: &Value) -> Result<Value, PoolBodyError> {
    let mut body = pool_body(pool, VersionPolicy::Keep, None)?;
    if pool["properties"]["enableAutoScaling"] == Value::Bool(true)
        && let Some(members) = body["properties"].as_object_mut()
    {
        members.remove("count");
    }
    Ok(body)
}

/// Members of `wanted` that the re-read pool does not have as they were asked for, as pointers.
///
/// Members that the service added are no difference: it fills in defaults.
pub fn differences(wanted: &Value, found: &Value) -> Vec<String> {
    let mut paths = Vec::new();
    compare(wanted, found, &mut String::new(), &mut paths);
    paths
}

fn compare(wanted: &Value, found: &Value, path: &mut String, paths: &mut Vec<String>) {
    if let (Value::Object(wanted), Value::Object(found)) = (wanted, found) {
        for (name, value) in wanted {
            let length = path.len();
            path.push('/');
            path.push_str(name);
            compare(value, found.get(name).unwrap_or(&Value::Null), path, paths);
            path.truncate(length);
        }
    } else if wanted != found && !is_nothing(wanted, found) {
        paths.push(path.clone());
    }
}

/// Null, absent and empty mean the same to the service.
fn is_nothing(wanted: &Value, found: &Value) -> bool {
    let nothing = |value: &Value| match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    };
    nothing(wanted) && nothing(found)
}

fn text(properties: &Map<String, Value>, name: &str) -> Option<String> {
    properties.get(name)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}
