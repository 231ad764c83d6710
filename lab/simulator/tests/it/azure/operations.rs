//! Long-running operations, aborts, tags, and the request pipeline.

use mooring_simulator::azure::ActionDenial;
use serde_json::json;

use super::support::{CLUSTER, COMPUTE, Harness, seen};

#[test]
fn an_abort_goes_through_canceling() {
    let mut harness = Harness::new("wedged-system-pool");
    let state = |harness: &mut Harness| {
        harness.get(CLUSTER).text("/properties/provisioningState").to_owned()
    };
    assert_eq!(state(&mut harness), "Updating");
    let latest = harness.get(&format!("{CLUSTER}/operations/latest"));
    assert_eq!(latest.text("/status"), "InProgress");
    let abort = harness.post(&format!("{CLUSTER}/abort"));
    assert_eq!(abort.status, 202);
    assert_eq!(state(&mut harness), "Canceling");
    assert_eq!(harness.post(&format!("{CLUSTER}/abort")).status, 409, "one abort at a time");
    harness.pass(31);
    assert_eq!(harness.follow(&abort).text("/status"), "Succeeded");
    assert_eq!(state(&mut harness), "Canceled");
    assert_eq!(harness.post(&format!("{CLUSTER}/abort")).status, 409, "it has just ended");
    harness.pass(60);
    assert_eq!(harness.post(&format!("{CLUSTER}/abort")).status, 204);
}

#[test]
fn new_tags_settle_a_cluster() {
    let mut harness = Harness::new("wedged-system-pool");
    let tags =
        format!("{CLUSTER}/providers/Microsoft.Resources/tags/default?api-version=2021-04-01");
    let merge = json!({"operation": "Merge", "properties": {"tags": {"a": "b"}}});
    assert_eq!(
        harness.call("PATCH", &tags, Some(&merge)).status,
        409,
        "while another operation runs"
    );
    harness.post(&format!("{CLUSTER}/abort"));
    harness.pass(31);
    let merged = harness.call("PATCH", &tags, Some(&merge));
    assert_eq!(merged.body["properties"]["tags"], json!({"environment": "simulated", "a": "b"}));
    harness.pass(61);
    assert_eq!(harness.get(CLUSTER).text("/properties/provisioningState"), "Succeeded");
    let gone = json!({"operation": "Delete", "properties": {"tags": {"a": "b"}}});
    let left = harness.call("PATCH", &tags, Some(&gone));
    assert_eq!(left.body["properties"]["tags"], json!({"environment": "simulated"}));
}

#[test]
fn the_gates_refuse_in_order() {
    let mut harness = Harness::new("healthy");
    let bare = http::Request::get(CLUSTER).body(bytes::Bytes::new()).unwrap();
    assert_eq!(seen(harness.azure.handle(&bare, harness.now)).status, 401);
    assert_eq!(harness.call("GET", CLUSTER, None).code(), "MissingApiVersionParameter");
    let odd = harness.call("GET", &format!("{CLUSTER}?api-version=1999-01-01"), None);
    assert_eq!((odd.status, odd.code()), (400, "NoRegisteredProviderFound"));
    let other = CLUSTER.replace("0001", "0002");
    assert_eq!(harness.get(&other).code(), "SubscriptionNotFound");
    assert_eq!(harness.get(&CLUSTER.replace("rg-demo", "nosuch")).code(), "ResourceGroupNotFound");
    assert_eq!(harness.get(&CLUSTER.replace("/demo", "/nosuch")).code(), "ResourceNotFound");
    assert_eq!(harness.get(&CLUSTER.to_uppercase()).status, 200, "case does not matter");
}

#[test]
fn denied_action_is_forbidden_and_vmss_put_needs_image_read() {
    let mut harness = Harness::new("healthy");
    let name = harness.vmss("user").unwrap()["id"].as_str().unwrap().to_owned();
    let action = "Microsoft.Compute/galleries/images/versions/read".to_owned();
    harness.azure.deny(ActionDenial { principal: None, action, scope: None });
    let whole = harness.put(&name, &json!({"tags": {}}));
    assert_eq!((whole.status, whole.code()), (403, "LinkedAuthorizationFailed"));
    let part = harness.call(
        "PATCH",
        &format!("{name}?api-version=2024-07-01"),
        Some(&json!({"tags": {"a": "b"}})),
    );
    assert_eq!(part.status, 200);
    harness.azure.deny(ActionDenial {
        principal: None,
        action: "Microsoft.Insights/*".to_owned(),
        scope: None,
    });
    let log = harness.get("/subscriptions/00000000-0000-0000-0000-000000000001/providers/Microsoft.Insights/eventtypes/management/values");
    assert_eq!((log.status, log.code()), (403, "AuthorizationFailed"));
}

