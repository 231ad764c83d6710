//! Strategic merge patch: like a merge patch, but lists with a key merge by it.

use serde_json::{Map, Value};

use crate::kubernetes::api::state::{ApiResult, ListType, Resource, StatusError};
use crate::kubernetes::store::objects::members;

/// Returns the type of a list in built-in objects by its name; the same names have the same type in all
/// supported kinds but services.
fn list_type(plural: &str, name: &str) -> ListType {
    let key = match name {
        "containers"
        | "initContainers"
        | "ephemeralContainers"
        | "env"
        | "volumes"
        | "imagePullSecrets"
        | "secrets" => "name",
        "conditions" | "addresses" => "type",
        "volumeMounts" => "mountPath",
        "volumeDevices" => "devicePath",
        "ports" if plural == "services" => "port",
        "ports" => "containerPort",
        "hostAliases" | "podIPs" => "ip",
        "topologySpreadConstraints" => "topologyKey",
        "ownerReferences" => "uid",
        "finalizers" | "podCIDRs" => return ListType::Set,
        _ => return ListType::Atomic,
    };
    ListType::Map(vec![key.to_owned()])
}

pub(super) fn apply(resource: &Resource, value: &mut Value, patch: &Value) -> ApiResult<()> {
    let Value::Object(patch) = patch else {
        *value = patch.clone();
        return Ok(());
    };
    merge_object(&resource.plural, value, patch)
}

fn merge_object(plural: &str, value: &mut Value, patch: &Map<String, Value>) -> ApiResult<()> {
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
                merge_object(plural, own.entry(name).or_insert(Value::Null), patch)?;
            }
            Value::Array(patch) => {
                let old = own.entry(name).or_insert(Value::Null);
                merge_list(plural, &list_type(plural, name), old, patch)?;
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
            reorder(&list_type(plural, list), items, order);
        }
    }
    Ok(())
}

fn merge_list(plural: &str, list: &ListType, value: &mut Value, patch: &[Value]) -> ApiResult<()> {
    if !value.is_array() {
        *value = Value::Array(Vec::new());
    }
    let Some(items) = value.as_array_mut() else { return Ok(()) };
    let replaces =
        patch.iter().any(|item| item.get("$patch").is_some_and(|word| word == "replace"));
    if replaces || *list == ListType::Atomic {
        let kept = patch.iter().filter(|item| item.get("$patch").is_none());
        *items = kept.cloned().collect();
        return Ok(());
    }
    for item in patch {
        let ListType::Map(keys) = list else {
            if !items.contains(item) {
                items.push(item.clone());
            }
            continue;
        };
        if let Some(key) = keys.iter().find(|key| item.get(key).is_none()) {
            return Err(StatusError::internal(&format!(
                "map: {item} does not contain declared merge key: {key}"
            )));
        }
        let at = items.iter().position(|one| list.key_of(one) == list.key_of(item));
        if item.get("$patch").is_some_and(|word| word == "delete") {
            if let Some(at) = at {
                items.remove(at);
            }
            continue;
        }
        let at = at.unwrap_or_else(|| {
            items.push(Value::Null);
            items.len() - 1
        });
        if let Some(patch) = item.as_object() {
            merge_object(plural, &mut items[at], patch)?;
        }
    }
    Ok(())
}

/// Sorts the elements that the order names; the others follow.
fn reorder(list: &ListType, items: &mut [Value], order: &[Value]) {
    let place = |item: &Value| order.iter().position(|one| list.key_of(one) == list.key_of(item));
    items.sort_by_key(|item| place(item).unwrap_or(usize::MAX));
}
