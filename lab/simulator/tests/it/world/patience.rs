//! Timeouts of Karpenter for a NodeClaim, and its events until then.

use mooring_simulator::azure::Cse;
use mooring_simulator::karpenter::{self, LaunchFailure};
use serde_json::{Value, json};

use super::karpenter::{BROKEN, events, has_vm, launch, requests, says, vm, with};
use super::support::{Harness, NODE_CLAIMS, condition};

/// Returns events about NodeClaims and NodePools: kind, reason, message and count.
fn reported(harness: &Harness) -> Vec<(String, String, String, i64)> {
    let events = harness.world.kubernetes().objects("events", Some("default"));
    let mut found: Vec<_> = events
        .map(|event| {
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            let count = event["count"].as_i64().unwrap();
            assert_eq!(event["involvedObject"].get("namespace"), None);
            let first = text(&event["firstTimestamp"]);
            let kind = text(&event["involvedObject"]["kind"]);
            (first, (kind, text(&event["reason"]), text(&event["message"]), count))
        })
        .collect();
    found.sort();
    found.into_iter().map(|(_, one)| one).collect()
}

fn one(kind: &str, reason: &str, message: &str) -> (String, String, String, i64) {
    (kind.to_owned(), reason.to_owned(), message.to_owned(), 1)
}

#[test]
fn a_claim_that_never_registers_goes_after_fifteen_minutes() {
    let mut harness = with(karpenter::KarpenterOptions::default());
    let hangs = Cse { seconds: None, ..Cse::default() };
    harness.world.karpenter_mut().unwrap().set_cse("default-c", hangs);
    launch(&mut harness, "default-c");
    harness.pass(14 * 60);
    assert!(
        harness.get(NODE_CLAIMS, "default-c").unwrap()["metadata"]["deletionTimestamp"].is_null()
    );
    harness.pass(57);
    assert!(
        !harness.get(NODE_CLAIMS, "default-c").unwrap()["metadata"]["deletionTimestamp"].is_null()
    );
    harness.pass(30);
    assert!(harness.get(NODE_CLAIMS, "default-c").is_none() && !has_vm(&harness, "aks-default-c"));
    assert!(events(&harness).is_empty());
}

#[test]
fn failed_bootstrap_without_extension_times_out() {
    let mut harness = with(karpenter::KarpenterOptions {
        image_version: BROKEN.to_owned(),
        ..karpenter::KarpenterOptions::default()
    });
    launch(&mut harness, "default-j");
    harness.pass(14 * 60 + 50);
    let body = vm(&mut harness, "default-j");
    assert_eq!(body["properties"]["provisioningState"], "Succeeded");
    let agent = &body["properties"]["instanceView"]["vmAgent"]["statuses"][0];
    assert_eq!(agent["displayStatus"], "Ready");
    assert_eq!(body["resources"][0]["properties"]["provisioningState"], "Succeeded");
    assert_eq!(requests(&harness), Vec::<Value>::new());
    let claim = harness.get(NODE_CLAIMS, "default-j").unwrap();
    let registered = condition(claim, "Registered").unwrap();
    assert_eq!(
        (&registered["reason"], &registered["message"]),
        (&json!("NodeNotFound"), &json!("Node not registered with cluster"))
    );
    assert!(claim["metadata"]["deletionTimestamp"].is_null());
    // Fifteen minutes after its creation, and a second for each of the two steps.
    harness.pass(7 + 2);
    let claim = harness.get(NODE_CLAIMS, "default-j").unwrap();
    assert!(!claim["metadata"]["deletionTimestamp"].is_null());
    assert_eq!(says(&harness, "default-j", "InstanceTerminating"), "True");
    assert!(
        has_vm(&harness, "aks-default-j"),
        "the claim says so as soon as the VM is asked to go"
    );
    harness.pass(30);
    assert!(harness.get(NODE_CLAIMS, "default-j").is_none() && !has_vm(&harness, "aks-default-j"));
    let found = reported(&harness);
    assert_eq!(found.len(), 2, "{found:?}");
    let launched =
        "Status condition transitioned, Type: Launched, Status: Unknown -> True, Reason: Launched";
    assert_eq!(found[0], one("NodeClaim", "Launched", launched));
    let (kind, reason, message, count) = &found[1];
    assert_eq!((&**kind, &**reason), ("NodeClaim", "DisruptionBlocked"));
    assert_eq!(message, "Nodeclaim does not have an associated node");
    assert!((7..=8).contains(count), "about every 2 minutes: {count}");
}

