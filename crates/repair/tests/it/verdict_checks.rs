//! Tables of checks, on recorded and written responses.

use mooring_workflow::reading::Named;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use mooring_repair::checks::evaluate;
use mooring_repair::observation::{
    ActivityEvent, ClusterView, Instance, ManagedCluster, Node, Pool, ScaleSet,
};
use mooring_repair::report::detect;
use mooring_repair::settings::Settings;
use mooring_repair::verdict::{WedgeVerdict, verdict};
use mooring_workflow::Reading;
use mooring_workflow::{CheckResult, Outcome};
use serde_json::{Value, json};

use crate::common::target;
use crate::fixtures::{fixture, list};

const SET: &str = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/MC_sim-uksouth-mgmt-1/providers/Microsoft.Compute/virtualMachineScaleSets/aks-system-20157742-vmss";

fn now() -> Timestamp {
    "2026-05-26T20:40:00Z".parse().unwrap()
}

fn settings() -> Settings {
    // Ten are in the recorded log.
    Settings { fail_threshold: 10, ..Settings::new(target("system")) }
}

/// The recorded wedge, with the pool Failed.
fn recorded() -> ClusterView {
    let cluster = ManagedCluster::read(&fixture!("01_managed_cluster_get_succeeded")).unwrap();
    let mut pools = list(&fixture!("05_agentpools_list"), Pool::read);
    for pool in &mut pools {
        let state = if pool.name == "system" { "Failed" } else { "Succeeded" };
        Arc::make_mut(&mut pool.raw)["properties"]["provisioningState"] = state.into();
    }
    let scale_sets = list(&fixture!("18_vmss_list"), ScaleSet::read);
    let mut events = list(&fixture!("15_activity_log_vmss_failed_page1"), ActivityEvent::read);
    let second = fixture!("15b_activity_log_vmss_failed_page2_negatives");
    events.extend(list(&second, ActivityEvent::read));
    let nodes = Node::read_list(&fixture!("26_kube_nodes_list")).unwrap();
    ClusterView {
        cluster: Reading::Known(cluster).into(),
        pools: Reading::Known(pools).into(),
        scale_sets: Reading::Known(scale_sets).into(),
        events: Reading::Known(events).into(),
        nodes: Reading::Known(nodes).into(),
        instances: Named::of("aks-system-20157742-vmss", Reading::Known(vec![])),
        nics: Named::of("aks-system-20157742-vmss", Reading::Known(vec![])),
        ..ClusterView::default()
    }
}

fn check(seen: &ClusterView, settings: &Settings, name: &str) -> CheckResult {
    evaluate(seen, settings, now()).into_iter().find(|check| check.name == name).unwrap()
}

fn outcome(seen: &ClusterView, name: &str) -> Outcome {
    check(seen, &settings(), name).outcome
}

fn pool(name: &str, properties: &Value) -> Pool {
    Pool::read(&json!({"name": name, "properties": properties})).unwrap()
}

fn with_pools(pools: Vec<Pool>) -> ClusterView {
    let mut seen = recorded();
    seen.pools = (Reading::Known(pools)).into();
    seen
}

#[test]
fn recorded_wedge_is_confirmed() {
    let checks = evaluate(&recorded(), &settings(), now());
    assert_eq!(verdict(&checks), WedgeVerdict::Confirmed, "{checks:#?}");
    let names: Vec<_> = checks.iter().map(|check| check.name.as_str()).collect();
    assert_eq!(
        names,
        ["missing-nodes", "failing-writes", "cluster-state", "other-pools", "pool-state"]
    );
}

