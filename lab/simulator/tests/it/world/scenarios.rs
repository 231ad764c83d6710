//! Initial state of each scenario, and consistency of pools and nodes.

use mooring_simulator::azure::AKS_SERVER;
use mooring_simulator::cluster::ClusterOptions;
use mooring_simulator::scenario::Scenario;
use serde_json::json;

use super::support::{Harness, NODE_CLAIMS, condition};

#[test]
fn scenarios_have_their_cluster() {
    for name in Scenario::names() {
        let harness = Harness::new(name, ClusterOptions::default());
        let wedged = matches!(name, "wedged-system-pool" | "young-operation");
        let system = harness.nodes("system");
        assert_eq!(system.len(), if wedged { 2 } else { 3 }, "{name}");
        assert_eq!(harness.nodes("user").len(), 2, "{name}");
        assert!(system.iter().all(|(_, ready)| *ready), "{name}: old nodes are ready");
        assert_eq!(harness.places("coredns").len(), 2, "{name}");
        assert!(harness.get("nodepools.karpenter.sh", "default").is_some(), "{name}");
        assert!(harness.get("aksnodeclasses.karpenter.azure.com", "default").is_some(), "{name}");
        let system: Vec<String> = system.into_iter().map(|(name, _)| name).collect();
        for workload in ["coredns", "metrics-server", "konnectivity-agent"] {
            assert!(harness.places(workload).iter().all(|node| system.contains(node)), "{name}");
        }
        let everywhere = harness.world.kubernetes().count("nodes");
        assert_eq!(harness.places("kube-proxy").len(), everywhere, "{name}");
    }
}

#[test]
fn a_pool_node_looks_as_aks_makes_it() {
    let harness = Harness::new("healthy", ClusterOptions::default());
    let (name, _) = harness.nodes("system")[0].clone();
    let node = harness.get("nodes", &name).unwrap();
    let (set, number) = name.split_at(name.len() - 6);
    assert!(
        set.starts_with("aks-system-") && set.ends_with("-vmss") && number == "000000",
        "{name}"
    );
    let id = format!(
        "azure:///subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/mc_rg-demo_demo_westeurope/providers/Microsoft.Compute/virtualMachineScaleSets/{set}/virtualMachines/0"
    );
    assert_eq!(node["spec"]["providerID"], id);
    assert_eq!(
        node["spec"]["taints"],
        json!([{"key": "CriticalAddonsOnly", "value": "true", "effect": "NoSchedule"}])
    );
    let labels = &node["metadata"]["labels"];
    for (label, value) in [
        ("agentpool", "system"),
        ("kubernetes.azure.com/agentpool", "system"),
        ("kubernetes.azure.com/mode", "system"),
        ("kubernetes.azure.com/node-image-version", "AKSAzureLinux-V3gen2-202601.13.0"),
        ("kubernetes.io/hostname", &name),
        ("node.kubernetes.io/instance-type", "Standard_D4s_v5"),
        ("topology.kubernetes.io/zone", "westeurope-1"),
    ] {
        assert_eq!(labels[label], value, "{label}");
    }
    assert_eq!(node["status"]["nodeInfo"]["kubeletVersion"], "v1.33.6");
}

#[test]
fn karpenter_machines_have_their_claims() {
    for atomic_conditions in [false, true] {
        let harness = Harness::new(
            "oras-missing",
            ClusterOptions { atomic_conditions, ..ClusterOptions::default() },
        );
        assert_eq!(harness.world.kubernetes().count(NODE_CLAIMS), 10);
        let bad = harness.get(NODE_CLAIMS, "default-bad1").unwrap();
        assert_eq!(
            bad["status"]["providerID"],
            "azure:///subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/mc_rg-demo_demo_westeurope/providers/Microsoft.Compute/virtualMachines/aks-default-bad1"
        );
        assert!(bad["status"]["imageID"].as_str().unwrap().ends_with("/versions/202601.27.0"));
        assert_eq!(bad["metadata"]["creationTimestamp"], "2026-11-15T07:54:00Z");
        assert_eq!(bad["metadata"]["finalizers"], json!(["karpenter.sh/termination"]));
        assert_eq!(bad["metadata"]["ownerReferences"][0]["kind"], "NodePool");
        assert_eq!(condition(bad, "Launched").unwrap()["status"], "True");
        let registered = condition(bad, "Registered").unwrap();
        assert_eq!(
            (&registered["status"], &registered["reason"]),
            (&json!("Unknown"), &json!("NodeNotFound"))
        );
        assert!(harness.get("nodes", "aks-default-bad1").is_none());
        let good = harness.get(NODE_CLAIMS, "default-good1").unwrap();
        for kind in ["Launched", "Registered", "Initialized", "Ready"] {
            assert_eq!(condition(good, kind).unwrap()["status"], "True", "{kind}");
        }
        assert_eq!(good["status"]["nodeName"], "aks-default-good1");
        let node = harness.get("nodes", "aks-default-good1").unwrap();
        assert_eq!(node["spec"]["providerID"], good["status"]["providerID"]);
    }
}

