//! Validation of agent pools.

use serde_json::{Map, Value};

use crate::azure::api::request::ArmError;
use crate::azure::state::string;

/// Properties that cannot change after a pool's creation.
const IMMUTABLE: [&str; 10] = [
    "vmSize",
    "osType",
    "osDiskType",
    "osDiskSizeGB",
    "type",
    "vnetSubnetID",
    "podSubnetID",
    "maxPods",
    "scaleSetPriority",
    "availabilityZones",
];

const MAX_NODES: i64 = 1000;

/// Names have a lowercase letter and up to eleven letters or digits; for Windows up to five.
pub(crate) fn check_name(name: &str, properties: &Map<String, Value>) -> Result<(), ArmError> {
    let longest = if string(properties, "osType") == "Windows" { 6 } else { 12 };
    let mut letters = name.bytes();
    let begins = letters.next().is_some_and(|first| first.is_ascii_lowercase());
    let goes_on = letters.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    if begins && goes_on && name.len() <= longest {
        return Ok(());
    }
    Err(ArmError::invalid_parameter(format!(
        "The value of parameter agentPool.name is invalid. Error details: The name '{name}' does not match the pattern '^[a-z][a-z0-9]{{0,{}}}$'. Please see https://aka.ms/aks-naming-rules for more details.",
        longest - 1
    )))
}

/// Returns true for a pool of single VMs, which has sizes and counts in a separate profile.
pub(crate) fn is_of_machines(properties: &Map<String, Value>) -> bool {
    string(properties, "type") == "VirtualMachines" || string(properties, "mode") == "Machines"
}

pub(crate) fn is_stopped(properties: &Map<String, Value>) -> bool {
    properties.get("powerState").is_some_and(|state| state["code"] == "Stopped")
}

/// A new pool has a size; a pool of single VMs has a profile instead.
pub(crate) fn check_size(properties: &Map<String, Value>) -> Result<(), ArmError> {
    let there = |name: &str| properties.get(name).is_some_and(|value| !value.is_null());
    if is_of_machines(properties) {
        if there("vmSize") || there("count") || there("availabilityZones") {
            return Err(ArmError::invalid_parameter(
                "agentPoolProfile.vmSize, count and availabilityZones cannot be set for agent pools of type VirtualMachines; use virtualMachinesProfile.",
            ));
        }
    } else if properties.get("vmSize").and_then(Value::as_str).is_none() {
        return Err(ArmError::invalid_parameter(
            "Required parameter agentPoolProfile.vmSize is missing (null).",
        ));
    }
    Ok(())
}

pub(crate) fn check_counts(properties: &Map<String, Value>) -> Result<(), ArmError> {
    if is_of_machines(properties) {
        return Ok(());
    }
    let number = |name: &str| properties.get(name).and_then(Value::as_i64);
    let invalid = |name: &str, why: &str| {
        Err(ArmError::invalid_parameter(format!(
            "The value of parameter agentPoolProfile.{name} is invalid. Error details: {why}. Please see https://aka.ms/aks-naming-rules for more details."
        )))
    };
    let is_system = string(properties, "mode") == "System";
    let least = i64::from(is_system);
    let count = number("count").unwrap_or(1);
    if !(least..=MAX_NODES).contains(&count) {
        let mode = if is_system { "System" } else { "User" };
        let why = format!("{mode} node pools have {least} to {MAX_NODES} nodes, not {count}");
        return invalid("count", &why);
    }
    if properties.get("enableAutoScaling").and_then(Value::as_bool) != Some(true) {
        return match number("minCount").or(number("maxCount")) {
            Some(_) => invalid("minCount", "minCount and maxCount need enableAutoScaling"),
            None => Ok(()),
        };
    }
    let (Some(min), Some(max)) = (number("minCount"), number("maxCount")) else {
        return invalid("minCount", "enableAutoScaling needs minCount and maxCount");
    };
    if min < least || max > MAX_NODES || min > max {
        let why = format!(
            "minCount {min} and maxCount {max} are not a range from {least} to {MAX_NODES}"
        );
        return invalid("minCount", &why);
    }
    if count < min || count > max {
        let why = format!("count {count} is not between minCount {min} and maxCount {max}");
        return invalid("count", &why);
    }
    Ok(())
}

/// Rejects changes of immutable properties.
pub(crate) fn check_unchanged(old: &Value, new: &Map<String, Value>) -> Result<(), ArmError> {
    for name in IMMUTABLE {
        let before = &old["properties"][name];
        // A disk of 0 GB has the default size.
        let default = |after: &Value| name == "osDiskSizeGB" && after.as_i64() == Some(0);
        let differs = new
            .get(name)
            .is_some_and(|after| !after.is_null() && !default(after) && after != before);
        if differs {
            return Err(ArmError::aks(
                400,
                "PropertyChangeNotAllowed",
                format!("Changing property 'properties.{name}' is not allowed."),
            ));
        }
    }
    Ok(())
}

/// Keeps immutable properties that an update omits.
pub(crate) fn keep_immutable(old: &Value, new: &mut Map<String, Value>) {
    for name in IMMUTABLE.iter().chain(&["mode", "osSKU", "count"]) {
        let before = &old["properties"][*name];
        if !before.is_null() {
            new.entry(*name).or_insert_with(|| before.clone());
        }
    }
}

/// Returns the cores of a VM size: the first number in its name (`Standard_E8ds_v5`: 8).
pub(crate) fn cores(size: &str) -> i64 {
    let family = size.strip_prefix("Standard_").unwrap_or(size);
    let digits: String = family
        .chars()
        .skip_while(|c| !c.is_ascii_digit())
        .take_while(char::is_ascii_digit)
        .collect();
    digits.parse().unwrap_or(2)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pool_names_have_a_letter_and_a_maximum_length() {
        let allowed = |name: &str, os: &str| {
            check_name(name, json!({"osType": os}).as_object().unwrap()).is_ok()
        };
        for (name, linux, windows) in [
            ("system", true, true),
            ("winnp1", true, true),
            ("winnp12", true, false),
            ("a", true, true),
            ("abcdefghijkl", true, false),
            ("abcdefghijklm", false, false),
            ("1a", false, false),
            ("Sys", false, false),
            ("a-b", false, false),
            ("", false, false),
        ] {
            assert_eq!(
                (allowed(name, "Linux"), allowed(name, "Windows")),
                (linux, windows),
                "{name}"
            );
        }
    }

    #[test]
    fn counts_fit_mode_and_range() {
        let good = |value: Value| check_counts(value.as_object().unwrap()).is_ok();
        assert!(good(json!({"count": 0, "mode": "User"})));
        assert!(!good(json!({"count": 0, "mode": "System"})));
        assert!(!good(json!({"count": 1001})));
        assert!(!good(json!({"count": 1, "minCount": 1})));
        assert!(!good(json!({"count": 1, "enableAutoScaling": true})));
        assert!(good(json!({"count": 3, "enableAutoScaling": true, "minCount": 3, "maxCount": 5})));
        assert!(!good(
            json!({"count": 2, "enableAutoScaling": true, "minCount": 3, "maxCount": 5})
        ));
        assert!(!good(
            json!({"count": 2, "enableAutoScaling": true, "minCount": 0, "maxCount": 5, "mode": "System"})
        ));
    }

    #[test]
    fn a_size_names_its_processors() {
        for (size, expected) in [("Standard_E8ds_v5", 8), ("Standard_DS1_v2", 1), ("x", 2)] {
            assert_eq!(cores(size), expected);
        }
    }
}
