//! Tables of checks, on recorded and written responses.

use mooring_repair::observation::codes;
use mooring_workflow::reading::Named;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use mooring_repair::checks::evaluate;
use mooring_repair::observation::{
    ActivityEvent, ClusterView, Instance, ManagedCluster, Node, Pool, ScaleSet,
};
use mooring_repair::report::detect;
use mooring_repair::settings::{PoolTarget, Settings};
use mooring_repair::verdict::{WedgeVerdict, verdict};
use mooring_workflow::Reading;
use mooring_workflow::{CheckResult, Outcome};
use serde_json::{Value, json};

use crate::fixtures::fixture;

const SIGNATURE: &str = "NetworkingInternalOperationError";
const SET: &str = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/MC_sim-uksouth-mgmt-1/providers/Microsoft.Compute/virtualMachineScaleSets/aks-system-20157742-vmss";

fn now() -> Timestamp {
    "2026-05-26T20:40:00Z".parse().unwrap()
}

fn settings() -> Settings {
    // Ten are in the recorded log.
    let mut settings = Settings::new(PoolTarget {
        subscription: "s".into(),
        resource_group: "g".into(),
        cluster: "sim-uksouth-mgmt-1".into(),
        pool: "system".into(),
    });
    settings.fail_threshold = 10;
    settings
}