#[test]
fn unready_or_cordoned_nodes_do_not_count_toward_the_minimum() {
    // Of the five recorded nodes one is cordoned, one NotReady, one without a condition, one being deleted.
    let text = check(&recorded(), &settings(), "missing-nodes").evidence.join("");
    assert!(text.starts_with("1 Ready, schedulable node (minimum 2)"), "{text}");
    let node = |ready: bool| {
        json!({"metadata": {"name": "n", "labels": {"agentpool": "system"}},
        "status": {"conditions": [{"type": "MemoryPressure", "status": "True"}, {"type": "Ready", "status": if ready { "True" } else { "Unknown" }}]}})
    };
    for (ready, min, expected) in [
        (0, 2, Outcome::Pass),
        (1, 2, Outcome::Pass),
        (2, 2, Outcome::Fail),
        (3, 2, Outcome::Fail),
        (0, 0, Outcome::Fail),
        (0, -1, Outcome::Fail),
    ] {
        let mut seen = with_pools(vec![pool("system", &json!({"minCount": min, "count": 3}))]);
        let mut elsewhere = Node::read(&node(true)).unwrap();
        elsewhere.pool = Some("user".into());
        let nodes = (0..3).map(|index| Node::read(&node(index < ready)).unwrap());
        let nodes = nodes.chain([elsewhere]).collect();
        seen.nodes = (Reading::Known(nodes)).into();
        let check = check(&seen, &settings(), "missing-nodes");
        assert_eq!(check.outcome, expected, "{ready}/{min}");
        assert!(!check.evidence[0].is_empty());
    }
}

#[test]
fn instance_without_a_node_counts_after_ten_minutes() {
    let instance = |id: &str, minutes: Option<i64>| Instance {
        id: format!("{SET}/virtualMachines/{id}"),
        created: minutes.map(|minutes| now() - SignedDuration::from_mins(minutes)),
        failures: vec![],
    };
    for (instances, expected) in [
        (vec![], Outcome::Fail),
        (vec![instance("0", Some(60))], Outcome::Fail),
        (vec![instance("7", Some(10))], Outcome::Pass),
        (vec![instance("7", Some(9))], Outcome::Fail),
        (vec![instance("7", None)], Outcome::Unknown),
        (vec![instance("7", None), instance("8", Some(11))], Outcome::Pass),
    ] {
        let mut seen = with_pools(vec![pool("system", &json!({}))]);
        seen.instances = Named::of("aks-system-20157742-vmss", Reading::Known(instances.clone()));
        assert_eq!(outcome(&seen, "missing-nodes"), expected, "{instances:?}");
    }
}

#[test]
fn denied_reads_are_unknown_and_never_healthy() {
    type Case = (fn(&mut ClusterView, String), &'static [&'static str]);
    let denied = || "AuthorizationFailed".to_owned();
    let cases: [Case; 6] = [
        (|seen, why| seen.events = Reading::Denied(why).into(), &["failing-writes"]),
        (|seen, why| seen.events = Reading::Failed(why).into(), &["failing-writes"]),
        (|seen, why| seen.scale_sets = Reading::Denied(why).into(), &["failing-writes"]),
        (|seen, why| seen.nodes = Reading::Denied(why).into(), &["missing-nodes"]),
        (
            |seen, why| seen.pools = Reading::Denied(why).into(),
            &["missing-nodes", "other-pools", "pool-state"],
        ),
        (|seen, why| seen.cluster = Reading::Denied(why).into(), &["cluster-state"]),
    ];
    for (deny, names) in cases {
        let mut seen = recorded();
        deny(&mut seen, denied());
        for name in names {
            let check = check(&seen, &settings(), name);
            assert_eq!(check.outcome, Outcome::Unknown, "{name}");
            assert!(!check.allows_run());
        }
        assert_eq!(
            verdict(&evaluate(&seen, &settings(), now())),
            WedgeVerdict::Unknown,
            "{names:?}"
        );
    }
    let nothing = ClusterView::default();
    assert!(
        evaluate(&nothing, &settings(), now())
            .iter()
            .all(|check| check.outcome == Outcome::Unknown)
    );
}

