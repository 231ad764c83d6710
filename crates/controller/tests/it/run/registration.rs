//! Nodes that do not register, by mode, cause and age.

use std::sync::Arc;

use mooring_controller::query::NodeQuery;
use mooring_controller::run::Api;
use mooring_nodes::claim::vm_id::Interner;
use mooring_nodes::unregistered::NodeState;
use mooring_nodes::verdict::messages::IDLE;
use mooring_nodes::{Claim, Node, NodeFailure, NodeItem, NodeReport};
use mooring_simulator::azure::{Cse, Guest, Join};
use mooring_simulator::cluster as world;
use mooring_simulator::karpenter::{KarpenterOptions, ProvisionMode};
use mooring_simulator::kubernetes::Key;
use serde_json::json;

use crate::run::azure;
use crate::run::cluster::{CLAIMS, Cluster, Replica};

const BAD: &str = "202601.27.0";

/// A Karpenter with default settings, on whose image bootstraps run like this.
fn scriptless(cse: Cse) -> KarpenterOptions {
    KarpenterOptions {
        bootstraps: [(BAD.to_owned(), cse)].into(),
        image_version: BAD.to_owned(),
        ..KarpenterOptions::default()
    }
}

pub(crate) async fn started(options: KarpenterOptions) -> (Cluster, Replica) {
    let cluster = Cluster::new(false, options);
    let replica = cluster.start("a");
    cluster.pass(5).await;
    (cluster, replica)
}

/// Creates a cluster that is not sampled, for tests that pass hours.
fn unsampled(options: KarpenterOptions) -> Cluster {
    Cluster::quiet(world::ClusterOptions {
        karpenter: Some(options),
        workloads: false,
        ..world::ClusterOptions::default()
    })
}

pub(crate) fn node_query(cluster: &Cluster) -> NodeQuery {
    let service = cluster.shell.kube_service("simulated-administrator");
    let options = cluster.shell.with(|world, _| world.azure().options().clone());
    NodeQuery {
        api: Api::new(kube::Client::new(service, "default")),
        nodes: nodes(cluster).into_iter().map(|node| node.name).collect(),
        arm: azure::client(&cluster.shell),
        scope: azure::scope(&options),
        now: cluster.shell.now(),
        run_command: false,
        progress: |_| {},
    }
}

fn nodes(cluster: &Cluster) -> Vec<NodeItem> {
    cluster.shell.with(|world, _| {
        let nodes = world.kubernetes().objects("nodes", None);
        nodes.map(|node| serde_json::from_value(node.clone()).unwrap()).collect()
    })
}

/// Asks Azure about a NodeClaim, as the cluster shows it.
pub(crate) async fn why(cluster: &Cluster, claim: &str) -> Option<NodeReport> {
    let claim = cluster.shell.with(|world, _| {
        let object = world.kubernetes().get(CLAIMS, &Key::new(None, claim)).unwrap().to_string();
        let mut interner = Interner::default();
        Claim::from_json(object.as_bytes(), "CSEProvisioned", &mut interner).unwrap()
    });
    let node = nodes(cluster).into_iter().find(|node| node.name == claim.node_name());
    let record = cluster.record();
    let failure = record.entries().find(|entry| *entry.uid == *claim.uid);
    let node = Node {
        node_state: node.map_or(NodeState::Absent, |node| node.state()),
        failure: failure.map(|entry| Box::new(NodeFailure::recorded(entry))),
        claim: Some(Arc::new(claim)),
        ..Node::default()
    };
    node_query(cluster).claim_report(&node).await.unwrap()
}

fn delete(cluster: &Cluster, claim: &str) {
    cluster.shell.with(|world, now| {
        let key = Key::new(None, claim);
        world.kubernetes_mut().delete("nodeclaims.karpenter.sh", &key, now).unwrap();
    });
}

