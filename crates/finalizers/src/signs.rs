//! Signs of a running operator: Leases, writes, events, webhooks, and groups whose controllers the cluster does not show.

use jiff::Timestamp;
use serde_json::Value;

use crate::profile::{Profile, is_within};

/// Field managers and event sources that are not an operator: user tools, Kubernetes, and Mooring.
///
/// Whole names: `helm-operator` is an operator, `helm` is not. `kubectl-…` and `mooring-…` also match.
const OTHER_MANAGERS: [&str; 13] = [
    "kubectl",
    "helm",
    "k9s",
    "mooring",
    "argocd-controller",
    "argocd-application-controller",
    "kustomize-controller",
    "helm-controller",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kubelet",
    "cloud-controller-manager",
];

fn is_other_manager(name: &str) -> bool {
    OTHER_MANAGERS.contains(&name) || name.starts_with("kubectl-") || name.starts_with("mooring-")
}

/// The latest write in `managedFields` that is not by a user tool, Kubernetes or Mooring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OperatorWrites {
    None,
    By {
        manager: String,
        at: Timestamp,
    },
    /// No entries, or one without a time.
    Unknown,
}

impl OperatorWrites {
    pub(crate) fn read(metadata: &Value) -> Self {
        let Some(entries) = metadata["managedFields"].as_array().filter(|all| !all.is_empty())
        else {
            return Self::Unknown;
        };
        let mut newest = Self::None;
        for entry in entries {
            let manager = entry["manager"].as_str().unwrap_or_default();
            if is_other_manager(manager) {
                continue;
            }
            let Some(at) = time(&entry["time"]) else { return Self::Unknown };
            if !matches!(newest, Self::By { at: last, .. } if at <= last) {
                newest = Self::By { manager: mooring_redact::identifier(manager), at };
            }
        }
        newest
    }
}

/// A Lease that the operator may hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// `NAMESPACE/NAME`.
    pub name: String,
    pub renewed: Timestamp,
}

impl Lease {
    /// Returns none if it is not held, or not of the operator: neither in its namespace nor with its name.
    pub(crate) fn read(profile: &Profile, value: &Value) -> Option<Self> {
        let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).unwrap_or("");
        let (namespace, name) = (text("/metadata/namespace"), text("/metadata/name"));
        let holder = text("/spec/holderIdentity");
        // One per node.
        if namespace == "kube-node-lease" || holder.is_empty() {
            return None;
        }
        let named = profile.is_named_in(name)
            || profile.is_named_in(holder)
            || profile.groups.iter().any(|group| name.contains(group.as_str()));
        if profile.namespace.as_deref() != Some(namespace) && !named {
            return None;
        }
        let renewed = time(&value["spec"]["renewTime"])?;
        Some(Self { name: mooring_redact::identifier(&format!("{namespace}/{name}")), renewed })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorEvent {
    pub component: String,
    pub at: Timestamp,
}

impl OperatorEvent {
    /// Returns none if it is neither about an object of the operator's groups nor by a component with its name.
    pub(crate) fn read(profile: &Profile, value: &Value) -> Option<Self> {
        let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
        let mut component = text(&value["reportingComponent"]);
        if component.is_empty() {
            component = text(&value["source"]["component"]);
        }
        let about = text(&value["involvedObject"]["apiVersion"]);
        let group = about.split_once('/').map_or("", |(group, _)| group);
        let concerns = profile.has_group(group) || profile.is_named_in(&component);
        if !concerns || is_other_manager(&component) {
            return None;
        }
        let times = ["lastTimestamp", "eventTime", "firstTimestamp"].map(|name| &value[name]);
        let more = [&value["series"]["lastObservedTime"], &value["metadata"]["creationTimestamp"]];
        let at = times.into_iter().chain(more).filter_map(time).max()?;
        Some(Self { component: mooring_redact::identifier(&component), at })
    }
}

/// A webhook for the operator's groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Webhook {
    /// Description of its configuration.
    pub name: String,
    /// Namespace and name of its Service; none for a URL.
    pub service: Option<(String, String)>,
    /// Its Service has a ready endpoint, or why that is unknown.
    pub answers: Result<bool, String>,
}

impl Webhook {
    fn new(name: String, client: &Value) -> Self {
        // Both become part of a path.
        let is_name = |text: &&str| {
            let allowed = |byte: u8| {
                byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.')
            };
            !text.starts_with('.') && text.bytes().all(allowed)
        };
        let text = |of: &str| client["service"][of].as_str().filter(is_name).map(str::to_owned);
        let answers = Err("could not be read (its URL may be anywhere)".to_owned());
        Self { name, service: text("namespace").zip(text("name")), answers }
    }

