//! Every recorded exchange passes through the typed layer without loss: the recorded request is sent, and the
//! response keeps all members.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::common::{Reply, TestWorld};
use jiff::Timestamp;
use mooring_arm::calls::{ActivityQuery, DeletePool, Versions};
use mooring_arm::{
    Client, Error, Operation, OperationOutcome, OperationProgress, ResourceId, Started,
};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Exchange {
    request: Request,
    response: Response,
}

#[derive(Deserialize)]
struct Request {
    method: String,
    url: String,
    body: Option<Value>,
}

#[derive(Deserialize)]
struct Response {
    status: u16,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    body: Option<Value>,
}

/// Result of a call: what was read, or the progress of a write.
enum CallResult {
    Read(Vec<Value>),
    Started(Started),
    Progress(OperationProgress),
    /// Secrets and tags.
    Checked,
}

#[tokio::test(start_paused = true)]
async fn recorded_exchanges_pass_through_the_typed_layer() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/exchanges");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut walked = 0;
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        let exchanges: Vec<Exchange> = serde_json::from_str(&text)
            .or_else(|_| serde_json::from_str(&text).map(|exchange| vec![exchange]))
            .unwrap();
        for exchange in exchanges {
            check(&file.file_stem().unwrap().to_string_lossy(), &exchange).await;
            walked += 1;
        }
    }
    assert!(files.len() == 32 && walked == 45, "{} files, {walked} exchanges", files.len());
}

async fn check(name: &str, exchange: &Exchange) {
    let body = exchange.response.body.as_ref().map(Value::to_string).unwrap_or_default();
    let body = body.as_str();
    let headers = exchange.response.headers.clone().into_iter().collect();
    // An empty second page for lists, or a resource for finished writes.
    let more = || crate::common::answer(200, &[], "{}");
    let is_retried = exchange.response.status == 429 || exchange.response.status >= 500;
    let world = TestWorld::new([
        Reply::Answer(exchange.response.status, headers, body.to_owned()),
        more(),
        more(),
    ]);
    let result = call(&world.client(), exchange).await;
    assert_same_request(name, exchange, &world.seen(0));
    if let Some(Value::String(link)) = serde_json::from_str(body)
        .ok()
        .and_then(|mut body: Value| Some(body.get_mut("nextLink")?.take()))
    {
        assert_eq!(
            parts(&link),
            parts(&format!("https://management.azure.com{}", world.seen(1).target)),
            "{name}"
        );
    }
    match result {
        // Transient errors end with the second response.
        Ok(_) if is_retried => assert_eq!(world.sent(), 2, "{name}"),
        Ok(kept) => assert_same_response(name, body, exchange.response.status, kept),
        Err(error) => assert_same_error(name, body, exchange.response.status, &error),
    }
}

async fn call(client: &Client, exchange: &Exchange) -> Result<CallResult, Error> {
    let (path, query) = exchange.request.url.split_once('?').unwrap();
    let path = path.strip_prefix("https://management.azure.com").unwrap();
    let version = query.split('&').find_map(|part| part.strip_prefix("api-version=")).unwrap();
    let version: &'static str = version.to_owned().leak();
    let client = client.with_versions(Versions {
        aks: version,
        aks_operations: version,
        compute: version,
        ..Versions::default()
    });
    let lower = path.to_ascii_lowercase();
    let id = || ResourceId::parse(path).unwrap();
    let above = || ResourceId::parse(path.rsplit_once('/').unwrap().0).unwrap();
    let document =
        || exchange.request.body.clone().unwrap_or_else(|| Value::Object(serde_json::Map::new()));
    let words: Vec<&str> = lower.trim_start_matches('/').split('/').collect();
    Ok(match (exchange.request.method.as_str(), &words[2..]) {
        ("GET", [.., "managedclusters", _]) => CallResult::Read(vec![client.cluster(&id()).await?]),
        ("GET", [.., "operations", "latest"]) => {
            let operation = ResourceId::parse(path.trim_end_matches("/operations/latest")).unwrap();
            CallResult::Read(vec![client.latest_operation(&operation).await?])
        }
        ("GET", [.., "agentpools"]) => CallResult::Read(client.agent_pools(&above()).await?),
        ("GET", [.., "agentpools", _]) => CallResult::Read(vec![client.agent_pool(&id()).await?]),
        ("GET", [.., "virtualmachinescalesets"]) => {
            let sample = ResourceId::parse(&format!("{path}/x")).unwrap();
            let group = sample.resource_group().unwrap();
            CallResult::Read(client.scale_sets(sample.subscription(), group).await?)
        }
        ("GET", [.., "networkinterfaces"]) => {
            CallResult::Read(client.scale_set_nics(&above()).await?)
        }
        ("GET", [.., "eventtypes", "management", "values"]) => {
            CallResult::Read(activity(&client, path, query).await?)
        }
        ("GET", [.., "locations", _, "operations", _]) => {
            CallResult::Progress(client.poll(&mut record(&format!("{path}?{query}"))).await?)
        }
        ("PUT", [.., "agentpools", _]) => {
            CallResult::Started(client.put_agent_pool(&id(), &document(), None).await?)
        }
        ("PATCH", [.., "tags", "default"]) => {
            let resource = path.trim_end_matches("/providers/Microsoft.Resources/tags/default");
            let sent = document();
            let tags = serde_json::from_value(sent["properties"]["tags"].clone()).unwrap();
            let merged = client.merge_tags(&ResourceId::parse(resource).unwrap(), &tags).await?;
            assert_eq!(merged.len(), 2);
            CallResult::Checked
        }
        ("DELETE", [.., "agentpools", _]) => {
            let ignore_pod_disruption_budget = query.contains("ignore-pod-disruption-budget=true");
            let how = DeletePool { ignore_pod_disruption_budget, if_match: None };
            CallResult::Started(client.delete_agent_pool(&id(), &how).await?)
        }
        ("POST", [.., "managedclusters", _, "abort"]) => {
            CallResult::Started(client.abort_cluster(&above()).await?)
        }
        ("POST", [.., "agentpools", _, "abort"]) => {
            CallResult::Started(client.abort_agent_pool(&above()).await?)
        }
        ("POST", [.., "listclusterusercredential"]) => {
            let credentials = client.user_credentials(&above(), None).await?;
            assert!(credentials[0].yaml.expose().contains("certificate-authority-data"));
            CallResult::Checked
        }
        (method, _) => panic!("no call for {method} {path}"),
    })
}

