//! The chart's rules, as Helm would render them.

use serde_json::Value;

const RBAC: &str = include_str!("../../../../charts/mooring/templates/rbac.yaml");

/// Roles and bindings for a release in this namespace. The templates hold one expression and no more.
pub(crate) fn rbac(namespace: &str) -> Vec<Value> {
    let text = RBAC.replace("{{ .Release.Namespace }}", namespace);
    assert!(!text.contains("{{"), "the templates have grown beyond what this reads");
    text.split("\n---\n").map(|part| serde_saphyr::from_str(part).unwrap()).collect()
}

#[test]
fn nothing_is_deleted_no_secret_is_read_and_only_a_status_is_written() {
    let roles: Vec<Value> =
        rbac("kube-system").into_iter().filter(|object| object.get("rules").is_some()).collect();
    assert_eq!(roles.len(), 3);
    for rule in roles.iter().flat_map(|role| role["rules"].as_array().unwrap()) {
        let words = |name: &str| -> Vec<&str> {
            rule[name].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect()
        };
        let (verbs, resources) = (words("verbs"), words("resources"));
        assert!(!verbs.contains(&"*") && !verbs.contains(&"delete"), "{rule}");
        assert!(!resources.contains(&"*") && !resources.contains(&"secrets"), "{rule}");
        if resources.contains(&"nodeclaims") {
            assert_eq!(verbs, ["get", "list", "watch"]);
        }
    }
}
