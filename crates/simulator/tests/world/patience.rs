//! Timeouts of Karpenter for a NodeClaim, and its events until then.

use mooring_simulator::azure::Cse;
use mooring_simulator::karpenter::{self, LaunchFailure};
use serde_json::{Value, json};

use crate::karpenter::{BROKEN, events, has_vm, launch, requests, says, vm, with};
use crate::support::{Bench, NODE_CLAIMS, condition};

/// Returns events about NodeClaims and NodePools: kind, reason, message and count.
fn reported(bench: &Bench) -> Vec<(String, String, String, i64)> {
    let events = bench.world.kubernetes().objects("events", Some("default"));
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
    let mut bench = with(karpenter::Options::default());
    let hangs = Cse { seconds: None, ..Cse::default() };
    bench.world.karpenter_mut().unwrap().set_fate("default-c", hangs);
    launch(&mut bench, "default-c");
    bench.pass(14 * 60);
    assert!(
        bench.get(NODE_CLAIMS, "default-c").unwrap()["metadata"]["deletionTimestamp"].is_null()
    );
    bench.pass(57);
    assert!(
        !bench.get(NODE_CLAIMS, "default-c").unwrap()["metadata"]["deletionTimestamp"].is_null()
    );
    bench.pass(30);
    assert!(bench.get(NODE_CLAIMS, "default-c").is_none() && !has_vm(&bench, "aks-default-c"));
    assert!(events(&bench).is_empty());
}

#[test]
fn a_bootstrap_that_fails_without_an_extension_shows_nowhere_and_ends_at_fifteen_minutes() {
    let mut bench = with(karpenter::Options {
        image_version: BROKEN.to_owned(),
        ..karpenter::Options::default()
    });
    launch(&mut bench, "default-j");
    bench.pass(14 * 60 + 50);
    let body = vm(&mut bench, "default-j");
    assert_eq!(body["properties"]["provisioningState"], "Succeeded");
    let agent = &body["properties"]["instanceView"]["vmAgent"]["statuses"][0];
    assert_eq!(agent["displayStatus"], "Ready");
    assert_eq!(body["resources"][0]["properties"]["provisioningState"], "Succeeded");
    assert_eq!(requests(&bench), Vec::<Value>::new());
    let claim = bench.get(NODE_CLAIMS, "default-j").unwrap();
    let registered = condition(claim, "Registered").unwrap();
    assert_eq!(
        (&registered["reason"], &registered["message"]),
        (&json!("NodeNotFound"), &json!("Node not registered with cluster"))
    );
    assert!(claim["metadata"]["deletionTimestamp"].is_null());
    // Fifteen minutes after its creation, and a second for each of the two steps.
    bench.pass(7 + 2);
    let claim = bench.get(NODE_CLAIMS, "default-j").unwrap();
    assert!(!claim["metadata"]["deletionTimestamp"].is_null());
    assert_eq!(says(&bench, "default-j", "InstanceTerminating"), "True");
    assert!(has_vm(&bench, "aks-default-j"), "the claim says so as soon as the VM is asked to go");
    bench.pass(30);
    assert!(bench.get(NODE_CLAIMS, "default-j").is_none() && !has_vm(&bench, "aks-default-j"));
    let found = reported(&bench);
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
fn nodes_that_do_not_register_in_time_make_their_nodepool_unhealthy() {
    let mut bench = with(karpenter::Options {
        image_version: BROKEN.to_owned(),
        ..karpenter::Options::default()
    });
    let pool = |bench: &Bench| {
        let pool = bench.get("nodepools.karpenter.sh", "default").unwrap();
        condition(pool, "NodeRegistrationHealthy").map(|one| one["status"].clone())
    };
    launch(&mut bench, "default-1");
    bench.pass(16 * 60);
    assert_eq!(pool(&bench), None, "one failure is not enough");
    launch(&mut bench, "default-2");
    bench.pass(16 * 60);
    assert_eq!(pool(&bench), Some(json!("False")));
    let on_pool: Vec<_> = reported(&bench).into_iter().filter(|one| one.0 == "NodePool").collect();
    let expected = "Status condition transitioned, Type: NodeRegistrationHealthy, Status: Unknown -> False, \
        Reason: RegistrationFailed, Message: Failed to register node";
    let expected = one("NodePool", "NodeRegistrationHealthy", expected);
    assert_eq!(on_pool, [expected]);
    // After a restart two failures remain, so that three successes make it healthy again.
    let now = bench.now;
    bench.world.karpenter_mut().unwrap().restart(now);
    for number in 3..6 {
        assert_eq!(pool(&bench), Some(json!("False")), "before node {number}");
        let name = format!("default-{number}");
        bench.world.karpenter_mut().unwrap().set_fate(&name, Cse::default());
        launch(&mut bench, &name);
        bench.pass(180);
    }
    assert_eq!(pool(&bench), Some(json!("True")));
}

#[test]
fn a_launch_that_azure_refuses_is_given_up_after_five_minutes() {
    let refused = Some(LaunchFailure::Refused);
    let mut bench =
        with(karpenter::Options { launch_failure: refused, ..karpenter::Options::default() });
    for number in 0..2 {
        bench.world.create_claim(&format!("default-{number}"), bench.now).unwrap();
    }
    bench.pass(4 * 60 + 50);
    let claim = bench.get(NODE_CLAIMS, "default-0").unwrap();
    let launched = condition(claim, "Launched").unwrap();
    assert_eq!(
        (&launched["status"], &launched["reason"]),
        (&json!("Unknown"), &json!("LaunchFailed"))
    );
    assert!(claim["metadata"]["deletionTimestamp"].is_null());
    bench.pass(20);
    assert_eq!(bench.world.kubernetes().count(NODE_CLAIMS), 0);
    let found = reported(&bench);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].2.contains("Unknown -> False, Reason: LaunchFailed"), "{found:?}");
}

