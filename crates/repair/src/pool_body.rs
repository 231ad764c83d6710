//! Request bodies that recreate a pool.
//!
//! Raw JSON in and out: properties that this version does not know survive. The input is the snapshot, the only copy of a
//! deleted pool.

use serde_json::{Map, Value, json};

use crate::names::{PURPOSE, PURPOSE_TAG, SOURCE_TAG};
use crate::settings::VersionPolicy;

/// Members that the service writes, and rejects or ignores in a request.
const READ_ONLY_TOP: [&str; 5] = ["id", "name", "type", "eTag", "systemData"];
/// The same in `properties`, and those that the service would act on: a new pool has no earlier image to roll back to, and
/// must run.
const READ_ONLY: [&str; 6] = [
    "provisioningState",
    "currentOrchestratorVersion",
    "eTag",
    "status",
    "nodeImageVersion",
    "powerState",
];
/// Taint of temporary pools for System pools.
pub const CRITICAL_TAINT: &str = "CriticalAddonsOnly=true:NoSchedule";
const MANAGED_TAGS: &str = "aks-managed-";
const AUTOSCALER: [&str; 3] = ["minCount", "maxCount", "enableAutoScaling"];

/// Returns the body that recreates the pool.
///
/// `control_plane` is the cluster's current version, used by [`VersionPolicy::ControlPlane`] only.
pub fn pool_body(
    pool: &Value,
    policy: VersionPolicy,
    control_plane: Option<&str>,
) -> Result<Value, &'static str> {
    let mut body = pool.clone();
    let properties = body.as_object_mut().and_then(|members| members.remove("properties"));
    let Some(Value::Object(mut properties)) = properties else {
        return Err("the pool has no properties");
    };
    let running = text(&properties, "currentOrchestratorVersion");
    let wanted = match policy {
        VersionPolicy::Keep => running.or_else(|| text(&properties, "orchestratorVersion")),
        VersionPolicy::ControlPlane => {
            control_plane.filter(|version| !version.is_empty()).map(str::to_owned)
        }
    };
    properties.retain(|name, _| !READ_ONLY.contains(&name.as_str()));
    // 0 means the default, and so does a request without it.
    if properties.get("osDiskSizeGB").and_then(Value::as_i64) == Some(0) {
        properties.remove("osDiskSizeGB");
    }
    let wanted = wanted.ok_or("the Kubernetes version for the new pool is unknown")?;
    properties.insert("orchestratorVersion".into(), wanted.into());
    clamp_count(&mut properties);
    if let Some(Value::Object(tags)) = properties.get_mut("tags") {
        tags.retain(|name, _| !name.starts_with(MANAGED_TAGS));
    }
    if let Some(members) = body.as_object_mut() {
        members.retain(|name, _| !READ_ONLY_TOP.contains(&name.as_str()));
        members.insert("properties".into(), properties.into());
    }
    Ok(body)
}

/// A wedge may leave a count outside the autoscaler's limits, which the service would reject after the pool was deleted. A
/// System pool has at least one node.
fn clamp_count(properties: &mut Map<String, Value>) {
    let number = |name: &str| properties.get(name).and_then(Value::as_i64);
    let Some(mut count) = number("count") else { return };
    if properties.get("enableAutoScaling") == Some(&Value::Bool(true)) {
        // The maximum last: it is the safer limit if the minimum exceeds it.
        count = count.max(number("minCount").unwrap_or(count));
        count = count.min(number("maxCount").unwrap_or(count));
    }
    if properties.get("mode").and_then(Value::as_str) == Some("System") {
        count = count.max(1);
    }
    properties.insert("count".into(), count.into());
}

/// Returns the body of the temporary pool, without the tags that name run, journal and plan.
pub fn temporary(
    pool: &Value,
    policy: VersionPolicy,
    control_plane: Option<&str>,
) -> Result<Value, &'static str> {
    let mut body = pool_body(pool, policy, control_plane)?;
    let id =
        pool["id"].as_str().filter(|id| !id.is_empty()).ok_or("the pool has no resource id")?;
    let live = &pool["properties"];
    if live["vmSize"].as_str().is_none_or(str::is_empty) {
        return Err("the pool has no vmSize");
    }
    let count = temporary_count(live["count"].as_i64(), live["minCount"].as_i64());
    let properties = &mut body["properties"];
    if let Some(members) = properties.as_object_mut() {
        members.retain(|name, _| !AUTOSCALER.contains(&name.as_str()));
    }
    properties["count"] = count.into();
    let mut taints = properties["nodeTaints"].as_array().cloned().unwrap_or_default();
    if properties["mode"] == "System" && !taints.iter().any(|taint| taint == CRITICAL_TAINT) {
        taints.push(CRITICAL_TAINT.into());
        properties["nodeTaints"] = taints.into();
    }
    if !properties["tags"].is_object() {
        properties["tags"] = json!({});
    }
    properties["tags"][PURPOSE_TAG] = PURPOSE.into();
    properties["tags"][SOURCE_TAG] = id.into();
    Ok(body)
}

/// Returns the pool's count, else its minimum, else one: its workloads must fit.
pub fn temporary_count(count: Option<i64>, min_count: Option<i64>) -> i64 {
    [count, min_count].into_iter().flatten().find(|number| *number > 0).unwrap_or(1)
}

/// Returns the configuration of a pool, without the count where the autoscaler changes it. It differs only if the pool was
/// edited.
pub fn intent_of(pool: &Value) -> Result<Value, &'static str> {
    let mut body = pool_body(pool, VersionPolicy::Keep, None)?;
    if pool["properties"]["enableAutoScaling"] == Value::Bool(true)
        && let Some(members) = body["properties"].as_object_mut()
    {
        members.remove("count");
    }
    Ok(body)
}

/// Returns pointers to the members of `wanted` that the pool does not have as requested.
///
/// Members that the service added as defaults do not count.
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
    let nothing = |value: &Value| {
        value.is_null()
            || value.as_array().is_some_and(Vec::is_empty)
            || value.as_object().is_some_and(Map::is_empty)
    };
    nothing(wanted) && nothing(found)
}

fn text(properties: &Map<String, Value>, name: &str) -> Option<String> {
    properties.get(name)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}
