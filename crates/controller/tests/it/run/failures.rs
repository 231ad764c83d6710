//! Failures around the controller: other writers, watches, the API server, Azure.

use mooring_simulator::karpenter::{KarpenterOptions, ProvisionMode};
use serde_json::{Value, json};

use crate::run::cluster::Cluster;
use crate::run::modes::Provisioning;

fn failing() -> KarpenterOptions {
    Provisioning::Extension.failing()
}

fn kubernetes(cluster: &Cluster, rule: Value) {
    let rule = serde_json::from_value(rule).unwrap();
    cluster.shell.with(|world, _| world.kubernetes_mut().add_fault(rule));
}

fn azure(cluster: &Cluster, rule: Value) {
    let rule = serde_json::from_value(rule).unwrap();
    cluster.shell.with(|world, now| world.azure_mut().add_fault(rule, now));
}

#[tokio::test(start_paused = true)]
async fn condition_dropped_by_karpenter_is_rewritten() {
    for atomic in [false, true] {
        let options = KarpenterOptions {
            mode: ProvisionMode::Vm,
            stale: 1.0,
            stale_seconds: 60,
            ..KarpenterOptions::default()
        };
        let cluster = Cluster::new(atomic, options);
        let replica = cluster.start("a");
        cluster.pass(5).await;
        for number in 0..5 {
            cluster.claim(&format!("default-x{number}"));
        }
        cluster.pass(600).await;
        for number in 0..5 {
            let name = format!("default-x{number}");
            assert_eq!(cluster.condition_of(&name).1, "CSESucceeded", "{atomic} {name}");
            assert_eq!(cluster.condition(&name, "Ready").unwrap()["status"], "True");
        }
        let text = replica.metrics.text();
        assert!(text.contains("mooring_writes_total{kind=\"condition_reassert\"}"), "{text}");
        replica.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn claim_deleted_while_it_is_read_is_reported() {
    let cluster = Cluster::new(false, failing());
    let replica = cluster.start("a");
    cluster.pass(5).await;
    cluster.claim("default-x1");
    // Azure does not respond when the failure happens, and responds only when the NodeClaim is deleted.
    azure(
        &cluster,
        json!({"when": {"service": "arm", "path": "*/virtualMachines/*", "method": "GET"}, "then": "timeoutBefore", "fromSeconds": 60, "untilSeconds": 400}),
    );
    cluster.pass(700).await;
    let record = cluster.record();
    let entry = record.entries().next().unwrap();
    assert_eq!(entry.source, "karpenter-event", "{entry:?}");
    assert!(entry.unconfirmed && entry.message.starts_with("Unconfirmed: "), "{}", entry.message);
    // An unconfirmed failure is not reported on the pool.
    assert!(cluster.events().iter().all(|event| event.0 == "NodeClaim"));
    replica.stop().await;
}

#[tokio::test(start_paused = true)]
async fn throttled_or_failing_azure_only_delays_the_verdict() {
    for (name, fault) in [
        (
            "throttled",
            json!({"then": {"status": {"status": 429, "retryAfter": 2}}, "probability": 0.5}),
        ),
        ("error", json!({"then": {"status": {"status": 503}}, "probability": 0.5})),
        ("broken", json!({"then": "dropBefore", "probability": 0.5})),
        ("cut", json!({"then": "truncate", "probability": 0.5})),
    ] {
        let cluster = Cluster::new(false, failing());
        let mut fault = fault;
        fault["when"] = json!({"service": "arm", "path": "*/virtualMachines/*", "method": "GET"});
        azure(&cluster, fault);
        let replica = cluster.start("a");
        cluster.pass(5).await;
        for number in 0..4 {
            cluster.claim(&format!("default-x{number}"));
        }
        cluster.pass(700).await;
        let record = cluster.record();
        assert_eq!(record.entries().count(), 4, "{name}");
        for entry in record.entries() {
            let reported = entry.code == Some(211) || entry.source == "karpenter-event";
            assert!(reported, "{name}: {entry:?}");
            let reason = cluster.condition_of(&entry.node_claim).1;
            assert_eq!(reason, entry.reason, "{name}: {entry:?}");
        }
        let made = cluster.shell.with(|world, _| world.azure().injected_faults());
        assert!(made > 0, "{name}: nothing went wrong");
        replica.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn denied_read_is_reported_with_the_missing_role() {
    let cluster = Cluster::new(
        false,
        KarpenterOptions { mode: ProvisionMode::Vm, ..KarpenterOptions::default() },
    );
    azure(
        &cluster,
        json!({"when": {"service": "arm", "path": "*/virtualMachines/*", "method": "GET"}, "then": {"status": {"status": 403}}}),
    );
    let replica = cluster.start("a");
    cluster.pass(5).await;
    cluster.claim("default-x1");
    cluster.pass(300).await;
    let (status, reason, message) = cluster.condition_of("default-x1");
    assert_eq!((&*status, &*reason), ("Unknown", "CSEStatusUnavailable"), "{message}");
    assert!(message.contains("Reader role on the node resource group"), "{message}");
    replica.stop().await;
}

#[tokio::test(start_paused = true)]
async fn vm_deleted_before_the_read_is_reported_from_the_event() {
    let cluster = Cluster::new(false, failing());
    azure(
        &cluster,
        json!({"when": {"service": "arm", "path": "*/virtualMachines/*", "method": "GET"}, "then": {"status": {"status": 404}}}),
    );
    let replica = cluster.start("a");
    cluster.pass(5).await;
    cluster.claim("default-x1");
    cluster.pass(700).await;
    let record = cluster.record();
    let sources: Vec<&str> = record.entries().map(|entry| &*entry.source).collect();
    assert_eq!(sources, ["karpenter-event"]);
    let events = cluster.events();
    assert_eq!(events.len(), 1, "{events:?}");
    assert!(
        events.iter().all(|event| event.0 == "NodeClaim" && event.2 == "CSEFailureUnconfirmed")
    );
    replica.stop().await;
}

#[tokio::test(start_paused = true)]
async fn watch_without_items_recovers_after_an_outage() {
    let cluster = Cluster::new(false, failing());
    let replica = cluster.start("a");
    // The watch ends after 290 s, and cannot be opened again at first.
    kubernetes(
        &cluster,
        json!({"when": {"method": "GET", "path": "*/events*"}, "then": {"status": {"status": 500}}, "fromSeconds": 100, "untilSeconds": 400}),
    );
    let readyz = || replica.health.readyz(cluster.shell.now());
    cluster.pass(250).await;
    assert_eq!(readyz(), Ok(()));
    cluster.pass(140).await;
    assert_eq!(readyz(), Err("watch failing: events".to_owned()));
    // There are no events, so nothing but a list can show that it works.
    cluster.pass(60).await;
    assert_eq!(readyz(), Ok(()));
    replica.stop().await;
}

#[tokio::test(start_paused = true)]
async fn slow_read_delays_only_its_own_claim() {
    let cluster = Cluster::new(false, failing());
    // Every read of one VM hangs until its timeout; the others succeed.
    azure(
        &cluster,
        json!({"when": {"service": "arm", "path": "*/virtualMachines/aks-default-x0*", "method": "GET"}, "then": "timeoutBefore"}),
    );
    let replica = cluster.start("a");
    cluster.pass(5).await;
    for number in 0..4 {
        cluster.claim(&format!("default-x{number}"));
    }
    cluster.pass(700).await;
    let record = cluster.record();
    assert_eq!(record.entries().count(), 4);
    for entry in record.entries() {
        let by_azure = entry.code == Some(211);
        assert_eq!(by_azure, entry.node_claim != "default-x0", "{entry:?}");
    }
    replica.stop().await;
}

mod slow {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn broken_repeated_and_reordered_watches_change_nothing() {
        for (name, fault) in [
            ("drop", json!({"then": "dropWatch", "probability": 0.3})),
            ("duplicate", json!({"then": "duplicateEvent", "probability": 0.7})),
            ("reorder", json!({"then": "reorderEvent", "probability": 0.5})),
            ("restart", json!({"then": "restart", "probability": 0.05, "times": 5})),
            (
                "stale",
                json!({"when": {"method": "GET", "path": "*/nodeclaims"}, "then": {"stale": {"seconds": 60}}, "probability": 0.5}),
            ),
            (
                "error",
                json!({"when": {"path": "*/nodeclaims*"}, "then": {"status": {"status": 500}}, "probability": 0.2}),
            ),
            (
                "throttled",
                json!({"when": {"path": "*/events*"}, "then": {"status": {"status": 429, "retryAfter": 1}}, "probability": 0.3}),
            ),
            (
                "lost",
                json!({"when": {"writes": true, "path": "*/nodeclaims/*"}, "then": "timeoutAfter", "probability": 0.5, "times": 3}),
            ),
        ] {
            for how in Provisioning::ALL {
                let cluster = Cluster::new(false, how.failing());
                kubernetes(&cluster, fault.clone());
                let replica = cluster.start("a");
                cluster.pass(20).await;
                cluster.provision(how, "default-x1").await;
                // A list from before: the version of the watch is too old.
                cluster.pass(30).await;
                cluster.shell.with(|world, _| world.kubernetes_mut().forget_history());
                cluster.pass(how.timeout_seconds() + 300).await;
                assert_eq!(cluster.record().entries().count(), 1, "{how:?}: {name}");
                let events = cluster.events();
                assert_eq!(events.len(), 2, "{how:?}: {name}: {events:?}");
                let (_, reason, message) = cluster.condition_of("default-x1");
                assert_eq!(reason, how.reason(), "{how:?}: {name}: {message}");
                let made = cluster.shell.with(|world, _| world.kubernetes().injected_faults());
                assert!(made > 0, "{how:?}: {name}: nothing went wrong");
                replica.kill().await;
            }
        }
    }
}
