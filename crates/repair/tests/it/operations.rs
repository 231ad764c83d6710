//! Identification of the running operation.

use jiff::Timestamp;
use mooring_repair::observation::{ActivityEvent, AksOperation, ClusterView, ManagedCluster, Pool};
use mooring_repair::operation::{
    OngoingOperation, OperationScope, has_unknown_operation, is_running, running,
};
use mooring_workflow::Reading;
use serde_json::{Value, json};

use crate::fixtures::{fixture, list};

fn pool(name: &str, properties: &Value) -> Pool {
    Pool::read(&json!({"name": name, "properties": properties})).unwrap()
}

/// An idle cluster with a Failed pool.
fn recorded() -> ClusterView {
    let mut seen = ClusterView::default();
    let cluster = ManagedCluster::read(&fixture!("01_managed_cluster_get_succeeded")).unwrap();
    seen.cluster = (Reading::Known(cluster)).into();
    let failed = pool("system", &json!({"provisioningState": "Failed"}));
    seen.pools = (Reading::Known(vec![failed])).into();
    seen
}

fn busy(pool_state: &str) -> ClusterView {
    let mut seen = recorded();
    let mut cluster = ManagedCluster::read(&fixture!("01_managed_cluster_get_succeeded")).unwrap();
    cluster.state = "Updating".into();
    seen.cluster = (Reading::Known(cluster)).into();
    seen.pools =
        (Reading::Known(vec![pool("system", &json!({"provisioningState": pool_state}))])).into();
    seen
}

#[test]
fn running_operation_is_the_unfinished_one() {
    let mut seen = busy("Failed");
    let events = list(&fixture!("16_activity_log_cluster_write_started"), ActivityEvent::read);
    seen.events = (Reading::Known(events.clone())).into();
    // A newer pool operation is running; the old cluster write must not be taken for it.
    let started = |text: &str| text.parse::<Timestamp>().unwrap();
    let young = OngoingOperation::One {
        id: "w3".into(),
        started: started("2026-05-26T20:35:00Z"),
        scope: OperationScope::Pool("userswft1".into()),
    };
    assert_eq!(running(&seen), young);
    // Operations of other clusters do not count.
    let elsewhere = ActivityEvent {
        resource: events[0].resource.replace("managedClusters/", "managedClusters/other-"),
        at: started("2026-05-26T20:50:00Z"),
        ..events.last().unwrap().clone()
    };
    let with_it = events.iter().cloned().chain([elsewhere]).collect();
    seen.events = (Reading::Known(with_it)).into();
    assert_eq!(running(&seen), young);
    let ended: Vec<_> = events
        .iter()
        .cloned()
        .chain([ActivityEvent { status: "Succeeded".into(), ..events.last().unwrap().clone() }])
        .collect();
    seen.events = (Reading::Known(ended)).into();
    assert_eq!(
        running(&seen),
        OngoingOperation::One {
            id: "w2".into(),
            started: started("2026-05-26T19:00:00.7654321Z"),
            scope: OperationScope::Cluster
        }
    );
    // The operations endpoint takes precedence.
    let raw = json!({"name": "o1", "status": "InProgress", "startTime": "2026-05-26T19:00:00Z", "id": "/x/managedClusters/c/agentPools/system/operations/o1"});
    seen.latest_operation = (Reading::Known(AksOperation::read(&raw))).into();
    assert_eq!(
        running(&seen),
        OngoingOperation::One {
            id: "o1".into(),
            started: started("2026-05-26T19:00:00Z"),
            scope: OperationScope::Pool("system".into())
        }
    );
    let raw = json!({"name": "o1", "status": "InProgress"});
    seen.latest_operation = (Reading::Known(AksOperation::read(&raw))).into();
    assert!(matches!(running(&seen), OngoingOperation::Unidentified(_)));
}

#[test]
fn other_operation_does_not_count_as_running() {
    let mut seen = busy("Failed");
    let raw = json!({"name": "o1", "status": "InProgress", "startTime": "2026-05-26T19:00:00Z"});
    seen.latest_operation = (Reading::Known(AksOperation::read(&raw))).into();
    assert!(is_running(&seen, &OperationScope::Cluster, "o1"));
    assert!(!is_running(&seen, &OperationScope::Cluster, "o2"), "another one took its place");
    assert!(!is_running(&seen, &OperationScope::Pool("system".into()), "o1"));
    assert!(!is_running(&recorded(), &OperationScope::Cluster, "o1"), "it has ended");
    assert!(!is_running(&ClusterView::default(), &OperationScope::Cluster, "o1"), "nobody knows");
}

