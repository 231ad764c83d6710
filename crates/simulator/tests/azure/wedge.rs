//! The wedge: what shows it, what does not cure it, and what does.

use serde_json::{Value, json};

use crate::support::{CLUSTER, Lab};

const LOG: &str = "/subscriptions/00000000-0000-0000-0000-000000000001/providers/Microsoft.Insights/eventtypes/management/values";

/// Failed writes with the signature in the last so many minutes, and whether one succeeded.
fn writes(lab: &mut Lab, minutes: i64) -> (usize, bool) {
    let from = lab.now - jiff::SignedDuration::from_mins(minutes);
    let filter =
        format!("eventTimestamp ge '{from}' and resourceGroupName eq 'MC_rg-demo_demo_westeurope'");
    let filter = filter.replace(' ', "%20").replace('\'', "%27");
    let answer = lab.call("GET", &format!("{LOG}?api-version=2015-04-01&$filter={filter}"), None);
    let entries = answer.body["value"].as_array().unwrap().clone();
    let is = |entry: &Value, status: &str| entry["status"]["value"] == status;
    let signed = |entry: &&Value| {
        let message = entry["properties"]["statusMessage"].as_str().unwrap_or("{}");
        let message: Value = serde_json::from_str(message).unwrap();
        message["error"]["code"] == "NetworkingInternalOperationError"
    };
    let failed = entries.iter().filter(|entry| is(entry, "Failed")).filter(signed).count();
    (failed, entries.iter().any(|entry| is(entry, "Succeeded")))
}

#[test]
fn every_guard_of_a_repair_passes_at_the_start() {
    let mut lab = Lab::new("wedged-system-pool");
    assert_eq!(lab.pool_state("system"), "Failed");
    assert_eq!(writes(&mut lab, 15), (12, false));
    let nodes = lab.azure.nodes();
    let of = |pool: &str| nodes.iter().filter(|node| node.pool.as_deref() == Some(pool)).count();
    assert_eq!((of("system"), of("user")), (2, 2));
    let cluster = lab.get(CLUSTER);
    assert_eq!(cluster.text("/properties/provisioningState"), "Updating");
    let latest = lab.get(&format!("{CLUSTER}/operations/latest"));
    let started: jiff::Timestamp = latest.text("/startTime").parse().unwrap();
    assert_eq!(lab.now.duration_since(started).as_mins(), 120);
    let machines = lab.get(&format!("{CLUSTER}/agentPools/system/machines"));
    let codes = machines.body["value"].as_array().unwrap().iter();
    let codes: Vec<&Value> =
        codes.filter_map(|m| m.pointer("/properties/status/provisioningError/code")).collect();
    assert_eq!(codes, ["NetworkingInternalOperationError"]);
    let set = lab.vmss("system").unwrap()["id"].as_str().unwrap().to_owned();
    let nics = lab.call("GET", &format!("{set}/networkInterfaces?api-version=2018-10-01"), None);
    let empty = nics.body["value"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|nic| nic["properties"]["ipConfigurations"] == json!([]))
        .count();
    assert_eq!(empty, 1);
}

#[test]
fn the_wedge_goes_on_and_stays_above_the_threshold() {
    let mut lab = Lab::new("wedged-system-pool");
    for _ in 0..20 {
        lab.pass(97);
        let (failed, succeeded) = writes(&mut lab, 15);
        assert!(failed >= 10 && !succeeded, "{failed} {succeeded}");
        assert_eq!(lab.pool_state("system"), "Failed");
    }
    let before = lab.azure.nodes().len();
    assert_eq!(before, 4, "old nodes stay");
}

#[test]
fn a_quiet_wedge_tries_every_three_minutes() {
    let mut lab = Lab::new("healthy");
    assert!(lab.azure.wedge("user", true, lab.now));
    assert!(!lab.azure.wedge("nosuch", true, lab.now));
    lab.pass(3600);
    // The ingestion delay of three minutes hides the last one.
    assert_eq!(writes(&mut lab, 60).0, 19);
}

#[test]
fn only_a_new_scale_set_cures_it() {
    let mut lab = Lab::new("wedged-system-pool");
    lab.post(&format!("{CLUSTER}/abort"));
    lab.pass(31);
    let pool = format!("{CLUSTER}/agentPools/system");
    let snapshot = lab.get(&pool).body;
    let old = lab.vmss("system").unwrap()["id"].as_str().unwrap().to_owned();

    let grow = lab.put(&pool, &json!({"properties": {"count": 4, "enableAutoScaling": true, "minCount": 3, "maxCount": 6}}));
    assert_eq!(grow.status, 200, "{grow:?}");
    lab.pass(130);
    let failed = lab.follow(&grow);
    assert_eq!(
        (failed.text("/status"), failed.text("/error/code")),
        ("Failed", "ReconcileVMSSAgentPoolFailed")
    );
    assert_eq!(lab.pool_state("system"), "Failed");
    assert_eq!(lab.azure.nodes().len(), 4, "a wedged pool gets no node");

    let temporary =
        json!({"properties": {"count": 1, "vmSize": "Standard_D4s_v5", "mode": "System"}});
    assert_eq!(lab.put(&format!("{CLUSTER}/agentPools/systmp"), &temporary).status, 201);
    lab.pass(200);
    assert_eq!(lab.pool_state("systmp"), "Succeeded");
    assert_eq!(lab.delete(&pool).status, 202);
    lab.pass(130);
    assert_eq!(lab.put(&pool, &json!({"properties": snapshot["properties"]})).status, 201);
    lab.pass(200);
    assert_eq!(lab.pool_state("system"), "Succeeded");
    let new = lab.vmss("system").unwrap()["id"].as_str().unwrap().to_owned();
    assert_ne!(old, new);
    lab.pass(600);
    let (failed, _) = writes(&mut lab, 9);
    assert_eq!(failed, 0);
    assert_eq!(
        lab.azure.nodes().iter().filter(|node| node.pool.as_deref() == Some("system")).count(),
        3
    );
}
