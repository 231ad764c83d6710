//! Commands for an image that fails. Karpenter chooses the image of a node: an AKSNodeClass names an image family and, in
//! newer versions only, exact versions.

use mooring_redact::shell_word;
use serde_json::{Value, json};

/// The disruption budget that keeps drifted nodes on their image.
fn drift_budget() -> Value {
    json!({"nodes": "0", "reasons": ["Drifted"]})
}

/// Returns the command that prepends the disruption budget. The others stay: the most restrictive one counts.
pub fn hold_drift(pool: &str) -> String {
    let patch =
        json!([{"op": "add", "path": "/spec/disruption/budgets/0", "value": drift_budget()}]);
    patch_command("nodepool", pool, "json", &patch)
}

/// Returns a command that changes an object.
pub fn patch_command(kind: &str, name: &str, form: &str, patch: &Value) -> String {
    format!("kubectl patch {kind} {} --type={form} -p '{patch}'", shell_word(name))
}

/// Returns true if the CRD of AKSNodeClass has `spec.versions` in a served version.
pub fn has_versions(definition: &Value) -> bool {
    let served = |version: &&Value| version["served"] == true;
    let versions = definition["spec"]["versions"].as_array().into_iter().flatten();
    versions.filter(served).any(|version| {
        let path = "/schema/openAPIV3Schema/properties/spec/properties/versions/properties";
        version.pointer(path).is_some_and(|members| members.get("nodeImageVersion").is_some())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drift_budget_is_prepended() {
        assert_eq!(
            hold_drift("default"),
            r#"kubectl patch nodepool default --type=json -p '[{"op":"add","path":"/spec/disruption/budgets/0","value":{"nodes":"0","reasons":["Drifted"]}}]'"#
        );
    }

    #[test]
    fn crd_decides_if_versions_can_be_pinned() {
        let text = include_str!("../../../simulator/fixtures/crds/aksnodeclasses.yaml");
        let mut definition: Value = serde_saphyr::from_str(text).unwrap();
        assert!(!has_versions(&definition));
        let path = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties";
        definition.pointer_mut(path).unwrap()["versions"] = json!({
            "type": "object",
            "properties": {"kubernetesVersion": {"type": "string"}, "nodeImageVersion": {"type": "string"}},
        });
        assert!(has_versions(&definition));
        definition["spec"]["versions"][0]["served"] = json!(false);
        assert!(!has_versions(&definition));
    }
}