#[test]
fn failed_writes_count_once_per_request_by_nested_codes() {
    let text = check(&recorded(), &settings(), "failing-writes").evidence.join("");
    // Ten of the first page; of the second only q8 (other case) and q9 (nested code), which are too close for two.
    assert!(text.starts_with("11 writes to aks-system-20157742-vmss"), "{text}");
}

#[test]
fn scale_set_is_found_by_tag_and_never_by_name() {
    let set = |tags: Value| {
        ScaleSet::read(&json!({"id": SET, "name": "aks-system-20157742-vmss", "tags": tags}))
            .unwrap()
    };
    for (tags, outcome) in [
        (json!({"aks-managed-poolName": "system"}), Outcome::Pass),
        (json!({"aks-managed-poolName": "user"}), Outcome::Unknown),
        (json!({}), Outcome::Unknown),
    ] {
        let mut seen = recorded();
        seen.scale_sets = (Reading::Known(vec![set(tags.clone())])).into();
        assert_eq!(check(&seen, &settings(), "failing-writes").outcome, outcome, "{tags}");
    }
    let mut none = recorded();
    none.scale_sets = (Reading::Known(Vec::new())).into();
    assert_eq!(check(&none, &settings(), "failing-writes").outcome, Outcome::Unknown);
}

#[test]
fn node_is_ready_only_by_its_condition() {
    let node = |conditions: &Value, member: &str, value: Value| {
        let mut raw =
            json!({"metadata": {"name": "n"}, "spec": {}, "status": {"conditions": conditions}});
        raw["metadata"]["deletionTimestamp"] = Value::Null;
        *raw.pointer_mut(member).unwrap() = value;
        Node::read(&raw).unwrap()
    };
    let is = |status: &str| json!([{"type": "Ready", "status": status}]);
    let pressure = json!({"type": "MemoryPressure", "status": "True"});
    for (conditions, ready) in [
        (Value::Null, false),
        (json!([]), false),
        (is("False"), false),
        (is("Unknown"), false),
        (json!([pressure]), false),
        (is("True"), true),
        (json!([pressure, {"type": "Ready", "status": "True"}]), true),
    ] {
        let read = node(&conditions, "/spec", json!({}));
        assert_eq!((read.ready, read.usable()), (ready, ready), "{conditions}");
    }
    assert!(!node(&is("True"), "/spec", json!({"unschedulable": true})).usable(), "cordoned");
    let deleted = "2026-05-26T20:00:00Z".into();
    assert!(!node(&is("True"), "/metadata/deletionTimestamp", deleted).usable(), "being deleted");
}

#[test]
fn new_node_without_provider_id_is_not_missing() {
    let instance = |number: usize| Instance {
        id: format!("{SET}/virtualMachines/{number}"),
        created: Some(now() - SignedDuration::from_mins(60)),
        failures: vec![],
    };
    let node = |number: usize| {
        let name = format!("n{number}");
        let labels = json!({"agentpool": "system"});
        Node::read(&json!({"metadata": {"name": name, "labels": labels}})).unwrap()
    };
    for (instances, nodes, expected) in
        [(1, 0, Outcome::Pass), (1, 1, Outcome::Unknown), (2, 1, Outcome::Pass)]
    {
        let mut seen = with_pools(vec![pool("system", &json!({}))]);
        seen.instances = Named::of(
            "aks-system-20157742-vmss",
            Reading::Known((0..instances).map(instance).collect()),
        );
        seen.nodes = (Reading::Known((0..nodes).map(node).collect())).into();
        assert_eq!(outcome(&seen, "missing-nodes"), expected, "{instances} {nodes}");
    }
}

