//! Responses of a Kubernetes API as readings and effect results.

use http::Method;
use jiff::SignedDuration;
use mooring_k8s::{Client, Lost, RequestError, Response};
use mooring_simulator::faults::{CallSelector, Fault, FaultRule};
use mooring_workflow::responses::{change, list, read};
use mooring_workflow::{EffectResult, Reading};
use serde_json::{Value, json};

use crate::stores::{Server, fault};

const MAPS: &str = "/api/v1/namespaces/mooring-system/configmaps";

fn map(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "mooring-system"}})
}

fn name(object: &Value) -> Option<String> {
    object.pointer("/metadata/name")?.as_str().map(str::to_owned)
}

async fn client(reads_fail_with: Option<u16>) -> (Server, Client) {
    let rules = reads_fail_with.map(|status| {
        let when = CallSelector { writes: Some(false), ..CallSelector::default() };
        let then = Fault::Status { status, code: None, retry_after: None };
        FaultRule { when, ..fault(then, 1.0) }
    });
    let server = Server::with(rules.into_iter().collect());
    let client = server.client();
    let created = change(&client, Method::POST, MAPS, &map("a")).await;
    assert_eq!(created, EffectResult::Done);
    (server, client)
}

#[tokio::test(start_paused = true)]
async fn readings_distinguish_missing_denied_and_failed() {
    let (_server, api) = client(None).await;
    let path = format!("{MAPS}/a");
    assert_eq!(read(&api, &path, name).await, Reading::Known("a".to_owned()));
    assert_eq!(read(&api, &format!("{MAPS}/b"), name).await, Reading::NotFound);
    let items = |page: &Value| page["items"].as_array()?.iter().map(name).collect();
    assert_eq!(list(&api, MAPS, items).await, Reading::Known(vec!["a".to_owned()]));
    assert!(matches!(read(&api, &path, |_| None::<()>).await, Reading::Failed(_)));
    for status in [401, 403, 500] {
        let (_server, api) = client(Some(status)).await;
        let reading = read(&api, &path, name).await;
        let is_denied = matches!(reading, Reading::Denied(_));
        assert_eq!(is_denied, status != 500, "{status}: {reading:?}");
        assert_eq!(matches!(reading, Reading::Failed(_)), status == 500, "{status}: {reading:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn deleting_a_missing_object_is_already_done() {
    let (_server, api) = client(None).await;
    let delete = async |name: &str| {
        change(&api, Method::DELETE, &format!("{MAPS}/{name}"), &json!({})).await
    };
    assert_eq!(delete("a").await, EffectResult::Done);
    assert_eq!(delete("a").await, EffectResult::AlreadyDone);
    let replaced = change(&api, Method::PUT, &format!("{MAPS}/a"), &map("a")).await;
    assert!(matches!(replaced, EffectResult::Refused { status: 404, .. }), "{replaced:?}");
}

#[test]
fn refusals_keep_the_status_and_the_pause() {
    let body = json!({"kind": "Status", "reason": "TooManyRequests", "message": "m"});
    let response = Response { status: 429, retry_after: Some(9), date: None, body };
    let result = EffectResult::from(Ok::<_, Lost>(response));
    let EffectResult::Refused { status, code, message, retry_after } = result else { panic!() };
    assert_eq!((status, code.as_str(), message.as_str()), (429, "TooManyRequests", "m"));
    assert_eq!(retry_after, Some(SignedDuration::from_secs(9)));
    let lost = EffectResult::from(Err::<Response, _>(Lost("reset".to_owned())));
    assert_eq!(lost, EffectResult::Unknown { why: "reset".to_owned() });
    let (reason, message) = ("Gone".to_owned(), "m".to_owned());
    let failed = RequestError { status: Some(410), reason, message };
    assert_eq!(Reading::from(Err::<(), _>(failed)), Reading::Failed("Gone".to_owned()));
}
