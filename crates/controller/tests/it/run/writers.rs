//! Other writers of a NodeClaim's status, above all Karpenter: it replaces all conditions without a lock, and
//! creates an event for every change of a status.

use std::time::Duration;

use mooring_simulator::azure::Cse;
use mooring_simulator::karpenter::{KarpenterOptions, ProvisionMode};
use mooring_simulator::kubernetes::Key;
use serde_json::json;

use crate::run::cluster::{CLAIMS, Cluster};

fn with_cse(cse: Cse) -> KarpenterOptions {
    let image = "202601.27.0".to_owned();
    KarpenterOptions {
        mode: ProvisionMode::Vm,
        bootstraps: [(image.clone(), cse)].into(),
        image_version: image,
        ..KarpenterOptions::default()
    }
}

/// Returns Karpenter's events about changes of Mooring's condition.
fn flips(cluster: &Cluster) -> Vec<String> {
    cluster.shell.with(|world, _| {
        let events = world.kubernetes().objects("events", Some("default"));
        let own = events.filter(|event| event["reason"] == "CSEProvisioned");
        own.map(|event| event["message"].as_str().unwrap().to_owned()).collect()
    })
}

#[tokio::test(start_paused = true)]
async fn final_verdict_changes_its_status_once() {
    for (cse, status) in [(Cse::default(), "True"), (Cse::oras_missing(), "False")] {
        let cluster = Cluster::new(false, with_cse(cse));
        let replica = cluster.start("a");
        cluster.pass(5).await;
        for number in 0..20 {
            cluster.claim(&format!("default-x{number}"));
            cluster.pass(3).await;
        }
        cluster.pass(900).await;
        let flips = flips(&cluster);
        assert_eq!(flips.len(), 20, "one for each NodeClaim: {flips:#?}");
        for message in flips {
            assert!(message.contains(&format!("Unknown -> {status}")), "{message}");
            assert!(message.len() < 700, "{message}");
        }
        replica.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn repeatedly_dropped_condition_is_written_with_backoff() {
    let cluster = Cluster::new(false, with_cse(Cse::default()));
    let replica = cluster.start("a");
    cluster.pass(5).await;
    cluster.claim("default-x1");
    cluster.pass(600).await;
    assert_eq!(cluster.condition_of("default-x1").1, "CSESucceeded");
    let patches = || {
        let writes = cluster.writes();
        writes.iter().filter(|(resource, ..)| resource.starts_with("nodeclaims")).count()
    };
    let before = patches();
    for _ in 0..3600 {
        cluster.shell.with(|world, now| {
            let key = Key::new(None, "default-x1");
            let claim = world.kubernetes().get(CLAIMS, &key).unwrap();
            let mut conditions = claim["status"]["conditions"].as_array().unwrap().clone();
            conditions.retain(|condition| condition["type"] != "CSEProvisioned");
            let patch = json!({"status": {"conditions": conditions}});
            world.kubernetes_mut().change(CLAIMS, &key, &patch, now).unwrap();
        });
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    let during = patches() - before;
    assert!((5..=25).contains(&during), "{during} patches in an hour");
    // The other writer stops, and the condition is written again.
    cluster.pass(301).await;
    assert_eq!(cluster.condition_of("default-x1").1, "CSESucceeded");
    let replicas_patches = patches();
    cluster.pass(3600).await;
    assert_eq!(patches(), replicas_patches, "a condition that stays is not written again");
    replica.stop().await;
}

#[tokio::test(start_paused = true)]
async fn watch_of_a_missing_crd_backs_off() {
    let cluster = Cluster::new(false, with_cse(Cse::default()));
    cluster.shell.with(|world, now| {
        let key = Key::new(None, "aksnodeclasses.karpenter.azure.com");
        let definitions = "customresourcedefinitions.apiextensions.k8s.io";
        world.kubernetes_mut().delete(definitions, &key, now).unwrap();
    });
    cluster.pass(60).await;
    let lists = |cluster: &Cluster| {
        let trace = cluster.shell.with(|world, _| world.kubernetes().trace());
        trace.lines().filter(|line| line.contains("/aksnodeclasses")).count()
    };
    let before = lists(&cluster);
    let replica = cluster.start("a");
    cluster.pass(3600).await;
    let tries = lists(&cluster) - before;
    assert!((10..=30).contains(&tries), "{tries} tries in an hour");
    replica.stop().await;
}

#[tokio::test(start_paused = true)]
async fn node_without_provider_id_is_reported_on_its_pool() {
    let cluster = Cluster::new(false, with_cse(Cse::default()));
    let replica = cluster.start("a");
    cluster.pass(5).await;
    let node = |name: &str, provider_id: Option<&str>| {
        let spec = provider_id.map_or_else(|| json!({}), |id| json!({"providerID": id}));
        let node = json!({
            "apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": {"karpenter.sh/nodepool": "default"}},
            "spec": spec,
        });
        cluster.shell.with(|world, now| world.kubernetes_mut().create(node, now)).unwrap();
    };
    node("aks-default-lost", None);
    node("aks-default-late", None);
    node("aks-default-well", Some("azure:///subscriptions/x"));
    cluster.pass(60).await;
    // cloud-node-manager takes a moment for most.
    cluster.shell.with(|world, now| {
        let key = Key::new(None, "aks-default-late");
        let patch = json!({"spec": {"providerID": "azure:///subscriptions/y"}});
        world.kubernetes_mut().change("nodes", &key, &patch, now).unwrap();
    });
    cluster.pass(600).await;
    let events = cluster.events();
    assert_eq!(events.len(), 1, "{events:?}");
    let (kind, name, reason, message) = events.first().unwrap();
    assert_eq!((&**kind, &**name, &**reason), ("NodePool", "default", "NodeWithoutProviderID"));
    assert!(message.ends_with("kubectl delete node aks-default-lost"), "{message}");
    assert!(replica.metrics.text().contains("mooring_nodes_without_provider_id 1"));
    cluster.shell.with(|world, now| {
        let key = Key::new(None, "aks-default-lost");
        world.kubernetes_mut().delete("nodes", &key, now).unwrap();
    });
    cluster.pass(30).await;
    assert!(replica.metrics.text().contains("mooring_nodes_without_provider_id 0"));
    replica.stop().await;
}