/// A: by default only the clock shows a failed bootstrap.
#[tokio::test(start_paused = true)]
async fn failure_without_an_extension_is_reported_on_timeout() {
    let (cluster, replica) = started(scriptless(Cse::oras_missing())).await;
    cluster.claim("default-x1");
    cluster.pass(14 * 60 + 50).await;
    assert_eq!((cluster.events().len(), cluster.record().entries().count()), (0, 0));
    let (status, reason, _) = cluster.condition_of("default-x1");
    assert_eq!((&*status, &*reason), ("Unknown", "NoCSEExtension"), "minute 5 has been read");
    cluster.pass(15).await;
    let record = cluster.record();
    let entries: Vec<_> = record.entries().collect();
    assert_eq!(entries.len(), 1, "at 15:00");
    assert_eq!((&*entries[0].reason, &*entries[0].cause), ("NodeNotRegistered", "NoCSR"));
    assert_eq!(entries[0].image.as_deref(), Some("AKSAzureLinux/V3gen2/202601.27.0"));
    let events = cluster.events();
    let reported: Vec<_> = events.iter().map(|event| (&*event.0, &*event.1, &*event.2)).collect();
    let expected = [
        ("NodeClaim", "default-x1", "NodeNotRegistered"),
        ("NodePool", "default", "NodeNotRegistered"),
    ];
    assert_eq!(reported, expected);
    cluster.pass(120).await;
    let (status, reason, message) = cluster.condition_of("default-x1");
    assert_eq!((&*status, &*reason), ("False", "NodeNotRegistered"), "{message}");
    assert!(message.contains("secure TLS bootstrapping"), "{message}");
    assert_eq!((cluster.events().len(), cluster.record().entries().count()), (2, 1), "once");
    let counted = replica.metrics.text();
    let line = counted.lines().find(|line| line.starts_with("mooring_nodes_not_registered_total"));
    let line = line.unwrap();
    assert!(line.contains("reason=\"NoCSR\"") && line.ends_with(" 1"), "{line}");
    assert!(
        !counted.lines().any(|line| line.starts_with("mooring_cse_failures_total")),
        "{counted}"
    );
    // The NodeClaim is gone.
    let failure = NodeFailure::recorded(cluster.record().entries().next().unwrap());
    assert!(failure.message.contains("did not register"), "{}", failure.message);
    // Minutes 5 and 12; the deletion needs no further read.
    assert_eq!(replica.requests(), 2);
    replica.stop().await;
}

