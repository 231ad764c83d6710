//! The wedge: its symptoms, and the only repair.

use std::collections::BTreeSet;

use mooring_simulator::azure::Correlation;
use serde_json::{Value, json};

use super::support::{CLUSTER, Harness};

const LOG: &str = "/subscriptions/00000000-0000-0000-0000-000000000001/providers/Microsoft.Insights/eventtypes/management/values";

/// Returns the entries about scale sets of the last minutes, all pages.
fn entries(harness: &mut Harness, minutes: i64) -> Vec<Value> {
    let from = harness.now - jiff::SignedDuration::from_mins(minutes);
    let filter =
        format!("eventTimestamp ge '{from}' and resourceGroupName eq 'MC_rg-demo_demo_westeurope'");
    let filter = filter.replace(' ', "%20").replace('\'', "%27");
    let mut target = format!("{LOG}?api-version=2015-04-01&$filter={filter}");
    let mut all = Vec::new();
    loop {
        let answer = harness.call("GET", &target, None);
        all.extend(answer.body["value"].as_array().unwrap().clone());
        let Some(next) = answer.body["nextLink"].as_str() else { return all };
        next.strip_prefix("https://management.azure.com").unwrap().clone_into(&mut target);
    }
}

fn is(entry: &Value, status: &str) -> bool {
    entry["status"]["value"] == status
}

fn time(entry: &Value, member: &str) -> jiff::Timestamp {
    entry[member].as_str().unwrap().parse().unwrap()
}

/// Counts failed writes with the error code in the last minutes; true if one succeeded.
fn writes(harness: &mut Harness, minutes: i64) -> (usize, bool) {
    let entries = entries(harness, minutes);
    let signed = |entry: &&Value| {
        let message = entry["properties"]["statusMessage"].as_str().unwrap_or("{}");
        let message: Value = serde_json::from_str(message).unwrap();
        let outer = message["error"]["code"].as_str().unwrap_or_default();
        ["ResourceOperationFailure", "ResourceDeploymentFailure"].contains(&outer)
            && message["error"]["details"][0]["code"] == "NetworkingInternalOperationError"
    };
    let failed = entries.iter().filter(|entry| is(entry, "Failed")).filter(signed).count();
    (failed, entries.iter().any(|entry| is(entry, "Succeeded")))
}

#[test]
fn repair_checks_pass_at_the_start() {
    let mut harness = Harness::new("wedged-system-pool");
    assert_eq!(harness.pool_state("system"), "Failed");
    let (failed, succeeded) = writes(&mut harness, 360);
    assert!((33..40).contains(&failed) && !succeeded, "the youngest are not shown yet: {failed}");
    let nodes = harness.azure.nodes();
    let of = |pool: &str| nodes.iter().filter(|node| node.pool.as_deref() == Some(pool)).count();
    assert_eq!((of("system"), of("user")), (2, 2));
    let cluster = harness.get(CLUSTER);
    assert_eq!(cluster.text("/properties/provisioningState"), "Updating");
    let latest = harness.get(&format!("{CLUSTER}/operations/latest"));
    let started: jiff::Timestamp = latest.text("/startTime").parse().unwrap();
    assert_eq!(harness.now.duration_since(started).as_mins(), 120);
    let machines = harness.get(&format!("{CLUSTER}/agentPools/system/machines"));
    let codes = machines.body["value"].as_array().unwrap().iter();
    let codes: Vec<&Value> =
        codes.filter_map(|m| m.pointer("/properties/status/provisioningError/code")).collect();
    assert_eq!(codes, ["NetworkingInternalOperationError"]);
    let set = harness.vmss("system").unwrap()["id"].as_str().unwrap().to_owned();
    let nics =
        harness.call("GET", &format!("{set}/networkInterfaces?api-version=2018-10-01"), None);
    let empty = nics.body["value"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|nic| nic["properties"]["ipConfigurations"] == json!([]))
        .count();
    assert_eq!(empty, 1);
}