#[test]
fn late_nodes_make_their_nodepool_unhealthy() {
    let mut harness = with(karpenter::KarpenterOptions {
        image_version: BROKEN.to_owned(),
        ..karpenter::KarpenterOptions::default()
    });
    let pool = |harness: &Harness| {
        let pool = harness.get("nodepools.karpenter.sh", "default").unwrap();
        condition(pool, "NodeRegistrationHealthy").map(|one| one["status"].clone())
    };
    launch(&mut harness, "default-1");
    harness.pass(16 * 60);
    assert_eq!(pool(&harness), None, "one failure is not enough");
    launch(&mut harness, "default-2");
    harness.pass(16 * 60);
    assert_eq!(pool(&harness), Some(json!("False")));
    let on_pool: Vec<_> =
        reported(&harness).into_iter().filter(|one| one.0 == "NodePool").collect();
    let expected = "Status condition transitioned, Type: NodeRegistrationHealthy, Status: Unknown -> False, \
        Reason: RegistrationFailed, Message: Failed to register node";
    let expected = one("NodePool", "NodeRegistrationHealthy", expected);
    assert_eq!(on_pool, [expected]);
    // After a restart two failures remain, so that three successes make it healthy again.
    let now = harness.now;
    harness.world.karpenter_mut().unwrap().restart(now);
    for number in 3..6 {
        assert_eq!(pool(&harness), Some(json!("False")), "before node {number}");
        let name = format!("default-{number}");
        harness.world.karpenter_mut().unwrap().set_cse(&name, Cse::default());
        launch(&mut harness, &name);
        harness.pass(180);
    }
    assert_eq!(pool(&harness), Some(json!("True")));
}

#[test]
fn a_launch_that_azure_refuses_is_given_up_after_five_minutes() {
    let refused = Some(LaunchFailure::Refused);
    let mut harness = with(karpenter::KarpenterOptions {
        launch_failure: refused,
        ..karpenter::KarpenterOptions::default()
    });
    for number in 0..2 {
        harness.world.create_claim(&format!("default-{number}"), harness.now).unwrap();
    }
    harness.pass(4 * 60 + 50);
    let claim = harness.get(NODE_CLAIMS, "default-0").unwrap();
    let launched = condition(claim, "Launched").unwrap();
    assert_eq!(
        (&launched["status"], &launched["reason"]),
        (&json!("Unknown"), &json!("LaunchFailed"))
    );
    assert!(claim["metadata"]["deletionTimestamp"].is_null());
    harness.pass(20);
    assert_eq!(harness.world.kubernetes().count(NODE_CLAIMS), 0);
    let found = reported(&harness);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].2.contains("Unknown -> False, Reason: LaunchFailed"), "{found:?}");
}

#[test]
fn a_launch_that_cannot_succeed_deletes_the_claim_at_once() {
    for (failure, said) in [(LaunchFailure::NoCapacity, 1), (LaunchFailure::NodeClassNotReady, 0)] {
        let options = karpenter::KarpenterOptions {
            launch_failure: Some(failure),
            ..karpenter::KarpenterOptions::default()
        };
        let mut harness = with(options);
        harness.world.create_claim("default-m", harness.now).unwrap();
        harness.pass(10);
        assert!(harness.get(NODE_CLAIMS, "default-m").is_none(), "{failure:?}");
        let events = harness.world.kubernetes().objects("events", Some("default"));
        let events = events.filter(|event| event["reason"] == "InsufficientCapacityError").count();
        assert_eq!(events, said, "{failure:?}");
    }
}

#[test]
fn more_than_one_node_restarts_the_fifteen_minutes() {
    let mut harness = with(karpenter::KarpenterOptions::default());
    launch(&mut harness, "default-o");
    let id = harness.get(NODE_CLAIMS, "default-o").unwrap()["status"]["providerID"].clone();
    let now = harness.now;
    let other = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "other"}, "spec": {"providerID": id}});
    harness.world.kubernetes_mut().create(other, now).unwrap();
    harness.pass(14 * 60);
    let claim = harness.get(NODE_CLAIMS, "default-o").unwrap();
    assert_eq!(condition(claim, "Registered").unwrap()["reason"], "MultipleNodesFound");
    harness.pass(90);
    let claim = harness.get(NODE_CLAIMS, "default-o").unwrap();
    assert!(claim["metadata"]["deletionTimestamp"].is_null(), "the clock was reset");
    harness.pass(90);
    let claim = harness.get(NODE_CLAIMS, "default-o");
    assert!(claim.is_none_or(|claim| !claim["metadata"]["deletionTimestamp"].is_null()));
}
