//! Reads: errors by status, queries with pages, the serial log, the caller's ID.

use crate::common::{CANARY, Reply, STORAGE, TestWorld, answer, cluster};
use base64::Engine;
use base64::engine::general_purpose::{URL_SAFE, URL_SAFE_NO_PAD};
use mooring_arm::ResourceId;
use mooring_arm::calls::{Cluster, PowerState};
use serde_json::{Value, json};

#[tokio::test(start_paused = true)]
async fn kind_of_an_error_depends_on_status_and_code() {
    for (status, code, reason, attempts) in [
        (307, "X", "ServerError", 1),
        (400, "X", "Refused", 1),
        (401, "X", "Unauthorized", 2),
        (403, "X", "Forbidden", 1),
        (404, "X", "NotFound", 1),
        (408, "X", "ServerError", 5),
        (409, "X", "Conflict", 1),
        (409, "ScopeLocked", "Locked", 1),
        (412, "X", "PreconditionFailed", 1),
        (418, "X", "Refused", 1),
        (429, "X", "Throttled", 5),
        (500, "X", "ServerError", 5),
        (501, "X", "ServerError", 1),
    ] {
        let body = format!(r#"{{"error":{{"code":"{code}","message":"m"}}}}"#);
        let world = TestWorld::new((0..5).map(|_| answer(status, &[], &body)));
        let error = world.client().cluster::<Cluster>(&cluster()).await.unwrap_err();
        assert_eq!((error.reason(), error.call.attempts), (reason, attempts), "{status} {code}");
        assert_eq!(error.refusal().map(|refusal| refusal.status), Some(status));
    }
}

#[tokio::test(start_paused = true)]
async fn error_of_an_unexpected_response_names_the_call() {
    let world = TestWorld::new([answer(200, &[], r#"{"value":5}"#)]);
    let error = world.client().agent_pools(&cluster()).await.unwrap_err();
    let expected = format!(
        "invalid response from Azure: unexpected JSON at line 1, column 10 (GET {}/agentPools, correlation id {})",
        cluster(),
        world.seen(0).correlation_id
    );
    assert_eq!((error.to_string(), error.call.attempts), (expected, 1));
}

#[tokio::test(start_paused = true)]
async fn calls_can_share_a_correlation_id() {
    let world = TestWorld::new((0..3).map(|_| answer(200, &[], "{}")));
    let (client, id) = (world.client(), cluster());
    for client in [&client.correlated("c-1"), &client.correlated("c-1"), &client] {
        client.cluster::<Cluster>(&id).await.unwrap();
    }
    let sent = [0, 1, 2].map(|at| world.seen(at));
    assert_eq!(sent.each_ref().map(|sent| sent.correlation_id == "c-1"), [true, true, false]);
    assert_ne!(sent[0].request_id, sent[1].request_id);
}

#[test]
fn power_state_ignores_case_and_may_be_unknown() {
    for (state, expected) in [
        (r#"{"code":"Running"}"#, Some(PowerState::Running)),
        (r#"{"code":"stopped"}"#, Some(PowerState::Stopped)),
        (r#"{"code":"Paused"}"#, None),
        (r#"{"code":null}"#, None),
        ("null", None),
    ] {
        let text = format!(r#"{{"properties":{{"powerState":{state}}}}}"#);
        let cluster: Cluster = serde_json::from_str(&text).unwrap();
        assert_eq!(cluster.properties.power_state, expected, "{state}");
    }
}

#[tokio::test(start_paused = true)]
async fn query_returns_the_rows_of_all_pages() {
    let world = TestWorld::new([
        answer(200, &[], r#"{"data":[{"id":"a"}],"$skipToken":"t1"}"#),
        answer(200, &[], r#"{"data":null,"$skipToken":"t2"}"#),
        answer(200, &[], r#"{"data":[{"id":"b"}],"$skipToken":""}"#),
    ]);
    let rows = world.client().graph::<Value>(&["s"], "resources").await.unwrap();
    assert_eq!(rows, [json!({"id": "a"}), json!({"id": "b"})]);
    for (at, token) in [Value::Null, "t1".into(), "t2".into()].into_iter().enumerate() {
        let body: Value = serde_json::from_str(&world.seen(at).body).unwrap();
        assert_eq!((&body["query"], &body["subscriptions"][0]), (&"resources".into(), &"s".into()));
        assert_eq!(body["options"]["$skipToken"], token);
    }

    let endless = (0..100).map(|_| answer(200, &[], r#"{"data":[],"$skipToken":"t"}"#));
    let error = TestWorld::new(endless).client().graph::<Value>(&["s"], "q").await.unwrap_err();
    let expected = "invalid response from Azure: more than 100 pages (POST /providers/Microsoft.ResourceGraph/resources)";
    assert_eq!(error.to_string(), expected);
}

#[tokio::test(start_paused = true)]
async fn serial_log_is_read_from_storage_without_a_token() {
    let vm = ResourceId::of("s", "rg", "Microsoft.Compute", "virtualMachines/vm1").unwrap();
    let link = |link: &str| answer(200, &[], &format!(r#"{{"serialConsoleLogBlobUri":"{link}"}}"#));
    let storage = || link(&format!("https://{STORAGE}/log?sig=hunter2"));
    let malformed = "invalid response from Azure: ";
    for (replies, expected) in [
        (vec![answer(200, &[], "{}")], Ok(None)),
        (vec![storage(), answer(200, &[], "booting")], Ok(Some("booting"))),
        (vec![storage(), answer(404, &[], "")], Ok(None)),
        (
            vec![storage(), answer(403, &[], "")],
            Err(format!("{malformed}status 403 for the serial log")),
        ),
        (vec![storage(), Reply::Lost], Err("connection reset".to_owned())),
        (vec![storage(), Reply::Silence], Err("timed out waiting for the serial log".to_owned())),
        (vec![link("no URL")], Err(format!("{malformed}invalid URL of the serial log"))),
        (
            vec![link("https://evil.example/log?sig=hunter2")],
            Err(format!("{malformed}link to another host, https://evil.example")),
        ),
    ] {
        let requests = replies.len();
        let world = TestWorld::new(replies);
        let log = world.client().serial_log(&vm).await;
        assert_eq!(world.sent(), requests, "{expected:?}");
        let log = log.map(|log| log.map(|log| String::from_utf8(log.to_vec()).unwrap()));
        let log = log.map_err(|error| error.to_string());
        let call = format!("(GET {vm}/retrieveBootDiagnosticsData)");
        let expected = expected.map(|log| log.map(str::to_owned));
        assert_eq!(log, expected.map_err(|why| format!("{why} {call}")));
        if requests == 2 {
            assert_eq!(
                (world.seen(1).method.as_str(), world.seen(1).target.as_str()),
                ("GET", "/log?sig=hunter2")
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn object_id_of_the_caller_is_read_from_the_token() {
    let claims = |claims: &str| format!("h.{}.s", URL_SAFE_NO_PAD.encode(claims));
    for (token, expected) in [
        (claims(r#"{"oid":"o-1"}"#), Some("o-1")),
        (format!("h.{}.s", URL_SAFE.encode(r#"{"oid":"o-2"}"#)), Some("o-2")),
        (claims(r#"{"oid":5}"#), None),
        (claims("{}"), None),
        (claims("x"), None),
        ("h.%.s".to_owned(), None),
        (CANARY.to_owned(), None),
    ] {
        let world = TestWorld::new([]);
        world.token.lock().unwrap().clone_from(&token);
        assert_eq!(world.client().object_id().await.as_deref(), expected, "{token}");
    }
    let world = TestWorld::new([]);
    world.tokens.lock().unwrap().push_back(0);
    assert_eq!(world.client().object_id().await, None, "no token");
}