async fn activity(client: &Client, path: &str, query: &str) -> Result<Vec<Value>, Error> {
    let quoted: Vec<&str> = query.split('\'').collect();
    let time = |at: usize| quoted[at].parse::<Timestamp>().unwrap();
    let subscription = path.split('/').nth(2).unwrap();
    let query = ActivityQuery::of_group(quoted[5], time(1), time(3));
    client.activity_log(subscription, &query).await
}

fn record(target: &str) -> Operation {
    serde_json::from_value(serde_json::json!({
        "kind": "delete", "monitor": {"status": target}, "resource": "/x?api-version=v",
        "started": "2026-11-15T04:00:00Z", "next": "2026-11-15T04:00:00Z", "correlation_id": "c",
    }))
    .unwrap()
}

/// Returns path and query of a URL, regardless of case, escapes and order.
fn parts(url: &str) -> (String, BTreeSet<(String, String)>) {
    let url = url::Url::parse(url).unwrap();
    let query = url.query_pairs().into_owned().collect();
    (url.path().to_ascii_lowercase(), query)
}

fn assert_same_request(name: &str, exchange: &Exchange, seen: &crate::common::RecordedRequest) {
    let mut recorded = parts(&exchange.request.url);
    // A later page is requested with the link of the previous one.
    recorded.1.retain(|(name, _)| name != "$skipToken");
    let sent = parts(&format!("https://management.azure.com{}", seen.target));
    assert_eq!(recorded, sent, "{name}");
    assert_eq!(exchange.request.method, seen.method, "{name}");
    if let Some(body) = &exchange.request.body {
        assert_eq!(*body, serde_json::from_str::<Value>(&seen.body).unwrap(), "{name}");
    }
}

fn assert_same_response(name: &str, body: &str, status: u16, kept: CallResult) {
    match kept {
        CallResult::Read(found) => {
            let body: Value = serde_json::from_str(body).unwrap();
            let expected = body["value"].as_array().cloned().unwrap_or_else(|| vec![body]);
            assert!(!found.is_empty() && found == expected, "{name}: a member was lost");
        }
        CallResult::Started(started) => match (status, started) {
            (201 | 202, Started::Running(_))
            | (204, Started::Done(OperationOutcome::Succeeded(None))) => {}
            (200, Started::Done(OperationOutcome::Succeeded(Some(document)))) => {
                assert_eq!(document, serde_json::from_str::<Value>(body).unwrap(), "{name}");
            }
            (200, Started::Running(operation)) => {
                assert_eq!(operation.correlation_id().len(), 36, "{name}");
            }
            (status, started) => panic!("{name}: {status} {started:?}"),
        },
        CallResult::Progress(progress) => {
            let body: Value = serde_json::from_str(body).unwrap();
            let expected = body["status"].as_str().unwrap();
            let word = match progress {
                OperationProgress::Running { state, .. } => state,
                OperationProgress::Done(OperationOutcome::Succeeded(_)) => "Succeeded".to_owned(),
                OperationProgress::Done(OperationOutcome::Failed(_)) => "Failed".to_owned(),
                OperationProgress::Done(
                    OperationOutcome::Canceled(_) | OperationOutcome::Replaced { .. },
                ) => "Canceled".to_owned(),
                OperationProgress::Done(other) => panic!("{name}: {other:?}"),
            };
            assert_eq!(word, expected, "{name}");
        }
        CallResult::Checked => {}
    }
}

fn assert_same_error(name: &str, body: &str, status: u16, error: &Error) {
    if name.starts_with("23_") {
        assert_eq!(error.reason(), "Malformed", "no kubeconfig at all is an error");
        return;
    }
    let body: Value = serde_json::from_str(body).unwrap();
    let code = body["error"]["code"].as_str().or(body["code"].as_str());
    let refusal = error.refusal().unwrap_or_else(|| panic!("{name}: {error}"));
    assert_eq!((refusal.status, refusal.code.as_deref()), (status, code), "{name}");
    let reason = match status {
        400 => "Refused",
        403 => "Forbidden",
        404 => "NotFound",
        409 => "Conflict",
        status => panic!("{name}: {status}"),
    };
    assert_eq!(error.reason(), reason, "{name}");
}

#[test]
fn views_contain_the_deciding_fields() {
    use mooring_arm::calls::{Cluster, PowerState};
    #[derive(Deserialize)]
    struct File<T> {
        response: Body<T>,
    }
    #[derive(Deserialize)]
    struct Body<T> {
        body: T,
    }
    fn read<T: serde::de::DeserializeOwned>(name: &str) -> T {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/exchanges").join(name);
        let file: File<T> = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        file.response.body
    }
    let cluster: Cluster = read("01_managed_cluster_get_canceling.json");
    assert_eq!(cluster.properties.power_state, Some(PowerState::Running));
    let creating: Cluster = read("01_managed_cluster_get_creating.json");
    assert_eq!(creating.properties.node_resource_group, None);
}
