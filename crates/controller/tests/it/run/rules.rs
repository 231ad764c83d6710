//! RBAC objects from the chart's rules.

use serde_json::{Value, json};

const RULES: &str = include_str!("../../../../../charts/mooring/files/rules.yaml");

/// Returns roles and bindings for a release in this namespace. A test in crates/mooring verifies that the
/// chart renders the same.
pub(crate) fn rbac(namespace: &str) -> Vec<Value> {
    let rules: Value = serde_saphyr::from_str(RULES).unwrap();
    let mut objects = Vec::new();
    for (kind, name, fixture, part) in [
        ("ClusterRole", "mooring", None, "cluster"),
        ("Role", "mooring-events", Some("default"), "events"),
        ("Role", "mooring", Some(namespace), "release"),
        ("Role", "mooring-page", Some(namespace), "page"),
    ] {
        let mut metadata = json!({"name": name});
        if let Some(fixture) = fixture {
            metadata["namespace"] = fixture.into();
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
fn rbac_rules_allow_no_delete_and_no_secret() {
    let roles: Vec<Value> =
        rbac("mooring-system").into_iter().filter(|object| object.get("rules").is_some()).collect();
    assert_eq!(roles.len(), 4);
    for rule in roles.iter().flat_map(|role| role["rules"].as_array().unwrap()) {
        let values = |name: &str| -> Vec<&str> {
            rule[name].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect()
        };
        let (verbs, resources) = (values("verbs"), values("resources"));
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
