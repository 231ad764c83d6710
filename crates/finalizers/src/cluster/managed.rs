//! API groups whose controllers run outside the cluster or are run by AKS, so that the cluster does not show them.

use crate::operator::profile::is_within;

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
    use super::*;

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
