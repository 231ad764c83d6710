use serde_json::json;

use super::support::{CLUSTER, Harness};

const LOG: &str = "/subscriptions/00000000-0000-0000-0000-000000000001/providers/Microsoft.Insights/eventtypes/management/values";

fn query(harness: &mut Harness, filter: &str) -> super::support::Reply {
    let filter = filter.replace(' ', "%20").replace('\'', "%27");
    harness.call("GET", &format!("{LOG}?api-version=2015-04-01&$filter={filter}"), None)
}

#[test]
fn a_write_is_seen_after_the_delay() {
    let mut harness = Harness::new("healthy");
    let from = harness.now;
    harness.put(&format!("{CLUSTER}/agentPools/user"), &json!({"properties": {"count": 3}}));
    let filter = format!("eventTimestamp ge '{from}' and resourceGroupName eq 'RG-DEMO'");
    assert_eq!(query(&mut harness, &filter).body["value"], json!([]));
    harness.pass(179);
    assert_eq!(query(&mut harness, &filter).body["value"], json!([]), "three minutes at least");
    harness.pass(1202);
    let seen = query(&mut harness, &filter);
    let entries = seen.body["value"].as_array().unwrap();
    let statuses: Vec<_> = entries.iter().map(|entry| &entry["status"]["value"]).collect();
    for status in ["Started", "Accepted", "Succeeded"] {
        assert!(statuses.contains(&&json!(status)), "{statuses:?}");
    }
    for entry in entries {
        assert_eq!(
            entry["operationName"]["value"],
            "Microsoft.ContainerService/managedClusters/agentPools/write"
        );
        assert_eq!(entry["operationId"], entries[0]["operationId"]);
        assert_ne!(entry["operationId"], entry["correlationId"]);
    }
}

#[test]
fn pages_follow_each_other_without_gap_or_repeat() {
    let mut harness = Harness::new("wedged-system-pool");
    harness.pass(180 * 200);
    let from = harness.now - jiff::SignedDuration::from_hours(12);
    let mut page = query(
        &mut harness,
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
        page = harness.call("GET", &target, None);
        assert!(pages < 50, "pages must end");
    }
    let all = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!((all, pages), (ids.len(), 4), "three entries per write, 200 per page");
}

#[test]
fn a_filter_needs_a_start() {
    let mut harness = Harness::new("healthy");
    for filter in ["status eq 'Failed'", "eventTimestamp ge 'yesterday'", "nonsense", ""] {
        assert_eq!(query(&mut harness, filter).status, 400, "{filter}");
    }
}

#[test]
fn filter_accepts_one_condition_and_a_time_range() {
    let mut harness = Harness::new("healthy");
    let range = "eventTimestamp ge '2026-01-01T00:00:00Z'";
    for (conditions, status) in [
        ("", 200),
        (" and resourceGroupName eq 'a'", 200),
        (" and resourceUri eq '/a'", 200),
        (" and resourceProvider eq 'Microsoft.Compute'", 200),
        (" and correlationId eq 'a'", 200),
        (" and resourceGroupName eq 'a' and correlationId eq 'b'", 400),
        (" and resourceGroupName eq 'a' and resourceGroupName eq 'b'", 400),
        (" and status eq 'Failed'", 400),
        (" and resourceGroupName eq 'a' and status eq 'Failed'", 400),
        (" and caller eq 'me'", 400),
        (" and resourceId eq '/a'", 400),
    ] {
        assert_eq!(
            query(&mut harness, &format!("{range}{conditions}")).status,
            status,
            "{conditions}"
        );
    }
}
