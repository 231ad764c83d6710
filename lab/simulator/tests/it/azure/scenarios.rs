//! The facts of the built-in scenarios.

use jiff::SignedDuration;
use mooring_simulator::azure::{AzureChange, AzureOptions};

use super::support::{CLUSTER, COMPUTE, Harness};

#[test]
fn oras_is_missing_on_one_image_only() {
    let mut harness = Harness::new("oras-missing");
    let created: Vec<AzureChange> = harness.azure.take_changes();
    let vms = created.iter().filter(|change| matches!(change, AzureChange::VmCreated(_))).count();
    assert_eq!(vms, 10);
    for number in 1..=5 {
        let view = harness.get(&format!(
            "{COMPUTE}/virtualMachines/aks-default-bad{number}?$expand=instanceView"
        ));
        let extension = &view.body["properties"]["instanceView"]["extensions"][0];
        assert_eq!(extension["name"], "cse-agent-karpenter");
        let message = extension["statuses"][0]["message"].as_str().unwrap();
        assert!(
            message.contains("exit status=211") && message.contains("'oras': No such file"),
            "{message}"
        );
        let good = harness.get(&format!(
            "{COMPUTE}/virtualMachines/aks-default-good{number}/extensions/cse-agent-karpenter"
        ));
        assert_eq!(good.text("/properties/provisioningState"), "Succeeded");
        assert!(good.body["properties"].get("instanceView").is_none(), "only with $expand");
    }
    assert_eq!(harness.azure.nodes().iter().filter(|node| node.claim.is_some()).count(), 5);
}

#[test]
fn a_young_operation_is_five_minutes_old() {
    let mut harness = Harness::new("young-operation");
    let latest = harness.get(&format!("{CLUSTER}/operations/latest"));
    let started: jiff::Timestamp = latest.text("/startTime").parse().unwrap();
    assert_eq!(harness.now.duration_since(started).as_mins(), 5);
    assert_eq!(harness.pool_state("system"), "Failed");
}

#[test]
fn slow_machines_bootstrap_for_fourteen_minutes_and_join() {
    let mut harness = Harness::new("slow-boot");
    harness.azure.take_changes();
    let state = |harness: &mut Harness| {
        harness.get(&format!("{COMPUTE}/virtualMachines/aks-default-slow1/extensions/cse-agent-karpenter?$expand=instanceView"))
            .text("/properties/provisioningState")
            .to_owned()
    };
    harness.pass(800);
    assert_eq!(state(&mut harness), "Creating");
    harness.pass(200);
    assert_eq!(state(&mut harness), "Succeeded");
    let joined = harness.azure.take_changes();
    assert_eq!(
        joined.iter().filter(|change| matches!(change, AzureChange::NodeJoined(_))).count(),
        3,
        "{joined:?}"
    );
}

#[test]
fn a_throttled_subscription_refuses_soon() {
    let mut harness = Harness::new("throttled");
    let statuses: Vec<u16> = (0..20).map(|_| harness.get(CLUSTER).status).collect();
    assert!(statuses.contains(&429) && statuses.contains(&200), "{statuses:?}");
}

#[test]
fn speed_shortens_durations_and_leaves_time_alone() {
    let mut harness =
        Harness::with("healthy", 1, AzureOptions { speed: 60.0, ..AzureOptions::default() });
    let body = serde_json::json!({"properties": {"count": 1, "vmSize": "Standard_D4s_v5"}});
    let made = harness.put(&format!("{CLUSTER}/agentPools/extra"), &body);
    assert_eq!(made.header("retry-after"), "1");
    harness.now += SignedDuration::from_secs(3);
    let ended = harness.follow(&made);
    assert_eq!(ended.text("/status"), "Succeeded", "three minutes are three seconds");
    let took = ended
        .text("/endTime")
        .parse::<jiff::Timestamp>()
        .unwrap()
        .duration_since(ended.text("/startTime").parse().unwrap());
    assert_eq!(took.as_secs(), 3);
}

#[test]
fn model_returns_the_time_of_the_next_change() {
    let mut harness = Harness::new("wedged-system-pool");
    let next = harness.azure.next_change().unwrap();
    assert!((160..=200).contains(&next.duration_since(harness.now).as_secs()));
    assert!(Harness::new("healthy").azure.next_change().is_none());
    harness.now = next;
    harness.azure.settle(next);
    assert!(harness.azure.next_change().unwrap() > next);
}