#[test]
fn wedge_continues_above_the_threshold() {
    let mut harness = Harness::new("wedged-system-pool");
    for _ in 0..20 {
        harness.pass(97);
        let (failed, succeeded) = writes(&mut harness, 360);
        assert!(failed >= 30 && !succeeded, "{failed} {succeeded}");
        assert_eq!(harness.pool_state("system"), "Failed");
    }
    let before = harness.azure.nodes().len();
    assert_eq!(before, 4, "old nodes stay");
}

#[test]
fn aks_retries_every_three_minutes_as_new_operations() {
    for (correlation, ids) in [(Correlation::Shared, 1), (Correlation::New, 19)] {
        let mut harness = Harness::new("healthy");
        assert!(harness.azure.wedge("user", correlation, harness.now));
        assert!(!harness.azure.wedge("nosuch", correlation, harness.now));
        harness.pass(3600 + 20 * 60);
        // The whole first hour is visible by now.
        let found = entries(&mut harness, 80);
        let end = harness.now - jiff::SignedDuration::from_mins(20);
        let mut failed: Vec<&Value> = found
            .iter()
            .filter(|entry| is(entry, "Failed") && time(entry, "eventTimestamp") <= end)
            .collect();
        failed.sort_by_key(|entry| time(entry, "eventTimestamp"));
        assert!((18..=22).contains(&failed.len()), "{}", failed.len());
        for pair in failed.windows(2) {
            let apart =
                time(pair[1], "eventTimestamp").duration_since(time(pair[0], "eventTimestamp"));
            assert!((160..=200).contains(&apart.as_secs()), "{apart}");
        }
        let of = |member: &str| {
            failed.iter().map(|entry| entry[member].to_string()).collect::<BTreeSet<_>>()
        };
        assert_eq!(of("operationId").len(), failed.len());
        assert_eq!(of("eventDataId").len(), failed.len());
        assert!(of("operationId").is_disjoint(&of("correlationId")));
        assert!(of("correlationId").len() >= ids, "{correlation:?}");
        assert_eq!(of("correlationId").len() == 1, correlation == Correlation::Shared);
        // Started, accepted, and minutes later failed: one operation.
        for end in failed {
            let of_operation = |status: &str| {
                let mut found = found.iter().filter(|entry| {
                    entry["operationId"] == end["operationId"] && is(entry, status)
                });
                time(found.next().unwrap(), "eventTimestamp")
            };
            let took = time(end, "eventTimestamp").duration_since(of_operation("Started"));
            assert!((60..=150).contains(&took.as_secs()), "{took}");
            assert!(of_operation("Started") < of_operation("Accepted"));
        }
    }
}

#[test]
fn the_log_is_late_and_out_of_order() {
    let mut harness = Harness::new("wedged-system-pool");
    harness.pass(3600);
    let mut found = entries(&mut harness, 120);
    found.sort_by_key(|entry| time(entry, "eventTimestamp"));
    let shown: Vec<_> = found.iter().map(|entry| time(entry, "submissionTimestamp")).collect();
    assert!(!shown.is_sorted());
    for entry in &found {
        let late = time(entry, "submissionTimestamp").duration_since(time(entry, "eventTimestamp"));
        assert!((180..=1200).contains(&late.as_secs()), "{late}");
        assert!(time(entry, "submissionTimestamp") <= harness.now);
    }
}

