//! Agent pools.

use mooring_simulator::azure::{Change, Options};
use serde_json::json;

use crate::support::{CLUSTER, Lab};

fn pool(name: &str) -> String {
    format!("{CLUSTER}/agentPools/{name}")
}

#[test]
fn a_new_pool_gets_a_scale_set_then_nodes_then_succeeds() {
    let mut lab = Lab::new("healthy");
    lab.azure.take_changes();
    let made = lab.put(
        &pool("extra"),
        &json!({"properties": {"count": 2, "vmSize": "Standard_D4s_v5", "unknown": {"kept": [1]}}}),
    );
    assert_eq!((made.status, made.text("/properties/provisioningState")), (201, "Creating"));
    assert_eq!(lab.follow(&made).text("/status"), "InProgress");
    assert!(lab.vmss("extra").is_none());
    lab.pass(25);
    assert_eq!(lab.vmss("extra").unwrap()["sku"]["capacity"], 2);
    assert!(lab.azure.take_changes().is_empty(), "nodes register after their bootstrap");
    lab.pass(120);
    let joined = lab.azure.take_changes();
    assert_eq!(joined.len(), 2, "{joined:?}");
    assert!(joined.iter().all(
        |change| matches!(change, Change::NodeJoined(node) if node.pool.as_deref() == Some("extra"))
    ));
    lab.pass(60);
    assert_eq!(lab.follow(&made).text("/status"), "Succeeded");
    let whole = lab.get(&pool("extra"));
    assert_eq!(whole.text("/properties/provisioningState"), "Succeeded");
    assert_eq!(
        whole.body["properties"]["unknown"],
        json!({"kept": [1]}),
        "unknown members are kept"
    );
    assert_eq!(
        lab.get(&format!("{}/machines", pool("extra"))).body["value"].as_array().unwrap().len(),
        2
    );
}

#[test]
fn a_deleted_pool_takes_its_nodes_and_its_scale_set_with_it() {
    let mut lab = Lab::new("healthy");
    lab.azure.take_changes();
    let gone = lab.delete(&pool("user"));
    assert_eq!(gone.status, 202);
    assert_eq!(lab.pool_state("user"), "Deleting");
    lab.pass(130);
    assert_eq!(lab.get(&pool("user")).status, 404);
    assert!(lab.vmss("user").is_none());
    assert_eq!(lab.azure.take_changes().len(), 2);
    assert_eq!(lab.delete(&pool("user")).status, 204);
}

#[test]
fn one_operation_at_a_time() {
    let mut lab = Lab::new("healthy");
    let body = json!({"properties": {"count": 3, "vmSize": "Standard_D4s_v5"}});
    assert_eq!(lab.put(&pool("user"), &body).status, 200);
    let refused = lab.put(&pool("extra"), &body);
    assert_eq!((refused.status, refused.code()), (409, "OperationNotAllowed"));
    assert!(
        refused.text("/message").contains("Another operation (user - Updating) is in progress")
    );
    assert!(refused.body.get("error").is_none(), "AKS has its code at the top");
    lab.pass(130);
    assert_eq!(lab.put(&pool("extra"), &body).status, 201);
}

#[test]
fn the_rules_of_pools_hold() {
    let mut lab = Lab::new("healthy");
    let mut refuse = |name: &str, properties, status, code: &str| {
        let refused = lab.put(&pool(name), &json!({"properties": properties}));
        assert_eq!((refused.status, refused.code()), (status, code), "{refused:?}");
    };
    refuse("BadName", json!({"count": 1, "vmSize": "a"}), 400, "InvalidParameter");
    refuse("toolongapoolname", json!({"count": 1, "vmSize": "a"}), 400, "InvalidParameter");
    refuse("zero", json!({"count": 0, "vmSize": "a", "mode": "System"}), 400, "InvalidParameter");
    refuse("nosize", json!({"count": 1}), 400, "InvalidParameter");
    refuse("user", json!({"vmSize": "Standard_D64s_v5"}), 400, "PropertyChangeNotAllowed");
    refuse("system", json!({"mode": "User", "count": 3}), 400, "OperationNotAllowed");
    let last = lab.delete(&pool("system"));
    assert_eq!((last.status, last.code()), (400, "OperationNotAllowed"));
}

#[test]
fn a_stale_tag_is_refused() {
    let mut lab = Lab::new("healthy");
    let tag = lab.get(&pool("user")).text("/properties/eTag").to_owned();
    let target = format!("{}?api-version=2025-02-01", pool("user"));
    let body = json!({"properties": {"count": 3}});
    let good = lab.outcome_with("PUT", &target, Some(&body), &[("if-match", &tag)]);
    assert_eq!(crate::support::seen(good).status, 200);
    lab.pass(130);
    let stale = lab.outcome_with("PUT", &target, Some(&body), &[("if-match", &tag)]);
    assert_eq!(crate::support::seen(stale).status, 412);
    let there = lab.outcome_with("PUT", &target, Some(&body), &[("if-none-match", "*")]);
    assert_eq!(crate::support::seen(there).status, 412);
}

#[test]
fn what_exceeds_the_quota_is_refused() {
    let mut lab = Lab::with("healthy", 1, Options { vcpu_quota: Some(24), ..Options::default() });
    // Five nodes of four processors are in use.
    let body = |count| json!({"properties": {"count": count, "vmSize": "Standard_D4s_v5"}});
    let refused = lab.put(&pool("extra"), &body(2));
    assert_eq!((refused.status, refused.code()), (400, "ErrCode_InsufficientVCPUQuota"));
    assert!(
        refused.text("/message").contains("left regional vcpu quota 4, requested quota 8"),
        "{refused:?}"
    );
    assert_eq!(lab.put(&pool("extra"), &body(1)).status, 201);
}

#[test]
fn a_shrunk_pool_loses_its_newest_nodes() {
    let mut lab = Lab::new("healthy");
    lab.azure.take_changes();
    lab.put(&pool("user"), &json!({"properties": {"count": 1}}));
    lab.pass(130);
    let changes = lab.azure.take_changes();
    assert!(
        matches!(&changes[..], [Change::NodeGone { node, .. }] if node.ends_with("000001")),
        "{changes:?}"
    );
    assert_eq!(lab.pool_state("user"), "Succeeded");
}
