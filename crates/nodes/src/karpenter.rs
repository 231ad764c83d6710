//! NodePools and AKSNodeClasses, as far as mitigations depend on them.

use mooring_redact::shell_word;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::claim::image;
use crate::count::Listed;

const BUDGETS: &str = "/spec/disruption/budgets";

/// Objects of Karpenter. None if they were not read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Karpenter {
    pub node_pools: Option<Vec<NodePool>>,
    pub node_classes: Option<Vec<NodeClass>>,
    /// True if an AKSNodeClass can pin an image version.
    pub has_versions: Option<bool>,
}

impl Karpenter {
    /// Returns the names of the NodePools, with or without nodes, that were read.
    pub fn pool_names(&self) -> impl Iterator<Item = &str> {
        self.node_pools.iter().flatten().map(|pool| pool.name.as_str())
    }

    /// Returns a NodePool, or none if it is not known.
    pub fn pool(&self, name: &str) -> Option<&NodePool> {
        self.node_pools.iter().flatten().find(|pool| pool.name == name)
    }

    /// Returns true only if the NodePools were read, and this is not one of them.
    pub fn is_gone(&self, pool: &str) -> bool {
        self.node_pools.is_some() && self.pool(pool).is_none()
    }

    pub(crate) fn class_of(&self, pool: &NodePool) -> Option<&NodeClass> {
        let name = pool.node_class.as_deref()?;
        self.node_classes.iter().flatten().find(|class| class.name == name)
    }

    /// Returns the mitigations that are in effect for a pool, or for all of them.
    pub fn mitigations(&self, pool: Option<&str>) -> Listed<Mitigation> {
        let is_wanted = |one: &&NodePool| pool.is_none_or(|pool| pool == one.name);
        let pools: Vec<&NodePool> = self.node_pools.iter().flatten().filter(is_wanted).collect();
        let is_used = |class: &&NodeClass| {
            let mut names = pools.iter().filter_map(|pool| pool.node_class.as_deref());
            pool.is_none() || names.any(|name| name == class.name)
        };
        let of_pools = pools.iter().flat_map(|pool| [pool.drift_hold(), pool.zero_limit()]);
        let classes = self.node_classes.iter().flatten().filter(is_used);
        let found = of_pools.flatten().chain(classes.filter_map(NodeClass::pin)).collect();
        Listed::of(found, self.node_pools.is_some() && self.node_classes.is_some())
    }
}

/// A mitigation that is in effect, and the command that ends it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mitigation {
    pub message: String,
    pub undo: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NodePool {
    pub name: String,
    pub node_class: Option<String>,
    /// `spec.disruption.budgets`.
    pub budgets: Vec<Value>,
    /// `spec.limits`.
    pub limits: Map<String, Value>,
}

impl NodePool {
    pub fn parse(object: &RawValue) -> Option<Self> {
        let object: Value = serde_json::from_str(object.get()).ok()?;
        let spec = &object["spec"];
        let class = spec["template"]["spec"]["nodeClassRef"]["name"].as_str();
        Some(Self {
            name: object["metadata"]["name"].as_str()?.to_owned(),
            node_class: class.map(str::to_owned),
            budgets: spec["disruption"]["budgets"].as_array().cloned().unwrap_or_default(),
            limits: spec["limits"].as_object().cloned().unwrap_or_default(),
        })
    }

    /// Returns the places of disruption budgets that always forbid drift.
    fn holds(&self) -> Vec<usize> {
        let budgets = self.budgets.iter().enumerate();
        budgets.filter(|(_, budget)| forbids_drift(budget)).map(|(at, _)| at).collect()
    }

    pub fn holds_drift(&self) -> bool {
        !self.holds().is_empty()
    }

    fn drift_hold(&self) -> Option<Mitigation> {
        let holds = self.holds();
        // The last first: a removal moves those after it.
        let mut patch: Vec<Value> = holds
            .iter()
            .rev()
            .flat_map(|at| {
                let path = format!("{BUDGETS}/{at}");
                let budget = &self.budgets[*at];
                [
                    json!({"op": "test", "path": path, "value": budget}),
                    json!({"op": "remove", "path": path}),
                ]
            })
            .collect();
        // Without a list the API server sets the default; an empty list would allow every disruption.
        if holds.len() == self.budgets.len() {
            patch.push(json!({"op": "remove", "path": BUDGETS}));
        }
        let name = &self.name;
        (!holds.is_empty()).then(|| Mitigation {
            message: format!(
                "Drift of NodePool {name} is held by a disruption budget of 0: its nodes keep their image."
            ),
            undo: patch_command("nodepool", name, "json", &Value::Array(patch)),
        })
    }