#[test]
fn an_abort_ends_the_retries_and_is_in_the_log() {
    let mut harness = Harness::new("wedged-system-pool");
    harness.post(&format!("{CLUSTER}/abort"));
    harness.pass(3600);
    let (before, _) = writes(&mut harness, 360);
    harness.pass(3600);
    assert_eq!(writes(&mut harness, 360 + 60).0, before, "nobody asks for the write any more");
    let filter = format!(
        "eventTimestamp ge '{}' and resourceUri eq '{CLUSTER}'",
        harness.now - jiff::SignedDuration::from_hours(5)
    );
    let filter = filter.replace(' ', "%20").replace('\'', "%27");
    let log = harness.call("GET", &format!("{LOG}?api-version=2015-04-01&$filter={filter}"), None);
    let of = |action: &str| {
        let entries = log.body["value"].as_array().unwrap().iter();
        let action = format!("Microsoft.ContainerService/managedClusters/{action}");
        entries.filter(|entry| entry["operationName"]["value"] == action).count()
    };
    assert_eq!((of("abort/action"), of("write")), (3, 3));
}

#[test]
fn interface_without_an_address_shows_none_at_first() {
    let mut harness = Harness::new("healthy");
    harness.azure.wedge("user", Correlation::New, harness.now);
    let pool = format!("{CLUSTER}/agentPools/user");
    assert_eq!(harness.put(&pool, &json!({"properties": {"count": 6}})).status, 200);
    harness.pass(60);
    let set = harness.vmss("user").unwrap()["id"].as_str().unwrap().to_owned();
    let lists = |harness: &mut Harness| -> Vec<Option<Value>> {
        let nics =
            harness.call("GET", &format!("{set}/networkInterfaces?api-version=2018-10-01"), None);
        let nics = nics.body["value"].as_array().unwrap().clone();
        nics.iter().map(|nic| nic["properties"].get("ipConfigurations").cloned()).collect()
    };
    let early = lists(&mut harness);
    assert!(early.contains(&None) && early.contains(&Some(Value::Null)), "{early:?}");
    assert!(!early.contains(&Some(json!([]))), "{early:?}");
    harness.pass(180);
    let late = lists(&mut harness);
    assert_eq!(late.iter().filter(|list| **list == Some(json!([]))).count(), 4, "{late:?}");
}

#[test]
fn wedge_is_fixed_only_by_a_new_scale_set() {
    let mut harness = Harness::new("wedged-system-pool");
    harness.post(&format!("{CLUSTER}/abort"));
    harness.pass(31);
    let pool = format!("{CLUSTER}/agentPools/system");
    let snapshot = harness.get(&pool).body;
    let old = harness.vmss("system").unwrap()["id"].as_str().unwrap().to_owned();

    let grow = harness.put(&pool, &json!({"properties": {"count": 4, "enableAutoScaling": true, "minCount": 3, "maxCount": 6}}));
    assert_eq!(grow.status, 200, "{grow:?}");
    harness.pass(130);
    let failed = harness.follow(&grow);
    assert_eq!(
        (failed.text("/status"), failed.text("/error/code")),
        ("Failed", "ReconcileVMSSAgentPoolFailed")
    );
    assert_eq!(harness.pool_state("system"), "Failed");
    assert_eq!(harness.azure.nodes().len(), 4, "a wedged pool gets no node");

    let temporary =
        json!({"properties": {"count": 1, "vmSize": "Standard_D4s_v5", "mode": "System"}});
    assert_eq!(harness.put(&format!("{CLUSTER}/agentPools/systmp"), &temporary).status, 201);
    harness.pass(200);
    assert_eq!(harness.pool_state("systmp"), "Succeeded");
    assert_eq!(harness.delete(&pool).status, 202);
    harness.pass(130);
    assert_eq!(harness.put(&pool, &json!({"properties": snapshot["properties"]})).status, 201);
    harness.pass(200);
    assert_eq!(harness.pool_state("system"), "Succeeded");
    let new = harness.vmss("system").unwrap()["id"].as_str().unwrap().to_owned();
    assert_ne!(old, new);
    harness.pass(1800);
    let (failed, _) = writes(&mut harness, 29);
    assert_eq!(failed, 0);
    assert_eq!(
        harness.azure.nodes().iter().filter(|node| node.pool.as_deref() == Some("system")).count(),
        3
    );
}