#[tokio::test(start_paused = true)]
async fn most_specific_proven_cause_is_reported() {
    let fails = Cse::oras_missing;
    for (cse, cause, words) in [
        (fails(), "NoCSR", "no CertificateSigningRequest"),
        (Cse { guest: Guest::Stopped, ..fails() }, "VMNotRunning", "the VM is not running"),
        (Cse { guest: Guest::Silent, ..fails() }, "AgentSilent", "agent does not report"),
        (Cse { join: Join::CsrPending, ..Cse::default() }, "CSRPending", "is pending"),
        (Cse { join: Join::CsrDenied, ..Cse::default() }, "CSRDenied", "was denied"),
        (
            Cse { join: Join::NoProviderId, ..Cse::default() },
            "NodeWithoutProviderID",
            "kubectl delete node aks-default-x1",
        ),
    ] {
        let (cluster, replica) = started(scriptless(cse)).await;
        cluster.claim("default-x1");
        cluster.pass(16 * 60).await;
        let record = cluster.record();
        let entry = record.entries().next().unwrap_or_else(|| panic!("{cause}"));
        assert_eq!(entry.cause, cause, "{}", entry.message);
        assert!(entry.message.contains(words), "{cause}: {}", entry.message);
        assert_eq!(record.entries().count(), 1);
        replica.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn csrs_that_cannot_be_listed_are_unknown() {
    let (cluster, replica) = started(scriptless(Cse::oras_missing())).await;
    cluster.shell.with(|world, _| {
        let rule = json!({"when": {"path": "*/certificatesigningrequests"}, "then": {"status": {"status": 403}}});
        world.kubernetes_mut().add_fault(serde_json::from_value(rule).unwrap());
    });
    cluster.claim("default-x1");
    cluster.pass(16 * 60).await;
    let record = cluster.record();
    let entry = record.entries().next().unwrap();
    assert_eq!(entry.cause, "NoNode", "{}", entry.message);
    assert!(entry.message.contains("is unknown"), "{}", entry.message);
    assert!(replica.health.readyz(cluster.shell.now()).is_ok());
    replica.stop().await;
    assert_eq!(cluster.take_forbidden().len(), 1);
}

/// B: Karpenter restarts between the VM and its extension.
#[tokio::test(start_paused = true)]
async fn missing_extension_does_not_blame_the_image() {
    let good = KarpenterOptions { mode: ProvisionMode::Vm, ..KarpenterOptions::default() };
    let (cluster, replica) = started(good).await;
    // Nodes of another image joined, so an image that fails alone would be blamed.
    for number in 0..8 {
        cluster.claim(&format!("default-good{number}"));
    }
    cluster.pass(300).await;
    cluster.shell.with(|world, _| world.karpenter_mut().unwrap().roll_image("202602.10.0"));
    for number in 0..6 {
        cluster.claim(&format!("default-x{number}"));
    }
    cluster.pass(30).await;
    cluster.shell.with(|world, now| world.karpenter_mut().unwrap().restart(now));
    cluster.pass(5 * 60).await;
    let (status, reason, message) = cluster.condition_of("default-x1");
    assert_eq!((&*status, &*reason), ("Unknown", "CSENotCreated"), "{message}");
    assert!(message.contains("Karpenter probably restarted"), "{message}");
    assert!(!message.contains("custom data"), "{message}");
    cluster.pass(11 * 60).await;
    let record = cluster.record();
    assert_eq!(record.entries().count(), 6);
    for entry in record.entries() {
        assert_eq!((&*entry.reason, &*entry.cause), ("NodeNotRegistered", "CSENotCreated"));
        assert!(!entry.blames_image(), "{entry:?}");
    }
    assert!(!cluster.events().iter().any(|event| event.2 == "ImageFailsBootstrap"));
    replica.stop().await;
}

/// C: no controller deletes NodeClaims that never register.
#[tokio::test(start_paused = true)]
async fn stopped_karpenter_is_reported_and_its_return_is_free() {
    let cluster = unsampled(scriptless(Cse::oras_missing()));
    let replica = cluster.start("a");
    cluster.pass(5).await;
    for number in 0..50 {
        cluster.claim(&format!("default-x{number}"));
    }
    cluster.pass(10).await;
    cluster.shell.with(|world, _| world.stop_karpenter());
    cluster.pass(17 * 60 + 30).await;
    assert_eq!(cluster.record().entries().count(), 50, "overdue, and alive");
    assert!(!cluster.current_condition("default-x7").2.contains("Karpenter is not acting"));
    cluster.pass(3600 - 1050).await;
    for number in 0..50 {
        let (status, reason, message) = cluster.current_condition(&format!("default-x{number}"));
        assert_eq!((&*status, &*reason), ("False", "NodeNotRegistered"), "{message}");
        assert!(message.contains("Karpenter is not acting"), "{message}");
    }
    let reads = replica.requests();
    assert!(reads <= 4 * 50, "minutes 5, 12, 16 and 20: {reads}");
    cluster.shell.with(world::SimulatedCluster::resume_karpenter);
    cluster.pass(300).await;
    assert_eq!(
        cluster.shell.with(|world, _| world.kubernetes().count("nodeclaims.karpenter.sh")),
        0
    );
    assert_eq!(cluster.record().entries().count(), 50);
    assert_eq!(cluster.events().iter().filter(|event| event.2 == "NodeNotRegistered").count(), 100);
    assert_eq!(replica.requests(), reads, "all was known");
    replica.stop().await;
}

/// C, with leaders of versions with other sentences.
#[tokio::test(start_paused = true)]
async fn new_leader_goes_by_the_record_and_not_by_sentences() {
    let cluster = unsampled(scriptless(Cse::oras_missing()));
    let say = |change: &dyn Fn(&str) -> String| {
        cluster.shell.with(|world, now| {
            let key = Key::new(None, "default-x1");
            let mut object = world.kubernetes().get(CLAIMS, &key).cloned().unwrap();
            for condition in object["status"]["conditions"].as_array_mut().unwrap() {
                if condition["type"] == "CSEProvisioned" {
                    condition["message"] = change(condition["message"].as_str().unwrap()).into();
                }
            }
            let status = json!({"status": {"conditions": object["status"]["conditions"]}});
            world.kubernetes_mut().change(CLAIMS, &key, &status, now).unwrap();
        });
    };
    let replica = cluster.start("a");
    cluster.pass(5).await;
    cluster.claim("default-x1");
    cluster.pass(10).await;
    cluster.shell.with(|world, _| world.stop_karpenter());
    cluster.pass(18 * 60).await;
    replica.stop().await;
    let record = cluster.record();
    let events = cluster.events();
    let expected = format!("{}{IDLE}", record.entries().next().unwrap().message);
    for (leader, change) in [
        ("b", &(|_: &str| "Words of another version.".to_owned()) as &dyn Fn(&str) -> String),
        ("c", &|message: &str| message.replace("is not acting", "sleeps")),
        ("d", &|message: &str| message.to_owned() + " More."),
    ] {
        say(change);
        let replica = cluster.start(leader);
        cluster.pass(5 * 60).await;
        assert_eq!(cluster.current_condition("default-x1").2, expected, "{leader}");
        assert_eq!((cluster.record(), cluster.events()), (record.clone(), events.clone()));
        replica.stop().await;
    }
}

/// C, with the controller started during the burst of deletions.
#[tokio::test(start_paused = true)]
async fn burst_of_deletions_is_explained_within_the_rate_limit() {
    let cluster = unsampled(scriptless(Cse::oras_missing()));
    for number in 0..50 {
        cluster.claim(&format!("default-x{number}"));
    }
    cluster.pass(10).await;
    cluster.shell.with(|world, _| world.stop_karpenter());
    cluster.pass(3600).await;
    cluster.shell.with(world::SimulatedCluster::resume_karpenter);
    let replica = cluster.start("a");
    cluster.pass(300).await;
    let record = cluster.record();
    assert_eq!(record.entries().count(), 50);
    let unseen = record.entries().filter(|entry| entry.cause != "NoCSR").count();
    assert!(unseen <= 5, "{unseen} VMs were gone before they were read");
    let reads = replica.requests();
    assert!(reads <= 2 * 50, "{reads}");
    replica.stop().await;
}

/// Old NodeClaims that are not deleted, at the controller's first start.
#[tokio::test(start_paused = true)]
async fn old_nodeclaims_are_read_once_and_spread() {
    let cluster = unsampled(scriptless(Cse::oras_missing()));
    for number in 0..20 {
        cluster.claim(&format!("default-x{number}"));
    }
    cluster.pass(10).await;
    cluster.shell.with(|world, _| world.stop_karpenter());
    cluster.pass(2 * 3600).await;
    let replica = cluster.start("a");
    cluster.pass(20).await;
    assert!(replica.requests() < 15, "not all at once: {}", replica.requests());
    cluster.pass(3600).await;
    assert_eq!(replica.requests(), 20, "each once");
    assert_eq!(cluster.record().entries().count(), 20);
    let entry = cluster.record().entries().next().unwrap().clone();
    assert!(entry.message.contains("Karpenter is not acting"), "{}", entry.message);
    replica.stop().await;
}

/// D: two image definitions with the same version.
#[tokio::test(start_paused = true)]
async fn failing_image_definition_alone_is_blamed() {
    let (good, bad) = ("V3gen2/202602.10.0", "2204gen2containerd/202602.10.0");
    let options = KarpenterOptions {
        image_version: good.to_owned(),
        bootstraps: [(bad.to_owned(), Cse::oras_missing())].into(),
        ..KarpenterOptions::default()
    };
    let (cluster, replica) = started(options).await;
    for number in 0..8 {
        cluster.claim(&format!("default-good{number}"));
    }
    cluster.pass(200).await;
    cluster.shell.with(|world, _| world.karpenter_mut().unwrap().roll_image(bad));
    for number in 0..6 {
        cluster.claim(&format!("default-bad{number}"));
    }
    cluster.pass(16 * 60).await;
    let events = cluster.events();
    let blamed: Vec<&str> = events
        .iter()
        .filter(|event| event.2 == "ImageFailsBootstrap")
        .map(|event| &*event.3)
        .collect();
    assert_eq!(blamed.len(), 2, "on the class and the pool: {events:?}");
    for note in blamed {
        assert!(note.starts_with("Image AKSUbuntu/2204gen2containerd/202602.10.0: "), "{note}");
        assert!(note.contains(" failed with NoCSR. Other images: 0 of 8."), "{note}");
    }
    replica.stop().await;
}

#[tokio::test(start_paused = true)]
async fn late_registration_or_user_deletion_is_not_a_failure() {
    let (cluster, replica) = started(KarpenterOptions::default()).await;
    cluster.shell.with(|world, _| {
        let karpenter = world.karpenter_mut().unwrap();
        karpenter.set_cse("default-late", Cse { seconds: Some(835), ..Cse::default() });
        karpenter.set_cse("default-deleted", Cse { seconds: None, ..Cse::default() });
    });
    for name in ["default-late", "default-deleted", "default-two"] {
        cluster.claim(name);
    }
    cluster.pass(10).await;
    // Two Nodes of one VM restart Karpenter's clock, so a deletion after 16 minutes is not by the time limit.
    cluster.shell.with(|world, now| {
        let key = mooring_simulator::kubernetes::Key::new(None, "default-two");
        let claim = world.kubernetes().get("nodeclaims.karpenter.sh", &key).unwrap().clone();
        let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "other"}, "spec": {"providerID": claim["status"]["providerID"]}});
        world.kubernetes_mut().create(node, now).unwrap();
    });
    cluster.pass(170).await;
    delete(&cluster, "default-deleted");
    cluster.pass(13 * 60).await;
    delete(&cluster, "default-two");
    cluster.pass(30 * 60).await;
    assert_eq!(cluster.record().entries().count(), 0, "{:?}", cluster.record());
    assert!(cluster.events().is_empty(), "{:?}", cluster.events());
    assert_eq!(cluster.condition("default-late", "Registered").unwrap()["status"], "True");
    replica.stop().await;
}