#[test]
fn a_deleted_pool_takes_its_nodes_and_a_new_one_brings_others() {
    let mut harness = Harness::new("healthy", ClusterOptions::default());
    let (system, user) = (harness.pool("system"), harness.pool("user"));
    let temporary = harness.pool("systmp");
    let (_, body) = harness.arm("GET", &system, "");
    let mut properties = body["properties"].clone();
    for own in [
        "provisioningState",
        "powerState",
        "eTag",
        "currentOrchestratorVersion",
        "nodeImageVersion",
    ] {
        properties.as_object_mut().unwrap().remove(own);
    }
    let wanted = json!({"properties": properties}).to_string();
    let (status, answer) = harness.arm("PUT", &temporary, &wanted);
    assert_eq!(status, 201, "{answer}");
    harness.pass(1200);
    assert_eq!(harness.nodes("systmp").len(), 3);
    assert!(harness.nodes("systmp").iter().all(|(_, ready)| *ready));

    let before = harness.nodes("system");
    let (status, answer) = harness.arm("DELETE", &system, "");
    assert_eq!(status, 202, "{answer}");
    harness.pass(1200);
    assert!(harness.nodes("system").is_empty());
    let there: Vec<String> = harness.nodes("systmp").into_iter().map(|(name, _)| name).collect();
    for workload in ["coredns", "metrics-server", "konnectivity-agent"] {
        let places = harness.places(workload);
        assert_eq!(places.len(), 2, "{workload}");
        assert!(places.iter().all(|node| there.contains(node)), "{workload}: {places:?}");
    }
    let gone = |node: &str| !before.iter().any(|(name, _)| name == node);
    assert!(harness.places("kube-proxy").iter().all(|node| gone(node)));

    let (status, answer) = harness.arm("PUT", &system, &wanted);
    assert_eq!(status, 201, "{answer}");
    harness.pass(1200);
    let after = harness.nodes("system");
    assert_eq!(after.len(), 3);
    assert!(after.iter().all(|(name, ready)| *ready && gone(name)), "{after:?}");
    let (status, _) = harness.arm("GET", &user, "");
    assert_eq!(status, 200);
}

#[test]
fn a_node_registers_first_and_is_ready_later() {
    let mut harness = Harness::new("slow-boot", ClusterOptions::default());
    assert!(harness.get("nodes", "aks-default-slow1").is_none());
    // Boot, bootstrap, registration.
    harness.pass(40 + 840 + 10);
    let ready = |harness: &Harness| {
        condition(harness.get("nodes", "aks-default-slow1").unwrap(), "Ready").unwrap()["status"]
            .clone()
    };
    assert_eq!(ready(&harness), "False");
    harness.pass(15);
    assert_eq!(ready(&harness), "True");
    let claim = harness.get(NODE_CLAIMS, "default-slow1").unwrap();
    assert_eq!(condition(claim, "Ready").unwrap()["status"], "True");
}

#[test]
fn cluster_accepts_tokens_of_the_sign_in_endpoint() {
    let mut harness = Harness::new("healthy", ClusterOptions::default());
    let ask =
        |harness: &mut Harness, token: &str| harness.kube("GET", "/api/v1/nodes", token, "", "").0;
    let azure =
        |harness: &Harness, audience: &str| harness.world.azure().token(audience, harness.now);
    let token = azure(&harness, &format!("{AKS_SERVER}/"));
    assert_eq!(ask(&mut harness, &token), 200);
    let forged = format!("{token}x");
    assert_eq!(ask(&mut harness, &forged), 401);
    let other = azure(&harness, "https://management.azure.com");
    assert_eq!(ask(&mut harness, &other), 401, "a token for another audience");
    assert_eq!(ask(&mut harness, "simulated-administrator"), 200);
    harness.pass(3601);
    assert_eq!(ask(&mut harness, &token), 401, "a token that is over");
}