#[test]
fn a_launch_that_cannot_succeed_deletes_the_claim_at_once() {
    for (failure, said) in [(LaunchFailure::NoCapacity, 1), (LaunchFailure::NodeClassNotReady, 0)] {
        let options =
            karpenter::Options { launch_failure: Some(failure), ..karpenter::Options::default() };
        let mut bench = with(options);
        bench.world.create_claim("default-m", bench.now).unwrap();
        bench.pass(10);
        assert!(bench.get(NODE_CLAIMS, "default-m").is_none(), "{failure:?}");
        let events = bench.world.kubernetes().objects("events", Some("default"));
        let events = events.filter(|event| event["reason"] == "InsufficientCapacityError").count();
        assert_eq!(events, said, "{failure:?}");
    }
}

#[test]
fn more_than_one_node_restarts_the_fifteen_minutes() {
    let mut bench = with(karpenter::Options::default());
    launch(&mut bench, "default-o");
    let id = bench.get(NODE_CLAIMS, "default-o").unwrap()["status"]["providerID"].clone();
    let now = bench.now;
    let other = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "other"}, "spec": {"providerID": id}});
    bench.world.kubernetes_mut().create(other, now).unwrap();
    bench.pass(14 * 60);
    let claim = bench.get(NODE_CLAIMS, "default-o").unwrap();
    assert_eq!(condition(claim, "Registered").unwrap()["reason"], "MultipleNodesFound");
    bench.pass(90);
    let claim = bench.get(NODE_CLAIMS, "default-o").unwrap();
    assert!(claim["metadata"]["deletionTimestamp"].is_null(), "the clock was reset");
    bench.pass(90);
    let claim = bench.get(NODE_CLAIMS, "default-o");
    assert!(claim.is_none_or(|claim| !claim["metadata"]["deletionTimestamp"].is_null()));
}