#[test]
fn cluster_state_allows_or_blocks_a_repair() {
    for (state, expected) in [
        ("Succeeded", Outcome::Pass),
        ("Canceled", Outcome::Pass),
        ("Failed", Outcome::Pass),
        ("Updating", Outcome::Pass),
        ("Upgrading", Outcome::Pass),
        ("Canceling", Outcome::Unknown),
        ("Creating", Outcome::Fail),
        ("Deleting", Outcome::Fail),
        ("", Outcome::Fail),
        ("SomethingNew", Outcome::Fail),
        ("succeeded", Outcome::Fail),
    ] {
        let mut seen = recorded();
        let mut cluster =
            ManagedCluster::read(&fixture!("01_managed_cluster_get_succeeded")).unwrap();
        cluster.state = state.into();
        seen.cluster = (Reading::Known(cluster)).into();
        let check = check(&seen, &settings(), "cluster-state");
        assert_eq!(check.outcome, expected, "{state}");
        assert!(check.evidence[0].contains(state));
        assert_eq!(check.transient, state == "Canceling", "only what will end is waited for");
        assert_eq!(check.evidence[0].contains("has no provisioningState"), state.is_empty());
    }
}

#[test]
fn pool_state_is_wedged_only_in_configured_states() {
    let mut all = settings();
    for state in ["Canceled", "Updating", "Upgrading"] {
        all.add_wedge_state(state).unwrap();
    }
    for (state, narrow, wide) in [
        ("Failed", Outcome::Pass, Outcome::Pass),
        ("Canceled", Outcome::Fail, Outcome::Pass),
        ("Updating", Outcome::Fail, Outcome::Pass),
        ("Upgrading", Outcome::Fail, Outcome::Pass),
        ("Succeeded", Outcome::Fail, Outcome::Fail),
        ("Creating", Outcome::Fail, Outcome::Fail),
        ("Deleting", Outcome::Fail, Outcome::Fail),
        ("", Outcome::Fail, Outcome::Fail),
        ("failed", Outcome::Fail, Outcome::Fail),
        ("SomethingFuture", Outcome::Fail, Outcome::Fail),
    ] {
        let seen = with_pools(vec![pool("system", &json!({"provisioningState": state}))]);
        assert_eq!(check(&seen, &settings(), "pool-state").outcome, narrow, "{state}");
        let wide_check = check(&seen, &all, "pool-state");
        assert_eq!(wide_check.outcome, wide, "{state}");
        assert!(wide_check.evidence[0].contains(state));
    }
}