    /// Reads the webhooks whose rules name a group of the profile. Webhooks for all groups (`*`) are those of policy engines.
    pub(crate) fn of_configuration(profile: &Profile, value: &Value) -> Option<Vec<Self>> {
        let name = mooring_redact::identifier(value["metadata"]["name"].as_str()?);
        let name = format!("webhook configuration {name}");
        let concerns = |hook: &&Value| groups(hook).any(|group| profile.has_group(group));
        let hooks = value["webhooks"].as_array()?.iter().filter(concerns);
        Some(hooks.map(|hook| Self::new(name.clone(), &hook["clientConfig"])).collect())
    }

    /// Reads the conversion webhook of a CRD.
    pub(crate) fn of_crd(profile: &Profile, value: &Value) -> Option<Self> {
        let conversion = &value["spec"]["conversion"];
        let group = value["spec"]["group"].as_str()?;
        (conversion["strategy"] == "Webhook" && profile.has_group(group)).then_some(())?;
        let name = mooring_redact::identifier(value["metadata"]["name"].as_str()?);
        let name = format!("conversion webhook of {name}");
        Some(Self::new(name, &conversion["webhook"]["clientConfig"]))
    }
}

/// Returns the API groups in the rules of a webhook.
pub(crate) fn groups(hook: &Value) -> impl Iterator<Item = &str> {
    let rules = hook["rules"].as_array().into_iter().flatten();
    let groups = rules.flat_map(|rule| rule["apiGroups"].as_array().into_iter().flatten());
    groups.filter_map(Value::as_str)
}

/// Returns true if an `EndpointSlice` has a ready endpoint; an absent condition means ready.
pub(crate) fn has_ready_endpoint(slice: &Value) -> bool {
    let mut endpoints = slice["endpoints"].as_array().into_iter().flatten();
    endpoints.any(|endpoint| endpoint["conditions"]["ready"] != false)
}

fn time(value: &Value) -> Option<Timestamp> {
    value.as_str()?.parse().ok()
}

