//! Commands for an image that fails.
//!
//! Karpenter chooses the image of a node: an AKSNodeClass names an image family and, in newer versions only,
//! exact versions. So the options are few, and are read from the cluster.

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

/// Returns the command that removes it, and fails if another disruption budget has taken its place.
pub fn release_drift(pool: &str) -> String {
    let first = "/spec/disruption/budgets/0";
    let patch = json!([
        {"op": "test", "path": first, "value": drift_budget()}, {"op": "remove", "path": first},
    ]);
    patch_command("nodepool", pool, "json", &patch)
}

fn patch_command(kind: &str, name: &str, form: &str, patch: &Value) -> String {
    format!("kubectl patch {kind} {} --type={form} -p '{patch}'", shell_word(name))
}

/// Resources that use a failing image, and options of the cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AffectedResources {
    pub pools: Vec<String>,
    pub classes: Vec<String>,
    /// True if an AKSNodeClass has `spec.versions`. None if the CRD could not be read.
    pub has_versions: Option<bool>,
}

/// Lists remediations for an image that fails, least invasive first.
pub fn steps(affected: &AffectedResources) -> Vec<String> {
    let mut steps = Vec::new();
    for pool in &affected.pools {
        steps.push(format!(
            "keep running nodes on their image (replacements in progress finish): {}; to revert: {}",
            hold_drift(pool),
            release_drift(pool)
        ));
        let limits = json!({"spec": {"limits": {"nodes": "0"}}});
        steps.push(format!(
            "create no more nodes in the NodePool (its pods stay Pending, and drift stops): {}",
            patch_command("nodepool", pool, "merge", &limits)
        ));
    }
    for class in &affected.classes {
        let versions = json!({"spec": {"versions":
            {"kubernetesVersion": "KUBERNETES_VERSION", "nodeImageVersion": "IMAGE_VERSION"}}});
        let pin = patch_command("aksnodeclass", class, "merge", &versions);
        steps.push(match affected.has_versions {
            Some(true) => format!(
                "pin the last version that worked (both versions from the status of the AKSNodeClass): {pin}"
            ),
            Some(false) => "no image version can be pinned: the AKSNodeClass of this cluster has no spec.versions"
                .to_owned(),
            None => format!(
                "if `kubectl explain aksnodeclass.spec.versions` finds that field, pin the last version that worked: {pin}"
            ),
        });
        let family = json!({"spec": {"imageFamily": "FAMILY"}});
        steps.push(format!(
            "use another image family (Ubuntu, Ubuntu2204, Ubuntu2404 or AzureLinux): {}",
            patch_command("aksnodeclass", class, "merge", &family)
        ));
    }
    steps.push(
        "in an AKS node pool: `az aks nodepool rollback` (Azure CLI 2.88.0 or later; one step back within 7 days, \
         only with upgrade channel none, and a node OS upgrade channel moves the image forward again)"
            .to_owned(),
    );
    steps
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

    fn affected(has_versions: Option<bool>) -> AffectedResources {
        AffectedResources {
            pools: vec!["default".into()],
            classes: vec!["linux".into()],
            has_versions,
        }
    }

    #[test]
    fn drift_budget_is_prepended() {
        assert_eq!(
            hold_drift("default"),
            r#"kubectl patch nodepool default --type=json -p '[{"op":"add","path":"/spec/disruption/budgets/0","value":{"nodes":"0","reasons":["Drifted"]}}]'"#
        );
    }

    #[test]
    fn drift_budget_is_removed_only_if_it_is_first() {
        assert_eq!(
            release_drift("default"),
            r#"kubectl patch nodepool default --type=json -p '[{"op":"test","path":"/spec/disruption/budgets/0","value":{"nodes":"0","reasons":["Drifted"]}},{"op":"remove","path":"/spec/disruption/budgets/0"}]'"#
        );
    }

    #[test]
    fn image_is_pinned_only_if_the_crd_supports_it() {
        let all = |has_versions| steps(&affected(has_versions)).join("\n");
        assert!(all(Some(true)).contains(
            r#"kubectl patch aksnodeclass linux --type=merge -p '{"spec":{"versions":{"kubernetesVersion":"KUBERNETES_VERSION","nodeImageVersion":"IMAGE_VERSION"}}}'"#
        ));
        assert!(all(Some(false)).contains("no image version can be pinned"));
        assert!(!all(Some(false)).contains("nodeImageVersion"));
        assert!(all(None).contains("kubectl explain aksnodeclass.spec.versions"));
        for text in [all(Some(true)), all(Some(false)), all(None)] {
            assert!(!text.contains("imageVersion\""), "AKSNodeClass has no such member: {text}");
            assert!(text.contains("az aks nodepool rollback"), "{text}");
        }
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
