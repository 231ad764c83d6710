//! Causes in texts with pasted context: configuration, cluster state, versions, comments.

use std::path::Path;

use mooring_diagnosis::{Hints, diagnose};
use serde_json::Value;

use crate::corpus;

const QUESTION: &str = "**What happened**:\nWe tried to add a node pool to our AKS cluster and it failed. It worked last week; nothing was \
    changed in network, quota or policy on our side.\n\n**How to reproduce it**:\naz aks nodepool add --resource-group rg --cluster-name c \
    --name np2 --node-vm-size Standard_D4s_v5 --zones 1 2 3\n\n";

const CONFIGURATION: &str = r#"resource "azurerm_kubernetes_cluster" "main" {
  name               = "example"
  kubernetes_version = var.kubernetes_version
  api_server_access_profile {
    authorized_ip_ranges = var.authorized_ip_ranges
  }
  default_node_pool {
    name           = "system"
    vm_size        = "Standard_D4s_v5"
    zones          = ["1", "2", "3"]
    vnet_subnet_id = azurerm_subnet.nodes.id
    max_pods       = 30
  }
  http_proxy_config {
    http_proxy = "http://proxy.corp:3128"
    no_proxy   = ["localhost", "169.254.169.254", "168.63.129.16"]
  }
  identity { type = "UserAssigned" }
  network_profile {
    network_plugin = "azure"
    service_cidr   = "10.0.0.0/16"
    outbound_type  = "userDefinedRouting"
  }
  timeouts { create = "90m" }
}
"#;

const CLUSTER: &str = r#"{
  "apiServerAccessProfile": { "authorizedIpRanges": null, "disableRunCommand": null, "enablePrivateCluster": false },
  "agentPoolProfiles": [ { "availabilityZones": ["1", "2"], "count": 3, "enableEncryptionAtHost": null, "name": "nodepool1",
    "osDiskType": "Ephemeral", "provisioningState": "Succeeded", "vmSize": "Standard_D4s_v5" } ],
  "httpProxyConfig": { "noProxy": ["localhost"], "httpProxy": null },
  "identityProfile": { "kubeletidentity": { "resourceId": "/subscriptions/s/resourcegroups/MC_a_b_c/providers/Microsoft.ManagedIdentity/userAssignedIdentities/b-agentpool" } },
  "networkProfile": { "podCidr": "10.244.0.0/16", "serviceCidr": "10.0.0.0/16", "loadBalancerSku": "standard" },
  "provisioningState": "Failed",
  "servicePrincipalProfile": { "clientId": "msi" }
}
"#;

const COMMENTS: &str = "\n\n**Environment**:\n- Kubernetes version: v1.31.8\n- Karpenter version: 1.5.0, self-hosted (helm)\n\
    - OS image: Ubuntu 22.04.5 LTS, kernel 5.15.0-1091-azure, containerd://1.7.27-1\n\nkubectl get nodes\n\
    NAME                                STATUS   ROLES    AGE     VERSION\n\
    aks-nodepool1-38787940-vmss000000   Ready    <none>   4h28m   v1.31.8\n\n\
    Same here since yesterday. Did you check quota, subnet size and the authorized IP ranges? Any update? A retry helped us.\n";

#[test]
fn pasted_context_keeps_the_cause() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut texts = 0;
    for case in corpus::read(&corpus).unwrap() {
        let expected: Value = serde_json::from_str(&case.expected).unwrap();
        let reason = expected["diagnoses"][0]["reason"].as_str();
        let (Some(_), Some(reason)) = (expected["category"].as_str(), reason) else { continue };
        let text = String::from_utf8(case.text).unwrap();
        for input in [
            format!("{CONFIGURATION}{text}"),
            format!("{CLUSTER}{text}"),
            format!("{QUESTION}{text}{COMMENTS}"),
            format!("{QUESTION}{CONFIGURATION}{text}{CLUSTER}{COMMENTS}"),
        ] {
            let found = diagnose(input.as_bytes(), Hints::default());
            let found = found.first().map(|one| one.reason.as_str());
            assert_eq!(found, Some(reason), "{}", case.name);
            texts += 1;
        }
    }
    assert!(texts >= 1_000, "{texts}");
}

#[test]
fn context_without_a_failure_gives_no_diagnosis() {
    for text in [QUESTION, CONFIGURATION, CLUSTER, COMMENTS] {
        let found = diagnose(text.as_bytes(), Hints::default());
        assert!(found.is_empty(), "{text}: {found:?}");
    }
}