/// Groups whose controllers run outside the cluster or are run by AKS, so that the cluster does not show them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Managed {
    /// AKS installs and reinstalls it.
    AddOn(&'static str),
    /// Its controllers may run elsewhere, for example in a management cluster: existing objects are in use.
    Elsewhere(&'static str),
}

use Managed::{AddOn, Elsewhere};

/// Suffixes of API groups. Profiles reject groups of `k8s.io` (volume snapshots, vertical autoscaling).
const TABLE: [(&str, Managed); 24] = [
    ("karpenter.sh", AddOn("node auto-provisioning (Karpenter)")),
    ("karpenter.azure.com", AddOn("node auto-provisioning (Karpenter)")),
    ("karpenter.k8s.aws", AddOn("Karpenter")),
    ("approuting.kubernetes.azure.com", AddOn("application routing")),
    ("aadpodidentity.k8s.io", AddOn("pod identity")),
    ("secrets-store.csi.x-k8s.io", AddOn("Azure Key Vault provider for Secrets Store CSI Driver")),
    ("keda.sh", AddOn("KEDA")),
    ("dapr.io", AddOn("Dapr")),
    ("fluxcd.io", AddOn("GitOps (Flux)")),
    ("clusterconfig.azure.com", AddOn("GitOps (Flux)")),
    ("istio.io", AddOn("Istio-based service mesh")),
    ("gatekeeper.sh", AddOn("Azure Policy")),
    ("azmonitoring.coreos.com", AddOn("managed Prometheus")),
    ("azmon.container.insights", AddOn("Container insights")),
    ("cilium.io", AddOn("Azure CNI powered by Cilium")),
    ("retina.sh", AddOn("Advanced Container Networking Services")),
    ("projectcalico.org", AddOn("Calico network policy")),
    ("tigera.io", AddOn("Calico network policy")),
    ("eraser.sh", AddOn("Image Cleaner")),
    ("kaito.sh", AddOn("AI toolchain operator (KAITO)")),
    ("azure.com", AddOn("an Azure add-on or Azure Service Operator")),
    ("microsoft.com", AddOn("an Azure add-on")),
    ("cluster.x-k8s.io", Elsewhere("Cluster API")),
    ("cert-manager.io", Elsewhere("cert-manager")),
];

/// Finds a group in the table, also by a parent group.
pub(crate) fn managed(group: &str) -> Option<Managed> {
    let labelled = group.split('.').any(|label| label == "karpenter");
    let found =
        TABLE.iter().find(|(suffix, _)| is_within(group, suffix) || is_within(suffix, group));
    found.map(|(_, why)| *why).or_else(|| labelled.then_some(AddOn("Karpenter")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn profile() -> Profile {
        Profile { namespace: Some("op-system".into()), ..Profile::of_group("karpenter.sh") }
    }

    #[test]
    fn writes_by_user_tools_and_mooring_do_not_count() {
        let entry = |manager: &str, day: u8| json!({"manager": manager, "time": format!("2026-11-{day:02}T00:00:00Z")});
        let read = |entries: Value| OperatorWrites::read(&json!({ "managedFields": entries }));
        let people = ["kubectl", "kubectl-client-side-apply", "helm", "mooring", "kubelet"];
        let people: Vec<Value> = people.iter().map(|one| entry(one, 15)).collect();
        assert_eq!(read(json!(people)), OperatorWrites::None);
        let found =
            read(json!([entry("karpenter", 2), entry("karpenter", 5), entry("kubectl", 9)]));
        let at = "2026-11-05T00:00:00Z".parse().unwrap();
        assert_eq!(found, OperatorWrites::By { manager: "karpenter".into(), at });
        assert!(matches!(read(json!([entry("helm-operator", 1)])), OperatorWrites::By { .. }));
        for unknown in [json!([]), json!(null), json!([{"manager": "karpenter"}])] {
            assert_eq!(read(unknown.clone()), OperatorWrites::Unknown, "{unknown}");
        }
    }

    #[test]
    fn leases_match_by_namespace_name_or_holder() {
        let lease = |namespace: &str, name: &str, holder: &str| {
            let value = json!({
                "metadata": {"namespace": namespace, "name": name},
                "spec": {"holderIdentity": holder, "renewTime": "2026-11-15T08:00:00.123456Z"},
            });
            Lease::read(&profile(), &value).is_some()
        };
        assert!(lease("op-system", "x", "pod_1"));
        assert!(lease("kube-system", "karpenter-leader-election", "pod_1"));
        assert!(lease("kube-system", "abc.karpenter.sh", "pod_1"));
        assert!(lease("kube-system", "x", "karpenter-5d9c_1"));
        assert!(!lease("kube-system", "x", "pod_1"));
        assert!(!lease("op-system", "x", ""), "given back");
        assert!(!lease("kube-node-lease", "aks-karpenter-1", "aks-karpenter-1"));
    }

    #[test]
    fn events_match_by_component_or_object() {
        let event = |component: &str, about: &str| {
            let value = json!({
                "metadata": {"creationTimestamp": "2026-11-15T07:00:00Z"},
                "source": {"component": component}, "involvedObject": {"apiVersion": about},
                "lastTimestamp": "2026-11-15T08:00:00Z", "eventTime": null,
            });
            OperatorEvent::read(&profile(), &value).map(|event| event.at.to_string())
        };
        assert_eq!(event("karpenter", "v1").unwrap(), "2026-11-15T08:00:00Z");
        assert!(event("something", "karpenter.sh/v1").is_some());
        assert!(event("something", "xkarpenter.sh/v1").is_none());
        assert!(event("mooring", "karpenter.sh/v1").is_none());
        assert!(event("kubelet", "v1").is_none());
    }

    #[test]
    fn webhooks_match_by_group() {
        let of = |group: &str| {
            let value = json!({"metadata": {"name": "w"}, "webhooks": [{
                "rules": [{"apiGroups": [group]}],
                "clientConfig": {"service": {"namespace": "n", "name": "s"}},
            }, {"rules": [{"apiGroups": ["apps"]}], "clientConfig": {"url": "https://x"}}]});
            Webhook::of_configuration(&profile(), &value).unwrap()
        };
        assert_eq!(of("karpenter.sh")[0].service, Some(("n".into(), "s".into())));
        assert!(of("*").is_empty() && of("apps").is_empty());
        let crd = json!({
            "metadata": {"name": "nodepools.karpenter.sh"},
            "spec": {"group": "karpenter.sh", "conversion": {"strategy": "Webhook",
                "webhook": {"clientConfig": {"url": "https://x"}}}},
        });
        let found = Webhook::of_crd(&profile(), &crd).unwrap();
        assert!(found.service.is_none() && found.answers.is_err(), "{found:?}");
        assert!(has_ready_endpoint(&json!({"endpoints": [{"conditions": {"ready": false}}, {}]})));
        assert!(!has_ready_endpoint(&json!({"endpoints": [{"conditions": {"ready": false}}]})));
        assert!(!has_ready_endpoint(&json!({"endpoints": null})));
    }

    #[test]
    fn managed_groups_are_found_by_suffix_and_by_parent() {
        for group in ["karpenter.sh", "karpenter.azure.com", "karpenter.example.com", "azure.com"] {
            assert!(matches!(managed(group), Some(AddOn(_))), "{group}");
        }
        assert!(matches!(managed("source.toolkit.fluxcd.io"), Some(AddOn(_))));
        assert!(matches!(managed("network.azure.com"), Some(AddOn(_))));
        let elsewhere = ["infrastructure.cluster.x-k8s.io", "acme.cert-manager.io"];
        for group in elsewhere {
            assert!(matches!(managed(group), Some(Elsewhere(_))), "{group}");
        }
        // A profile of the parent reaches the groups below it.
        assert!(managed("x-k8s.io").is_some());
        for group in ["package-operator.run", "example.com", "xkarpenter.sh", "mycert-manager.io"] {
            assert_eq!(managed(group), None, "{group}");
        }
    }
}