    /// Returns the resources whose limit is 0.
    fn zero_limits(&self) -> Vec<&str> {
        let limits = self.limits.iter().filter(|(_, value)| is_zero(value));
        limits.map(|(resource, _)| resource.as_str()).collect()
    }

    pub fn creates_no_nodes(&self) -> bool {
        !self.zero_limits().is_empty()
    }

    fn zero_limit(&self) -> Option<Mitigation> {
        let zero = self.zero_limits();
        let limits: Map<String, Value> =
            zero.iter().map(|resource| ((*resource).to_owned(), Value::Null)).collect();
        let name = &self.name;
        (!zero.is_empty()).then(|| Mitigation {
            message: format!(
                "NodePool {name} creates no nodes: its limit of {} is 0.",
                zero.join(" and ")
            ),
            undo: patch_command("nodepool", name, "merge", &json!({"spec": {"limits": limits}})),
        })
    }
}

/// A budget with a schedule applies at times only.
fn forbids_drift(budget: &Value) -> bool {
    let reasons = budget["reasons"].as_array();
    let is_about_drift =
        reasons.is_none_or(|all| all.is_empty() || all.iter().any(|reason| reason == "Drifted"));
    matches!(budget["nodes"].as_str(), Some("0" | "0%"))
        && is_about_drift
        && budget["schedule"].is_null()
}

/// Returns true for a quantity of 0, such as `0`, `"0"` or `"0Gi"`.
fn is_zero(quantity: &Value) -> bool {
    let text = quantity.as_str().map_or_else(|| quantity.to_string(), str::to_owned);
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    number.parse::<f64>().is_ok_and(|number| number.abs() < f64::EPSILON)
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NodeClass {
    pub name: String,
    pub image_family: Option<String>,
    /// `spec.versions`; null if nothing is pinned.
    pub versions: Value,
    /// Pairs that may be pinned.
    pub recently_used: Vec<Versions>,
}

/// A version of Kubernetes and a version of the node image, which are pinned together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Versions {
    pub kubernetes: String,
    pub image: String,
}

impl NodeClass {
    pub fn parse(object: &RawValue) -> Option<Self> {
        let object: Value = serde_json::from_str(object.get()).ok()?;
        let (spec, status) = (&object["spec"], &object["status"]);
        // The place of the list differs between versions of the provider.
        let mut places = [&status["observedVersions"], &status["versions"], status].into_iter();
        let used = places.find_map(|place| place["recentlyUsedVersions"].as_array());
        let pair = |one: &Value| {
            let text = |name: &str| one[name].as_str().map(str::to_owned);
            Some(Versions {
                kubernetes: text("kubernetesVersion")?,
                image: text("nodeImageVersion")?,
            })
        };
        Some(Self {
            name: object["metadata"]["name"].as_str()?.to_owned(),
            image_family: spec["imageFamily"].as_str().map(str::to_owned),
            versions: spec["versions"].clone(),
            recently_used: used.into_iter().flatten().filter_map(pair).collect(),
        })
    }

    /// Returns the version of the image that is pinned.
    pub(crate) fn pinned_image(&self) -> Option<&str> {
        self.versions["nodeImageVersion"].as_str().map(image::version)
    }

    fn pin(&self) -> Option<Mitigation> {
        let (name, image) = (&self.name, self.pinned_image()?);
        Some(Mitigation {
            message: format!("AKSNodeClass {name} is pinned to image {image}."),
            undo: self.patch(&json!({"spec": {"versions": null}})),
        })
    }

    pub(crate) fn patch(&self, patch: &Value) -> String {
        patch_command("aksnodeclass", &self.name, "merge", patch)
    }
}

/// The disruption budget that keeps drifted nodes on their image.
pub(crate) fn drift_budget() -> Value {
    json!({"nodes": "0", "reasons": ["Drifted"]})
}

