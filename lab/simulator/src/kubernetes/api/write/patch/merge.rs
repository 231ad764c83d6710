//! JSON merge patch: objects merge, null removes, everything else replaces.

use serde_json::Value;

use crate::kubernetes::store::objects::members;

pub(super) fn apply(value: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *value = patch.clone();
        return;
    };
    let members = members(value);
    for (name, patch) in patch {
        if patch.is_null() {
            members.remove(name);
        } else {
            apply(members.entry(name).or_insert(Value::Null), patch);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lists_are_replaced_and_nulls_remove() {
        let mut value = json!({"a": [1, 2], "b": {"c": 1, "d": 2}, "e": 1});
        apply(&mut value, &json!({"a": [3], "b": {"c": null}, "f": {"g": null, "h": 1}}));
        assert_eq!(value, json!({"a": [3], "b": {"d": 2}, "e": 1, "f": {"h": 1}}));
    }
}