#[test]
fn reading_credentials_and_aborting_are_not_operations() {
    let mut seen = busy("Failed");
    let cluster = seen.cluster.get().unwrap().known().unwrap().id.clone();
    let event = |operation: &str| {
        let operation = format!("Microsoft.ContainerService/managedClusters/{operation}");
        ActivityEvent::read(&json!({
            "correlationId": "c", "operationName": {"value": operation}, "resourceId": cluster,
            "status": {"value": "Started"}, "eventTimestamp": "2026-05-26T20:35:00Z",
        }))
        .unwrap()
    };
    let found = ["write", "listClusterUserCredential/action", "abort/action"].map(event);
    for (event, runs) in found.into_iter().zip([true, false, false]) {
        let what = event.operation.clone();
        seen.events = (Reading::Known(vec![event])).into();
        assert_eq!(is_running(&seen, &OperationScope::Cluster, "c"), runs, "{what}");
    }
}

#[test]
fn unidentified_operation_is_not_guessed() {
    let mut seen = busy("Failed");
    seen.events = (Reading::Known(vec![])).into();
    assert!(matches!(running(&seen), OngoingOperation::Unidentified(_)));
    seen.events = (Reading::Denied("AuthorizationFailed".into())).into();
    assert!(
        matches!(running(&seen), OngoingOperation::Unidentified(why) if why.contains("AuthorizationFailed"))
    );
    assert_eq!(running(&recorded()), OngoingOperation::Nothing);
    let mut pool_only = recorded();
    pool_only.pools =
        (Reading::Known(vec![pool("system", &json!({"provisioningState": "Updating"}))])).into();
    pool_only.events = (Reading::Known(vec![])).into();
    assert!(matches!(running(&pool_only), OngoingOperation::Unidentified(_)));
    assert!(matches!(running(&ClusterView::default()), OngoingOperation::Unidentified(_)));
}

/// All have one correlation id: a failed write to a scale set does not end the operation of the cluster.
#[test]
fn operation_is_ended_only_by_its_own_end() {
    let mut seen = busy("Failed");
    let cluster = seen.cluster.get().unwrap().known().unwrap().id.clone();
    let event = |operation: Option<&str>, name: &str, resource: &str, status: &str| {
        ActivityEvent::read(&json!({
            "correlationId": "shared", "operationId": operation, "operationName": {"value": name},
            "resourceId": resource, "status": {"value": status}, "eventTimestamp": "2026-05-26T20:00:00Z",
        }))
        .unwrap()
    };
    let write = "Microsoft.ContainerService/managedClusters/write";
    let nested = "Microsoft.Compute/virtualMachineScaleSets/write";
    for (own, other) in [(Some("o1"), Some("o2")), (None, None), (Some("o1"), None)] {
        let started = event(own, write, &cluster, "Started");
        let accepted = event(own, write, &cluster, "Accepted");
        let failed = event(other, nested, "/subscriptions/s/set", "Failed");
        let id = own.unwrap_or("shared");
        let mut events = vec![started, accepted, failed];
        seen.events = (Reading::Known(events.clone())).into();
        assert!(is_running(&seen, &OperationScope::Cluster, id), "{own:?} {other:?}");
        // A retry of the same write is another operation of the same request.
        if own.is_some() && other.is_some() {
            events.push(event(other, write, &cluster, "Failed"));
            seen.events = (Reading::Known(events.clone())).into();
            assert!(is_running(&seen, &OperationScope::Cluster, id));
        }
        events.push(event(own, &write.to_uppercase(), &cluster.to_uppercase(), "Failed"));
        seen.events = (Reading::Known(events)).into();
        assert!(!is_running(&seen, &OperationScope::Cluster, id), "{own:?} {other:?}");
    }
}

/// Only then is more of the log read, which takes time and may show an entry that was never finished.
#[test]
fn unknown_operation_requires_a_busy_cluster() {
    let mut cluster = ManagedCluster::read(&fixture!("01_managed_cluster_get_succeeded")).unwrap();
    let open = ActivityEvent::read(&json!({
        "operationName": {"value": "Microsoft.ContainerService/managedClusters/write"},
        "resourceId": cluster.id, "status": {"value": "Started"}, "correlationId": "c",
        "eventTimestamp": "2026-05-26T20:00:00Z",
    }));
    let open = [open.unwrap()];
    assert!(
        !has_unknown_operation(&cluster, &[]) && !has_unknown_operation(&cluster, &open),
        "it is settled"
    );
    cluster.state = "Updating".into();
    assert!(has_unknown_operation(&cluster, &[]));
    assert!(!has_unknown_operation(&cluster, &open));
}