/// The recorded wedge, with the pool Failed.
fn recorded() -> ClusterView {
    let cluster = ManagedCluster::read(&fixture!("01_managed_cluster_get_succeeded")).unwrap();
    let mut pools = Pool::read_list(&fixture!("05_agentpools_list")).unwrap();
    for pool in &mut pools {
        if pool.name == "system" {
            Arc::make_mut(&mut pool.raw)["properties"]["provisioningState"] = "Failed".into();
        } else {
            Arc::make_mut(&mut pool.raw)["properties"]["provisioningState"] = "Succeeded".into();
        }
    }
    let scale_sets = ScaleSet::read_list(&fixture!("18_vmss_list")).unwrap();
    let mut events =
        ActivityEvent::read_list(&fixture!("15_activity_log_vmss_failed_page1")).unwrap();
    events.extend(
        ActivityEvent::read_list(&fixture!("15b_activity_log_vmss_failed_page2_negatives"))
            .unwrap(),
    );
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
        statuses: vec![],
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

fn event(correlation: &str, status: &str, minutes: i64, code: &str) -> ActivityEvent {
    let message = json!({"error": {"code": code}}).to_string();
    let at = now() - SignedDuration::from_mins(minutes);
    ActivityEvent::read(&json!({
        "correlationId": correlation, "operationName": {"value": "Microsoft.Compute/virtualMachineScaleSets/write"},
        "resourceId": SET, "status": {"value": status}, "eventTimestamp": at.to_string(),
        "properties": {"statusMessage": message}
    })).unwrap()
}

/// One a minute, the last one 30 minutes ago.
fn storm(count: i64) -> Vec<ActivityEvent> {
    (0..count).map(|n| event(&format!("c{n}"), "Failed", 30 + n, SIGNATURE)).collect()
}

fn writes(events: Vec<ActivityEvent>, settings: &Settings) -> Outcome {
    let mut seen = recorded();
    seen.events = (Reading::Known(events)).into();
    check(&seen, settings, "failing-writes").outcome
}

#[test]
fn failing_writes_requires_the_threshold() {
    for (count, threshold, expected) in [
        (10, 10, Outcome::Pass),
        (50, 10, Outcome::Pass),
        (9, 10, Outcome::Fail),
        (0, 10, Outcome::Fail),
        (100, 0, Outcome::Fail),
    ] {
        let mut settings = settings();
        settings.fail_threshold = threshold;
        assert_eq!(writes(storm(count), &settings), expected, "{count}/{threshold}");
    }
}

#[test]
fn few_failures_are_unknown_while_the_log_may_be_late() {
    for (minutes, expected) in [(0, Outcome::Unknown), (19, Outcome::Unknown), (20, Outcome::Fail)]
    {
        let events = vec![event("c", "Failed", minutes, SIGNATURE)];
        let settings = Settings { fail_threshold: 5, ..settings() };
        assert_eq!(writes(events, &settings), expected, "{minutes}");
    }
}

/// Counted events in the evidence of the check.
fn counted(events: &[Value]) -> usize {
    let mut seen = recorded();
    let mut events: Vec<_> = events.iter().filter_map(ActivityEvent::read).collect();
    for (turn, event) in (0_i64..).zip(&mut events).filter(|(_, event)| event.status == "Failed") {
        event.at = now() - SignedDuration::from_mins(5 + turn);
    }
    seen.events = (Reading::Known(events)).into();
    let text = check(&seen, &settings(), "failing-writes").evidence.join("");
    text.split(' ').next().unwrap().parse().unwrap()
}

#[test]
fn writes_to_other_resources_do_not_count() {
    let raw = |correlation: &str, operation: &str, resource: &str, status: &str, minutes: i64| {
        let at = now() - SignedDuration::from_mins(minutes);
        json!({
            "correlationId": correlation, "operationName": {"value": operation}, "resourceId": resource,
            "status": {"value": status}, "eventTimestamp": at.to_string(),
            "properties": {"statusMessage": json!({"error": {"code": SIGNATURE}}).to_string()},
        })
    };
    let write = "Microsoft.Compute/virtualMachineScaleSets/write";
    let failed = |correlation: &str| raw(correlation, write, SET, "Failed", 5);
    assert_eq!(counted(&[]), 0);
    assert_eq!(counted(&[raw("s", write, SET, "Succeeded", 99), failed("a"), failed("b")]), 2);
    assert_eq!(counted(&[raw("s", write, SET, "Succeeded", 1)]), 0);
    let operations = [
        "Microsoft.Network/networkInterfaces/write",
        "Microsoft.Compute/virtualMachineScaleSets/delete",
        "Microsoft.Compute/virtualMachineScaleSets/extensions/write",
        write,
    ];
    let each = operations.map(|operation| raw(operation, operation, SET, "Failed", 5));
    assert_eq!(counted(&each), 1);
    let other = SET.replace("aks-system-", "aks-user-");
    assert_eq!(counted(&[failed("a"), raw("u", write, &other, "Failed", 5)]), 1);
    assert_eq!(counted(&[raw("a", &write.to_uppercase(), &SET.to_uppercase(), "Failed", 5)]), 1);
    let saying = |correlation: &str, message: Value| {
        let mut event = failed(correlation);
        event["properties"] = json!({ "statusMessage": message });
        event
    };
    let mut silent = failed("n");
    silent["properties"] = Value::Null;
    let nothing = [
        silent,
        saying("t", "not JSON".into()),
        saying("j", json!({"error": {}}).to_string().into()),
    ];
    assert_eq!(counted(&nothing), 0);
    let others = ["OperationNotAllowed", "AllocationFailed", "RequestDisallowedByPolicy"];
    let mixed: Vec<_> = [&[SIGNATURE], &others[..], &[SIGNATURE]]
        .concat()
        .iter()
        .enumerate()
        .map(|(at, code)| {
            saying(&at.to_string(), json!({"error": {"code": code}}).to_string().into())
        })
        .collect();
    assert_eq!((mixed.len(), counted(&mixed)), (5, 2));
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
    let node = |conditions: Value, more: Value| {
        let mut raw =
            json!({"metadata": {"name": "n"}, "spec": {}, "status": {"conditions": conditions}});
        if let Some(name) = more.as_str() {
            *raw.pointer_mut(name).unwrap() = json!({"name": "n", "unschedulable": true, "deletionTimestamp": "2026-05-26T20:00:00Z"});
        }
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
        let read = node(conditions.clone(), Value::Null);
        assert_eq!((read.ready, read.usable()), (ready, ready), "{conditions}");
    }
    assert!(!node(is("True"), "/spec".into()).usable(), "it is cordoned");
    assert!(!node(is("True"), "/metadata".into()).usable(), "it is being deleted");
}

#[test]
fn new_node_without_provider_id_is_not_missing() {
    let instance = |number: usize| Instance {
        id: format!("{SET}/virtualMachines/{number}"),
        created: Some(now() - SignedDuration::from_mins(60)),
        statuses: vec![],
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
fn request_with_many_records_counts_once() {
    let events: Vec<_> = (0..20).map(|n| event("same", "Failed", 30 + n, SIGNATURE)).collect();
    assert_eq!(writes(events, &settings()), Outcome::Fail);
}

#[test]
fn success_clears_earlier_failures() {
    let at = |minutes| {
        let mut events = storm(10);
        events.push(event("ok", "Succeeded", minutes, ""));
        writes(events, &settings())
    };
    assert_eq!(at(29), Outcome::Fail);
    assert_eq!(at(30), Outcome::Fail, "at the same instant the success counts");
    assert_eq!(at(40), Outcome::Pass);
    let mut elsewhere = storm(10);
    elsewhere.push(ActivityEvent { resource: "/other".into(), ..event("ok", "Succeeded", 1, "") });
    assert_eq!(writes(elsewhere, &settings()), Outcome::Pass);
}

#[test]
fn failures_outside_the_window_do_not_count() {
    let mut settings = settings();
    settings.fail_threshold = 1;
    settings.fail_window = SignedDuration::from_mins(15);
    for (minutes, expected) in
        [(15, Outcome::Pass), (16, Outcome::Fail), (-5, Outcome::Pass), (-6, Outcome::Fail)]
    {
        assert_eq!(
            writes(vec![event("c", "Failed", minutes, SIGNATURE)], &settings),
            expected,
            "{minutes}"
        );
    }
}

#[test]
fn other_error_codes_do_not_count() {
    for code in ["OperationNotAllowed", "AllocationFailed", "RequestDisallowedByPolicy", ""] {
        let events = (0..10).map(|n| event(&format!("c{n}"), "Failed", 5, code)).collect();
        assert_eq!(writes(events, &settings()), Outcome::Fail, "{code}");
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
    let cluster = response(404, &fixture!("02_managed_cluster_get_404"), ManagedCluster::read);
    let seen = ClusterView { cluster: cluster.into(), ..ClusterView::default() };
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
    let denied = fixture!("17_activity_log_403");
    seen.events = response(403, &denied, ActivityEvent::read_list).into();
    assert_eq!(detect(&seen, &settings(), now()).detection.verdict.exit_code(), 3);
}

/// Reads a recorded response by its status.
fn response<T>(status: u16, body: &Value, read: impl FnOnce(&Value) -> Option<T>) -> Reading<T> {
    let code = || codes(body).into_iter().next().unwrap_or_else(|| format!("HTTP {status}"));
    match status {
        200..=299 => Reading::Known(read(body).unwrap()),
        404 => Reading::NotFound,
        401 | 403 => Reading::Denied(code()),
        _ => Reading::Failed(code()),
    }
}