/// A Node that joined while Karpenter was stopped did not fail, and is registered when Karpenter is back.
#[tokio::test(start_paused = true)]
async fn node_that_joined_while_karpenter_was_stopped_is_ok() {
    let (cluster, replica) = started(KarpenterOptions::default()).await;
    cluster.claim("default-x1");
    cluster.pass(50).await;
    cluster.shell.with(|world, _| world.stop_karpenter());
    cluster.pass(3600).await;
    assert_eq!(cluster.record().entries().count(), 0);
    cluster.shell.with(world::SimulatedCluster::resume_karpenter);
    cluster.pass(60).await;
    assert_eq!(cluster.condition("default-x1", "Registered").unwrap()["status"], "True");
    assert_eq!((cluster.record().entries().count(), cluster.events().len()), (0, 0));
    replica.stop().await;
}

/// A launch that cannot succeed is not a bootstrap.
#[tokio::test(start_paused = true)]
async fn nodeclaim_that_was_never_launched_is_not_reported() {
    use mooring_simulator::karpenter::LaunchFailure;
    for failure in
        [LaunchFailure::NoCapacity, LaunchFailure::NodeClassNotReady, LaunchFailure::Refused]
    {
        let options =
            KarpenterOptions { launch_failure: Some(failure), ..KarpenterOptions::default() };
        let (cluster, replica) = started(options).await;
        cluster.claim("default-x1");
        cluster.pass(1200).await;
        assert_eq!((cluster.record().entries().count(), cluster.events().len()), (0, 0));
        assert_eq!(replica.requests(), 0, "{failure:?}");
        replica.stop().await;
    }
    // One that waits for a stopped Karpenter has no VM either.
    let (cluster, replica) = started(KarpenterOptions::default()).await;
    cluster.shell.with(|world, _| world.stop_karpenter());
    cluster.claim("default-x1");
    cluster.pass(1800).await;
    assert_eq!((cluster.record().entries().count(), cluster.events().len()), (0, 0));
    replica.stop().await;
}

/// Costs of the default mode: nothing for nodes that join, and few reads for others.
#[tokio::test(start_paused = true)]
async fn reads_per_nodeclaim_minute_are_bounded() {
    let cluster = unsampled(KarpenterOptions::default());
    let replica = cluster.start("a");
    cluster.pass(5).await;
    cluster.shell.with(|world, _| {
        for number in [7, 33] {
            let cse = Cse::oras_missing();
            world.karpenter_mut().unwrap().set_cse(&format!("default-{number}"), cse);
        }
    });
    for number in 0..50 {
        cluster.claim(&format!("default-{number}"));
        cluster.pass(72).await;
    }
    cluster.pass(1200).await;
    let reads = replica.requests();
    assert_eq!(reads, 2 * 2, "two reads of each failed node");
    // 0.005 reads for each of 50 NodeClaims in each of 60 minutes.
    assert!(reads * 1000 <= 5 * 50 * 60, "{reads}");
    replica.stop().await;
}
