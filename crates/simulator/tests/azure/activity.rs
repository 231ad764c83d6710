//! The activity log.

use serde_json::json;

use crate::support::{CLUSTER, Lab};

const LOG: &str = "/subscriptions/00000000-0000-0000-0000-000000000001/providers/Microsoft.Insights/eventtypes/management/values";

fn query(lab: &mut Lab, filter: &str) -> crate::support::Seen {
    let filter = filter.replace(' ', "%20").replace('\'', "%27");
    lab.call("GET", &format!("{LOG}?api-version=2015-04-01&$filter={filter}"), None)
}

#[test]
fn a_write_is_seen_after_the_delay() {
    let mut lab = Lab::new("healthy");
    let from = lab.now;
    lab.put(&format!("{CLUSTER}/agentPools/user"), &json!({"properties": {"count": 3}}));
    let filter = format!("eventTimestamp ge '{from}' and resourceGroupName eq 'RG-DEMO'");
    assert_eq!(query(&mut lab, &filter).body["value"], json!([]));
    lab.pass(181);
    let seen = query(&mut lab, &filter);
    let entry = &seen.body["value"][0];
    assert_eq!(entry["status"]["value"], "Started");
    assert_eq!(
        entry["operationName"]["value"],
        "Microsoft.ContainerService/managedClusters/agentPools/write"
    );
}

#[test]
fn pages_follow_each_other_without_gap_or_repeat() {
    let mut lab = Lab::new("wedged-system-pool");
    lab.pass(75 * 300);
    let from = lab.now - jiff::SignedDuration::from_hours(12);
    let mut page = query(
        &mut lab,
        &format!(
            "eventTimestamp ge '{from}' and resourceGroupName eq 'MC_rg-demo_demo_westeurope'"
        ),
    );
    let mut ids = Vec::new();
    let mut pages = 0;
    loop {
        pages += 1;
        ids.extend(
            page.body["value"]
                .as_array()
                .unwrap()
                .iter()
                .map(|entry| entry["eventDataId"].to_string()),
        );
        let Some(next) = page.body["nextLink"].as_str() else { break };
        let target = next.strip_prefix("https://management.azure.com").unwrap().to_owned();
        page = lab.call("GET", &target, None);
        assert!(pages < 50, "pages must end");
    }
    let all = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!((all, pages), (ids.len(), 4), "two entries per write, 200 per page");
}

#[test]
fn a_filter_needs_a_start() {
    let mut lab = Lab::new("healthy");
    for filter in ["status eq 'Failed'", "eventTimestamp ge 'yesterday'", "nonsense", ""] {
        assert_eq!(query(&mut lab, filter).status, 400, "{filter}");
    }
}
