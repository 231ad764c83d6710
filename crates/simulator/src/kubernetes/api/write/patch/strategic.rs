//! Strategic merge patch: like a merge patch, but lists with a key merge by it.

use serde_json::{Map, Value};

use crate::kubernetes::api::state::{Resource, StatusError};
use crate::kubernetes::store::objects::members;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListRule {
    Replace,
    /// Merged by the value of this member.
    Key(&'static str),
    /// Merged as a set of plain values.
    Set,
}

/// Returns the rule of a list by its name; the same names have the same rule in all supported kinds.
pub(super) fn rule(resource: &Resource, name: &str) -> ListRule {
    match name {
        "containers"
        | "initContainers"
        | "ephemeralContainers"
        | "env"
        | "volumes"
        | "imagePullSecrets"
        | "secrets" => ListRule::Key("name"),
        "conditions" | "addresses" => ListRule::Key("type"),
        "volumeMounts" => ListRule::Key("mountPath"),
        "volumeDevices" => ListRule::Key("devicePath"),
        "ports" if resource.plural == "services" => ListRule::Key("port"),
        "ports" => ListRule::Key("containerPort"),
        "hostAliases" | "podIPs" => ListRule::Key("ip"),
        "topologySpreadConstraints" => ListRule::Key("topologyKey"),
        "ownerReferences" => ListRule::Key("uid"),
        "finalizers" | "podCIDRs" => ListRule::Set,
        _ => ListRule::Replace,
    }
}

pub(super) fn apply(
    resource: &Resource,
    value: &mut Value,
    patch: &Value,
) -> Result<(), StatusError> {
    let Value::Object(patch) = patch else {
        *value = patch.clone();
        return Ok(());
    };
    merge_object(resource, value, patch)
}

fn merge_object(
    resource: &Resource,
    value: &mut Value,
    patch: &Map<String, Value>,
) -> Result<(), StatusError> {
    match patch.get("$patch").and_then(Value::as_str) {
        Some("replace") => {
            let mut patch = patch.clone();
            patch.remove("$patch");
            *value = Value::Object(patch);
            return Ok(());
        }
        Some("delete") => {
            *value = Value::Object(Map::new());
            return Ok(());
        }
        _ => {}
    }
    let own = members(value);
    if let Some(kept) = patch.get("$retainKeys").and_then(Value::as_array) {
        own.retain(|name, _| kept.iter().any(|kept| kept == name));
    }
    for (name, patch) in patch {
        if let Some(list) = name.strip_prefix("$deleteFromPrimitiveList/") {
            let gone = patch.as_array().cloned().unwrap_or_default();
            if let Some(Value::Array(items)) = own.get_mut(list) {
                items.retain(|item| !gone.contains(item));
            }
            continue;
        }
        if name.starts_with('$') {
            continue;
        }
        match patch {
            Value::Null => {
                own.remove(name);
            }
            Value::Object(patch) => {
                merge_object(resource, own.entry(name).or_insert(Value::Null), patch)?;
            }
            Value::Array(patch) => {
                let old = own.entry(name).or_insert_with(|| Value::Array(Vec::new()));
                merge_list(resource, rule(resource, name), old, patch)?;
            }
            other => {
                own.insert(name.clone(), other.clone());
            }
        }
    }
    for (name, order) in patch {
        if let (Some(list), Some(order)) =
            (name.strip_prefix("$setElementOrder/"), order.as_array())
            && let Some(Value::Array(items)) = own.get_mut(list)
        {
            reorder(rule(resource, list), items, order);
        }
    }
    Ok(())
}

fn merge_list(
    resource: &Resource,
    rule: ListRule,
    value: &mut Value,
    patch: &[Value],
) -> Result<(), StatusError> {
    if !value.is_array() {
        *value = Value::Array(Vec::new());
    }
    let Some(items) = value.as_array_mut() else { return Ok(()) };
    let replaces =
        patch.iter().any(|item| item.get("$patch").is_some_and(|word| word == "replace"));
    if replaces || rule == ListRule::Replace {
        let kept = patch.iter().filter(|item| item.get("$patch").is_none());
        *items = kept.cloned().collect();
        return Ok(());
    }
    for item in patch {
        match rule {
            ListRule::Set => {
                if !items.contains(item) {
                    items.push(item.clone());
                }
            }
            ListRule::Key(key) => {
                let Some(wanted) = item.get(key) else {
                    return Err(StatusError::internal(&format!(
                        "map: {item} does not contain declared merge key: {key}"
                    )));
                };
                let at = items.iter().position(|one| one.get(key) == Some(wanted));
                if item.get("$patch").is_some_and(|word| word == "delete") {
                    if let Some(at) = at {
                        items.remove(at);
                    }
                } else if let (Some(at), Some(patch)) = (at, item.as_object()) {
                    merge_object(resource, &mut items[at], patch)?;
                } else {
                    let mut new = Value::Null;
                    merge_object(resource, &mut new, item.as_object().unwrap_or(&Map::new()))?;
                    items.push(new);
                }
            }
            ListRule::Replace => {}
        }
    }
    Ok(())
}

/// Sorts the elements that the order names; the others follow.
fn reorder(rule: ListRule, items: &mut [Value], order: &[Value]) {
    let place = |item: &Value| {
        order.iter().position(|one| match rule {
            ListRule::Key(key) => one.get(key) == item.get(key),
            _ => one == item,
        })
    };
    items.sort_by_key(|item| place(item).unwrap_or(usize::MAX));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::kubernetes::api::state::Catalog;

    fn patched(resource: &str, mut value: Value, patch: &Value) -> Value {
        let resource = Catalog::built_in(false).named(resource).unwrap();
        apply(&resource, &mut value, patch).unwrap();
        value
    }

    #[test]
    fn conditions_merge_by_type_and_taints_are_replaced() {
        let node = json!({
            "spec": {"taints": [{"key": "a"}, {"key": "b"}]},
            "status": {"conditions": [{"type": "Ready", "status": "True", "reason": "r"}, {"type": "Disk", "status": "False"}]},
        });
        let patch = json!({
            "spec": {"taints": [{"key": "c"}]},
            "status": {"conditions": [{"type": "Ready", "status": "False"}]},
        });
        let expected = json!({
            "spec": {"taints": [{"key": "c"}]},
            "status": {"conditions": [{"type": "Ready", "status": "False", "reason": "r"}, {"type": "Disk", "status": "False"}]},
        });
        assert_eq!(patched("nodes", node, &patch), expected);
    }

    #[test]
    fn directives_remove_and_reorder() {
        let pod = json!({"metadata": {"finalizers": ["a", "b"]}, "spec": {"containers": [{"name": "x"}, {"name": "y"}]}});
        let patch = json!({
            "metadata": {"$deleteFromPrimitiveList/finalizers": ["a"]},
            "spec": {"$setElementOrder/containers": [{"name": "z"}, {"name": "y"}],
                "containers": [{"name": "x", "$patch": "delete"}, {"name": "z", "image": "i"}]},
        });
        let expected = json!({"metadata": {"finalizers": ["b"]}, "spec": {"containers": [{"name": "z", "image": "i"}, {"name": "y"}]}});
        assert_eq!(patched("pods", pod, &patch), expected);
    }
}