#[test]
fn correlation_ids_come_back() {
    let mut harness = Harness::new("healthy");
    let target = format!("{CLUSTER}?api-version=2025-02-01");
    let answer = seen(harness.outcome_with(
        "GET",
        &target,
        None,
        &[("x-ms-correlation-request-id", "my-id")],
    ));
    assert_eq!(answer.header("x-ms-correlation-request-id"), "my-id");
    assert!(!answer.header("x-ms-request-id").is_empty());
    assert_eq!(answer.header("x-ms-ratelimit-remaining-subscription-reads"), "249");
}

#[test]
fn lists_come_in_pages() {
    let options = mooring_simulator::azure::AzureOptions { page_size: 4, ..Default::default() };
    let mut harness = Harness::with("oras-missing", 1, options);
    let mut names = Vec::new();
    let mut target = format!("{COMPUTE}/virtualMachines?api-version=2024-07-01");
    loop {
        let page = harness.call("GET", &target, None);
        names.extend(
            page.body["value"]
                .as_array()
                .unwrap()
                .iter()
                .map(|vm| vm["name"].as_str().unwrap().to_owned()),
        );
        let next = page.text("/nextLink").to_owned();
        if next.is_empty() {
            break;
        }
        target = next.strip_prefix("https://management.azure.com").unwrap().to_owned();
    }
    assert_eq!(names.len(), 10);
    names.dedup();
    assert_eq!(names.len(), 10);
}

#[test]
fn the_graph_finds_failed_extensions() {
    let mut harness = Harness::new("oras-missing");
    let query = "Resources | where type =~ 'Microsoft.Compute/virtualMachines/extensions' | where resourceGroup =~ 'mc_rg-demo_demo_westeurope' and properties.provisioningState == 'Failed' | project id, state = properties.provisioningState";
    let target = "/providers/Microsoft.ResourceGraph/resources?api-version=2022-10-01";
    let first = harness.call(
        "POST",
        target,
        Some(&json!({"subscriptions": [], "query": query, "options": {"$top": 3}})),
    );
    assert_eq!(
        (first.body["count"].as_u64(), first.body["totalRecords"].as_u64()),
        (Some(3), Some(5)),
        "{first:?}"
    );
    let token = first.text("/$skipToken");
    let rest = harness.call(
        "POST",
        target,
        Some(&json!({"query": query, "options": {"$top": 3, "$skipToken": token}})),
    );
    assert_eq!(rest.body["count"], 2);
    assert_eq!(
        harness.call("POST", target, Some(&json!({"query": "Resources | evaluate x"}))).status,
        400
    );
}

#[test]
fn a_command_prints_the_report_of_a_failed_bootstrap() {
    let mut harness = Harness::new("oras-missing");
    let target =
        format!("{COMPUTE}/virtualMachines/aks-default-bad2/runCommand?api-version=2024-07-01");
    let script =
        json!({"commandId": "RunShellScript", "script": ["cat /var/log/azure/aks/provision.json"]});
    let run = harness.call("POST", &target, Some(&script));
    assert_eq!(run.status, 202);
    harness.pass(31);
    let location =
        run.header("location").strip_prefix("https://management.azure.com").unwrap().to_owned();
    let output = harness.call("GET", &location, None);
    assert!(output.text("/value/0/message").contains("211"), "{output:?}");
}

#[test]
fn an_operation_that_ends_before_its_abort_keeps_its_end() {
    let mut harness = Harness::new("healthy");
    let user = format!("{CLUSTER}/agentPools/user");
    let pool = harness.get(&user).body;
    let put = harness.put(&user, &pool);
    harness.pass(100);
    assert_eq!(harness.post(&format!("{user}/abort")).status, 202);
    harness.pass(60);
    assert_eq!(harness.follow(&put).text("/status"), "Succeeded");
    assert_eq!(harness.pool_state("user"), "Succeeded");
}
