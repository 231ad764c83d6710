//! Initial state of each scenario, and consistency of pools and nodes.

use mooring_simulator::azure::AKS_SERVER;
use mooring_simulator::cluster::Options;
use mooring_simulator::scenario::Scenario;
use serde_json::json;

use crate::support::{Bench, NODE_CLAIMS, condition};

#[test]
fn every_scenario_has_its_cluster() {
    for name in Scenario::names() {
        let bench = Bench::new(name, Options::default());
        let wedged = matches!(name, "wedged-system-pool" | "young-operation");
        let system = bench.nodes("system");
        assert_eq!(system.len(), if wedged { 2 } else { 3 }, "{name}");
        assert_eq!(bench.nodes("user").len(), 2, "{name}");
        assert!(system.iter().all(|(_, ready)| *ready), "{name}: old nodes are ready");
        assert_eq!(bench.places("coredns").len(), 2, "{name}");
        assert!(bench.get("nodepools.karpenter.sh", "default").is_some(), "{name}");
        assert!(bench.get("aksnodeclasses.karpenter.azure.com", "default").is_some(), "{name}");
        let system: Vec<String> = system.into_iter().map(|(name, _)| name).collect();
        for workload in ["coredns", "metrics-server", "konnectivity-agent"] {
            assert!(bench.places(workload).iter().all(|node| system.contains(node)), "{name}");
        }
        let everywhere = bench.world.kubernetes().count("nodes");
        assert_eq!(bench.places("kube-proxy").len(), everywhere, "{name}");
    }
}

#[test]
fn a_pool_node_looks_as_aks_makes_it() {
    let bench = Bench::new("healthy", Options::default());
    let (name, _) = bench.nodes("system")[0].clone();
    let node = bench.get("nodes", &name).unwrap();
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
        let bench = Bench::new("oras-missing", Options { atomic_conditions, ..Options::default() });
        assert_eq!(bench.world.kubernetes().count(NODE_CLAIMS), 10);
        let bad = bench.get(NODE_CLAIMS, "default-bad1").unwrap();
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
        assert!(bench.get("nodes", "aks-default-bad1").is_none());
        let good = bench.get(NODE_CLAIMS, "default-good1").unwrap();
        for kind in ["Launched", "Registered", "Initialized", "Ready"] {
            assert_eq!(condition(good, kind).unwrap()["status"], "True", "{kind}");
        }
        assert_eq!(good["status"]["nodeName"], "aks-default-good1");
        let node = bench.get("nodes", "aks-default-good1").unwrap();
        assert_eq!(node["spec"]["providerID"], good["status"]["providerID"]);
    }
}

#[test]
fn a_deleted_pool_takes_its_nodes_and_a_new_one_brings_others() {
    let mut bench = Bench::new("healthy", Options::default());
    let (system, user) = (bench.pool("system"), bench.pool("user"));
    let temporary = bench.pool("systmp");
    let (_, body) = bench.arm("GET", &system, "");
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
    let (status, answer) = bench.arm("PUT", &temporary, &wanted);
    assert_eq!(status, 201, "{answer}");
    bench.pass(1200);
    assert_eq!(bench.nodes("systmp").len(), 3);
    assert!(bench.nodes("systmp").iter().all(|(_, ready)| *ready));

    let before = bench.nodes("system");
    let (status, answer) = bench.arm("DELETE", &system, "");
    assert_eq!(status, 202, "{answer}");
    bench.pass(1200);
    assert!(bench.nodes("system").is_empty());
    let there: Vec<String> = bench.nodes("systmp").into_iter().map(|(name, _)| name).collect();
    for workload in ["coredns", "metrics-server", "konnectivity-agent"] {
        let places = bench.places(workload);
        assert_eq!(places.len(), 2, "{workload}");
        assert!(places.iter().all(|node| there.contains(node)), "{workload}: {places:?}");
    }
    let gone = |node: &str| !before.iter().any(|(name, _)| name == node);
    assert!(bench.places("kube-proxy").iter().all(|node| gone(node)));

    let (status, answer) = bench.arm("PUT", &system, &wanted);
    assert_eq!(status, 201, "{answer}");
    bench.pass(1200);
    let after = bench.nodes("system");
    assert_eq!(after.len(), 3);
    assert!(after.iter().all(|(name, ready)| *ready && gone(name)), "{after:?}");
    let (status, _) = bench.arm("GET", &user, "");
    assert_eq!(status, 200);
}

#[test]
fn a_node_registers_first_and_is_ready_later() {
    let mut bench = Bench::new("slow-boot", Options::default());
    assert!(bench.get("nodes", "aks-default-slow1").is_none());
    // Boot, bootstrap, registration.
    bench.pass(40 + 840 + 10);
    let ready = |bench: &Bench| {
        condition(bench.get("nodes", "aks-default-slow1").unwrap(), "Ready").unwrap()["status"]
            .clone()
    };
    assert_eq!(ready(&bench), "False");
    bench.pass(15);
    assert_eq!(ready(&bench), "True");
    let claim = bench.get(NODE_CLAIMS, "default-slow1").unwrap();
    assert_eq!(condition(claim, "Ready").unwrap()["status"], "True");
}

#[test]
fn the_cluster_lets_in_whom_the_sign_in_endpoint_sent() {
    let mut bench = Bench::new("healthy", Options::default());
    let ask = |bench: &mut Bench, token: &str| bench.kube("GET", "/api/v1/nodes", token, "", "").0;
    let azure = |bench: &Bench, audience: &str| bench.world.azure().token(audience, bench.now);
    let token = azure(&bench, &format!("{AKS_SERVER}/"));
    assert_eq!(ask(&mut bench, &token), 200);
    let forged = format!("{token}x");
    assert_eq!(ask(&mut bench, &forged), 401);
    let other = azure(&bench, "https://management.azure.com");
    assert_eq!(ask(&mut bench, &other), 401, "a token for another audience");
    assert_eq!(ask(&mut bench, "simulated-administrator"), 200);
    bench.pass(3601);
    assert_eq!(ask(&mut bench, &token), 401, "a token that is over");
}
