//! The rules that the chart grants, as the objects that it makes of them.

use serde_json::{Value, json};

const RULES: &str = include_str!("../../../../../charts/mooring/files/rules.yaml");

/// Roles and bindings for a release in this namespace. That the chart renders the same is a test of crates/mooring.
pub(crate) fn rbac(namespace: &str) -> Vec<Value> {
    let rules: Value = serde_saphyr::from_str(RULES).unwrap();
    let mut objects = Vec::new();
    for (kind, name, place, part) in [
        ("ClusterRole", "mooring", None, "cluster"),
        ("Role", "mooring-events", Some("default"), "events"),
        ("Role", "mooring", Some(namespace), "release"),
        ("Role", "mooring-upgrade", Some("kube-system"), "upgrade"),
    ] {
        let mut metadata = json!({"name": name});
        if let Some(place) = place {
            metadata["namespace"] = place.into();
        }
        let group = "rbac.authorization.k8s.io";
        objects.push(json!({
            "apiVersion": format!("{group}/v1"), "kind": kind, "metadata": metadata, "rules": rules[part],
        }));
        objects.push(json!({
            "apiVersion": format!("{group}/v1"), "kind": format!("{kind}Binding"), "metadata": metadata,
            "roleRef": {"apiGroup": group, "kind": kind, "name": name},
            "subjects": [{"kind": "ServiceAccount", "name": "mooring", "namespace": namespace}],
        }));
    }
    objects
}

#[test]
fn nothing_is_deleted_no_secret_is_read_and_only_a_status_is_written() {
    let roles: Vec<Value> =
        rbac("mooring-system").into_iter().filter(|object| object.get("rules").is_some()).collect();
    assert_eq!(roles.len(), 4);
    for rule in roles.iter().flat_map(|role| role["rules"].as_array().unwrap()) {
        let words = |name: &str| -> Vec<&str> {
            rule[name].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect()
        };
        let (verbs, resources) = (words("verbs"), words("resources"));
        assert!(!verbs.contains(&"*") && !verbs.contains(&"delete"), "{rule}");
        assert!(!resources.contains(&"*") && !resources.contains(&"secrets"), "{rule}");
        if verbs.contains(&"create") && resources != ["events"] {
            assert_eq!(rule.get("resourceNames"), None, "{rule}");
        }
        for (resource, least) in [
            ("nodeclaims", &["get", "list", "watch"][..]),
            ("nodes", &["list", "watch"]),
            ("certificatesigningrequests", &["list"]),
        ] {
            assert!(!resources.contains(&resource) || verbs == least, "{rule}");
        }
    }
}
