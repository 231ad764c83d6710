//! Members of a pool, or of an object whose finalizers are removed, that may hold secrets.
//!
//! Azure never answers write-only members, so a snapshot should hold none of them. Should one be there all
//! the same, it does not go into a journal, a plan or a report.

use mooring_contract::MASK;
use serde_json::Value;

/// Whoever sees a node sees its labels, and pods are placed by them: whatever their names hold, they stay.
const SEEN_BY_ALL: &str = "nodeLabels";

/// A name that holds one of these holds a secret, in any case.
const WORDS: [&str; 17] = [
    "passwd",
    "passphrase",
    "pwd",
    "sharedkey",
    "accesskey",
    "accountkey",
    "apikey",
    "kubeconfig",
    "sasurl",
    "password",
    "secret",
    "token",
    "customheaders",
    "privatekey",
    "connectionstring",
    "credential",
    "protectedsettings",
];

/// Removes sensitive members and says which, as pointers.
pub fn strip(value: &mut Value) -> Vec<String> {
    let mut stripped = Vec::new();
    walk(value, &mut String::new(), &mut |members, name, path| {
        members.remove(name);
        stripped.push(path.to_owned());
    });
    stripped
}

/// A copy for people, with a mask in place of sensitive values.
#[must_use]
pub fn masked(value: &Value) -> Value {
    let mut copy = value.clone();
    walk(&mut copy, &mut String::new(), &mut |members, name, _| {
        members.insert(name.to_owned(), MASK.into());
    });
    copy
}

type Act<'a> = dyn FnMut(&mut serde_json::Map<String, Value>, &str, &str) + 'a;

fn walk(value: &mut Value, path: &mut String, act: &mut Act<'_>) {
    match value {
        Value::Object(members) => {
            let names: Vec<String> = members.keys().cloned().collect();
            for name in names.into_iter().filter(|name| name != SEEN_BY_ALL) {
                let length = path.len();
                path.push('/');
                path.push_str(&name);
                if holds_a_secret(members, &name) {
                    act(members, &name, path);
                } else if let Some(inner) = members.get_mut(&name) {
                    walk(inner, path, act);
                }
                path.truncate(length);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                let length = path.len();
                path.push('/');
                path.push_str(&index.to_string());
                walk(item, path, act);
                path.truncate(length);
            }
        }
        _ => {}
    }
}

/// A switch (`disablePasswordAuthentication`) is no secret.
fn is_empty(value: &Value) -> bool {
    matches!(value, Value::Null | Value::Bool(_))
}

/// By its own name, or as the value of a variable whose name stands beside it.
fn holds_a_secret(members: &serde_json::Map<String, Value>, name: &str) -> bool {
    let beside = if name == "value" { members.get("name").and_then(Value::as_str) } else { None };
    let sensitive = is_sensitive(name) || beside.is_some_and(is_sensitive);
    sensitive && members.get(name).is_some_and(|value| !is_empty(value))
}

fn is_sensitive(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace(['-', '_'], "");
    name == "dsn" || WORDS.iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn secrets_of_custom_resources_are_found_in_all_their_forms() {
        let mut object = json!({"spec": {"apiKey": "hunter2", "adminPassword": 12_345_678, "dsn": "db://u:hunter2@h",
            "env": [{"name": "DB_PASSWORD", "value": "hunter2"}, {"name": "LEVEL", "value": "info"}],
            "value": "plain", "name": "x"}});
        strip(&mut object);
        let kept = json!({"spec": {"env": [{"name": "DB_PASSWORD"}, {"name": "LEVEL", "value": "info"}],
            "value": "plain", "name": "x"}});
        assert_eq!(object, kept);
    }

    #[test]
    fn secrets_are_stripped_and_named() {
        let mut pool = json!({"properties": {"vmSize": "x", "windowsProfile": {"adminPassword": "hunter2"},
            "list": [{"custom-Headers": {"a": "b"}}, {"ok": 1}], "disablePasswordAuthentication": true,
            "nodeLabels": {"vault/secrets-provider": "x"}}});
        let copy = masked(&pool);
        assert_eq!(copy["properties"]["windowsProfile"]["adminPassword"], MASK);
        assert_eq!(copy["properties"]["list"][0]["custom-Headers"], MASK);
        assert_eq!(copy["properties"]["disablePasswordAuthentication"], true);
        assert!(!copy.to_string().contains("hunter2"));
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