#[test]
fn other_pools_have_nodes_or_are_empty_on_purpose() {
    let system = || pool("system", &json!({"count": 0}));
    let temp = json!({"count": 0, "tags": {"mooring-purpose": "repair-temporary-pool"}});
    for (pools, expected, text) in [
        (vec![system(), pool("user", &json!({"count": 4}))], Outcome::Pass, "1 other"),
        (
            vec![
                pool(
                    "system",
                    &json!({"count": 2, "minCount": 2, "provisioningState": "Succeeded"}),
                ),
                pool("user", &json!({"count": 4})),
            ],
            Outcome::Pass,
            "1 other",
        ),
        (vec![system()], Outcome::Pass, "0 other"),
        (vec![system(), pool("user", &json!({"count": 0}))], Outcome::Fail, "user"),
        // An unknown count is not 0.
        (vec![system(), pool("user", &json!({}))], Outcome::Pass, "1 other"),
        (
            vec![system(), pool("m", &json!({"mode": "Machines"}))],
            Outcome::Pass,
            "m (mode Machines)",
        ),
        (
            vec![
                system(),
                pool("v", &json!({"type": "VirtualMachines", "mode": "User"})),
                pool("user", &json!({"count": 1})),
            ],
            Outcome::Pass,
            "1 other pool, none unexpectedly empty; not counted: v (type VirtualMachines)",
        ),
        (
            vec![system(), pool("g", &json!({"mode": "Gateway", "count": 0}))],
            Outcome::Pass,
            "0 other pools, none unexpectedly empty; not counted: g (mode Gateway)",
        ),
        (
            vec![
                system(),
                pool("v", &json!({"type": "VirtualMachines"})),
                pool("user", &json!({"count": 0})),
            ],
            Outcome::Fail,
            "pools without nodes: user",
        ),
        (
            vec![pool("system", &json!({"type": "AvailabilitySet", "mode": "System", "count": 3}))],
            Outcome::Fail,
            "pool system is of type AvailabilitySet",
        ),
        (
            vec![pool(
                "system",
                &json!({"mode": "System", "count": 3, "powerState": {"code": "Stopped"}}),
            )],
            Outcome::Fail,
            "pool system is stopped",
        ),
        (
            vec![pool("user", &json!({"mode": "User", "count": 3}))],
            Outcome::Fail,
            "the cluster lists no system pool",
        ),
        (
            vec![pool("sys2", &json!({"mode": "System", "count": 3}))],
            Outcome::Fail,
            "pool system was not found",
        ),
        (
            vec![
                system(),
                pool("a", &json!({"count": 0, "enableAutoScaling": true, "minCount": 0})),
            ],
            Outcome::Pass,
            "1 other",
        ),
        (vec![system(), pool("a", &json!({"count": 0, "minCount": 0}))], Outcome::Fail, "a"),
        (
            vec![
                system(),
                pool("a", &json!({"count": 0, "enableAutoScaling": true, "minCount": 1})),
            ],
            Outcome::Fail,
            "a",
        ),
        (
            vec![system(), pool("a", &json!({"count": 0, "powerState": {"code": "Stopped"}}))],
            Outcome::Pass,
            "1 other",
        ),
        (vec![system(), pool("systmp", &temp)], Outcome::Pass, "0 other"),
        (vec![pool("user", &json!({"count": 4}))], Outcome::Fail, "pool system was not found"),
        (vec![], Outcome::Fail, "pool system was not found"),
    ] {
        let check = check(&with_pools(pools.clone()), &settings(), "other-pools");
        assert_eq!(check.outcome, expected, "{pools:?}");
        assert!(check.evidence[0].contains(text), "{}", check.evidence[0]);
    }
}

#[test]
fn missing_pool_is_not_a_wedge() {
    let seen = with_pools(vec![pool("user", &json!({"count": 4}))]);
    for name in ["missing-nodes", "pool-state"] {
        assert_eq!(outcome(&seen, name), Outcome::Fail, "{name}");
    }
}

#[test]
fn override_allows_a_failed_check_with_its_reason() {
    let mut settings = settings();
    settings.add_override("pool-state=ticket 7").unwrap();
    let seen = with_pools(vec![pool("system", &json!({"provisioningState": "Succeeded"}))]);
    let found = check(&seen, &settings, "pool-state");
    assert_eq!(
        (found.outcome, found.allows_run(), found.overridden.as_deref()),
        (Outcome::Fail, true, Some("ticket 7"))
    );
    assert_eq!(check(&seen, &settings, "other-pools").overridden, None);
}

#[test]
fn missing_cluster_is_never_healthy() {
    let seen = ClusterView { cluster: Reading::NotFound.into(), ..ClusterView::default() };
    let report = detect(&seen, &settings(), now());
    assert!(report.greenfield);
    assert_eq!(report.detection.verdict.exit_code(), 3);
    assert_eq!(report.detection.verdict, WedgeVerdict::Unknown);
}

#[test]
fn unread_interfaces_do_not_hide_a_wedge_and_an_unread_log_does() {
    let mut seen = recorded();
    seen.nics = Named::of("aks-system-20157742-vmss", Reading::Denied("x".into()));
    let report = detect(&seen, &settings(), now());
    assert_eq!(report.detection.verdict.exit_code(), 1);
    assert_eq!(report.detection.verdict, WedgeVerdict::Confirmed);
    seen.events = Reading::Denied("AuthorizationFailed".into()).into();
    assert_eq!(detect(&seen, &settings(), now()).detection.verdict.exit_code(), 3);
}