/// Returns the command that prepends the disruption budget. The others stay: the most restrictive one counts.
pub(crate) fn hold_drift(pool: &str) -> String {
    let patch =
        json!([{"op": "add", "path": "/spec/disruption/budgets/0", "value": drift_budget()}]);
    patch_command("nodepool", pool, "json", &patch)
}

/// Returns a command that changes an object.
pub(crate) fn patch_command(kind: &str, name: &str, form: &str, patch: &Value) -> String {
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
#[allow(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;

    fn pool(spec: &Value) -> NodePool {
        let object = json!({"metadata": {"name": "default"}, "spec": spec}).to_string();
        NodePool::parse(&RawValue::from_string(object).unwrap()).unwrap()
    }

    fn shown(spec: &Value) -> String {
        let karpenter = Karpenter { node_pools: Some(vec![pool(spec)]), ..Karpenter::default() };
        let mitigations = karpenter.mitigations(Some("default")).into_iter();
        let lines = mitigations.flat_map(|one| [one.message, one.undo]);
        lines.map(|line| line + "\n").collect()
    }

    #[test]
    fn mitigations_have_the_command_that_ends_them() {
        let budget = json!({"nodes": "0", "reasons": ["Drifted"]});
        let ten = json!({"nodes": "10%"});
        let held = "Drift of NodePool default is held by a disruption budget of 0: its nodes keep their image.\n";
        let limit = "NodePool default creates no nodes: its limit of nodes is 0.\n";
        for (spec, expected) in [
            (
                json!({"disruption": {"budgets": [budget, ten]}}),
                format!(
                    "{held}kubectl patch nodepool default --type=json -p '[{{\"op\":\"test\",\"path\":\"/spec/disruption/budgets/0\",\"value\":{{\"nodes\":\"0\",\"reasons\":[\"Drifted\"]}}}},{{\"op\":\"remove\",\"path\":\"/spec/disruption/budgets/0\"}}]'\n"
                ),
            ),
            (
                json!({"disruption": {"budgets": [{"nodes": "0"}]}}),
                format!(
                    "{held}kubectl patch nodepool default --type=json -p '[{{\"op\":\"test\",\"path\":\"/spec/disruption/budgets/0\",\"value\":{{\"nodes\":\"0\"}}}},{{\"op\":\"remove\",\"path\":\"/spec/disruption/budgets/0\"}},{{\"op\":\"remove\",\"path\":\"/spec/disruption/budgets\"}}]'\n"
                ),
            ),
            (
                json!({"limits": {"nodes": "0", "cpu": "100"}}),
                format!(
                    "{limit}kubectl patch nodepool default --type=merge -p '{{\"spec\":{{\"limits\":{{\"nodes\":null}}}}}}'\n"
                ),
            ),
            (
                json!({"disruption": {"budgets": [ten]}, "limits": {"cpu": "10", "memory": "10Gi"}}),
                String::new(),
            ),
            (
                json!({"disruption": {"budgets": [{"nodes": "0", "reasons": ["Empty"]}, {"nodes": "0", "schedule": "@daily", "duration": "1h"}]}}),
                String::new(),
            ),
        ] {
            assert_eq!(shown(&spec), expected, "{spec}");
        }
    }

    #[test]
    fn quantities_of_zero_have_many_forms() {
        for (quantity, expected) in [
            (json!("0"), true),
            (json!(0), true),
            (json!("0Gi"), true),
            (json!("0.0"), true),
            (json!("10"), false),
            (json!("1m"), false),
            (json!(""), false),
            (json!(null), false),
        ] {
            assert_eq!(is_zero(&quantity), expected, "{quantity}");
        }
    }

    #[test]
    fn pool_is_gone_only_if_the_pools_were_read() {
        let unread = Karpenter::default();
        let read = Karpenter { node_pools: Some(Vec::new()), ..Karpenter::default() };
        assert_eq!([unread.is_gone("default"), read.is_gone("default")], [false, true]);
    }

    #[test]
    pub(crate) fn drift_budget_is_prepended() {
        assert_eq!(
            hold_drift("default"),
            r#"kubectl patch nodepool default --type=json -p '[{"op":"add","path":"/spec/disruption/budgets/0","value":{"nodes":"0","reasons":["Drifted"]}}]'"#
        );
    }

    #[test]
    fn crd_decides_if_versions_can_be_pinned() {
        let text = include_str!("../../../lab/simulator/fixtures/crds/aksnodeclasses.yaml");
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
