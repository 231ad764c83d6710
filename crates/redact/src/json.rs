//! Members of JSON documents that may hold secrets.

use serde_json::{Map, Value};

use crate::names::is_secret_member;

/// Labels of nodes are public, and pods are scheduled by them: their names do not matter.
const PUBLIC: &str = "nodeLabels";

/// Removes members that may hold secrets, and returns their JSON pointers.
pub fn strip(value: &mut Value) -> Vec<String> {
    let mut stripped = Vec::new();
    walk(value, &mut String::new(), &mut stripped);
    stripped
}

fn walk(value: &mut Value, path: &mut String, stripped: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            let names: Vec<String> = members.keys().cloned().collect();
            for name in names.into_iter().filter(|name| name != PUBLIC) {
                let length = path.len();
                path.push('/');
                path.push_str(&name);
                if is_secret(members, &name) {
                    members.remove(&name);
                    stripped.push(path.clone());
                } else if let Some(inner) = members.get_mut(&name) {
                    walk(inner, path, stripped);
                }
                path.truncate(length);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                let length = path.len();
                path.push('/');
                path.push_str(&index.to_string());
                walk(item, path, stripped);
                path.truncate(length);
            }
        }
        _ => {}
    }
}

/// Returns true for a secret by its own name, or as the value of a variable that its sibling `name` names. A switch
/// (`disablePasswordAuthentication`) is not a secret.
fn is_secret(members: &Map<String, Value>, name: &str) -> bool {
    let variable = if name == "value" { members.get("name").and_then(Value::as_str) } else { None };
    let is_named = is_secret_member(name) || variable.is_some_and(is_secret_member);
    is_named && !matches!(members.get(name), None | Some(Value::Null | Value::Bool(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn secrets_of_custom_resources_are_stripped_in_all_forms() {
        let mut object = json!({"spec": {"apiKey": "hunter2", "adminPassword": 12_345_678, "dsn": "db://u:hunter2@h",
            "env": [{"name": "DB_PASSWORD", "value": "hunter2"}, {"name": "LEVEL", "value": "info"}],
            "value": "plain", "name": "x"}});
        strip(&mut object);
        let kept = json!({"spec": {"env": [{"name": "DB_PASSWORD"}, {"name": "LEVEL", "value": "info"}],
            "value": "plain", "name": "x"}});
        assert_eq!(object, kept);
    }

    #[test]
    fn stripped_members_are_returned_as_pointers() {
        let mut pool = json!({"properties": {"vmSize": "x", "windowsProfile": {"adminPassword": "hunter2"},
            "list": [{"custom-Headers": {"a": "b"}}, {"ok": 1}], "disablePasswordAuthentication": true,
            "nodeLabels": {"vault/secrets-provider": "x"}}});
        let mut stripped = strip(&mut pool);
        stripped.sort();
        assert_eq!(
            stripped,
            ["/properties/list/0/custom-Headers", "/properties/windowsProfile/adminPassword"]
        );
        assert_eq!(
            pool,
            json!({"properties": {"vmSize": "x", "windowsProfile": {}, "list": [{}, {"ok": 1}],
            "disablePasswordAuthentication": true, "nodeLabels": {"vault/secrets-provider": "x"}}})
        );
    }
}
