//! Requests and responses without a socket.

use std::sync::Arc;
use std::time::Duration;

use http::Request;
use http_body_util::BodyExt as _;
use mooring_testbed::schema::validate_named;
use mooring_workflow::Reading;
use serde_json::Value;

use super::handler::PageHandler;
use super::response::{Body, CSP};
use super::{Live, MAX_STREAMS, PageAccess, PageKey};
use crate::fixture::{BAD, failed, healthy, hostile, local, morning};
use crate::model::{ControllerDetails, Snapshot};

fn handler(access: PageAccess) -> PageHandler {
    let live = Arc::new(Live::default());
    live.publish(morning());
    PageHandler::new(live, access)
}

fn request(method: &str, address: &str, headers: &[(&str, &str)]) -> Request<()> {
    let mut request = Request::builder().method(method).uri(address);
    if !headers.iter().any(|(name, _)| *name == "host") {
        request = request.header("host", "127.0.0.1:8082");
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(()).unwrap()
}

async fn get(handler: &PageHandler, address: &str, headers: &[(&str, &str)]) -> (u16, String) {
    let response = handler.respond(&request("GET", address, headers)).await;
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test(start_paused = true)]
async fn every_response_has_the_headers() {
    let handler = handler(PageAccess::Port);
    for (method, address) in [
        ("GET", "/"),
        ("GET", "/x"),
        ("POST", "/"),
        ("GET", "/api/v1/events"),
        ("HEAD", "/page.js"),
    ] {
        let response = handler.respond(&request(method, address, &[])).await;
        let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
        assert_eq!(header("content-security-policy"), CSP, "{method} {address}");
        assert_eq!(header("x-content-type-options"), "nosniff");
        assert_eq!(header("referrer-policy"), "no-referrer");
        assert_eq!(header("cache-control"), "no-store");
        assert!(!response.headers().contains_key("access-control-allow-origin"));
    }
}

#[tokio::test(start_paused = true)]
async fn writes_other_hosts_and_other_sites_are_refused() {
    let handler = handler(PageAccess::Port);
    for method in ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
        let response = handler.respond(&request(method, "/", &[])).await;
        assert_eq!(response.status(), 405, "{method}");
    }
    let refused = [
        [("host", "evil.example")],
        [("host", "10.0.0.1:8082")],
        [("sec-fetch-site", "cross-site")],
    ];
    for headers in refused {
        assert_eq!(get(&handler, "/", &headers).await.0, 403, "{headers:?}");
    }
    for site in ["none", "same-origin", "same-site"] {
        assert_eq!(get(&handler, "/", &[("sec-fetch-site", site)]).await.0, 200, "{site}");
    }
}

#[tokio::test(start_paused = true)]
async fn key_works_once_and_becomes_a_cookie() {
    let handler = handler(PageAccess::Key(PageKey::new("9f2c".to_owned(), "77aa", 41873)));
    for address in ["/", "/api/v1/status", "/page.js", "/?key=9f2d", "/?key="] {
        assert_eq!(get(&handler, address, &[]).await.0, 403, "{address}");
    }
    // The file that opens the page in a browser is another site.
    let opened = "//x/failures?since=1h&key=9f2c";
    let from_file = request("GET", opened, &[("sec-fetch-site", "cross-site")]);
    let response = handler.respond(&from_file).await;
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["refresh"], "0; url=/x/failures?since=1h");
    let cookie = response.headers()["set-cookie"].to_str().unwrap();
    assert_eq!(cookie, "mooring-41873=77aa; HttpOnly; SameSite=Strict; Path=/");
    let (status, why) = get(&handler, opened, &[]).await;
    assert!(status == 403 && why.contains("was used before"), "{why}");
    let headers = [("cookie", "a=b; mooring-41873=77aa")];
    assert_eq!(get(&handler, "/", &headers).await.0, 200);
    assert_eq!(get(&handler, opened, &headers).await.0, 200, "the same browser");
    for other in ["mooring-1=77aa", "mooring-41873=9f2c", "mooring-41873="] {
        assert_eq!(get(&handler, "/", &[("cookie", other)]).await.0, 403, "{other}");
    }
}

/// Addresses of documents that every cluster has.
const ADDRESSES: [&str; 7] =
    ["status", "fleet?since=7d", "failures", "nodes", "pools", "runs", "controller"];

/// A page of the controller, which reads no journals.
fn detailed() -> Snapshot {
    let details = ControllerDetails {
        instance: "mooring-6c9f7d-x2x8k-1".to_owned(),
        version: "0.2.0".to_owned(),
        error: None,
        pending: 2,
        waiting: 0,
        azure_requests: 41,
        azure_throttled: 0,
        azure_reads_left: 59,
    };
    let mut snapshot = Snapshot { details: Some(details), ..morning() };
    snapshot.facts.inventory.reads.runs = Reading::NotAsked;
    snapshot
}

#[tokio::test(start_paused = true)]
async fn documents_have_their_schema_and_filters() {
    let handler = handler(PageAccess::Port);
    for snapshot in [healthy(), local(), hostile(), detailed(), morning()] {
        handler.live.publish(snapshot);
        for address in ADDRESSES {
            let (status, text) = get(&handler, &format!("/api/v1/{address}"), &[]).await;
            assert_eq!(status, 200, "{address}");
            validate_named(&serde_json::from_str(&text).unwrap()).unwrap();
        }
    }
    for (address, schema) in [
        ("status", "mooring.status/v1"),
        ("fleet?since=7d", "mooring.fleet/v1"),
        ("failures", "mooring.page.failures/v1"),
        ("nodes", "mooring.page.nodes/v1"),
        ("nodes/default-b00", "mooring.page.node/v1"),
        ("pools", "mooring.page.pools/v1"),
        ("runs", "mooring.page.runs/v1"),
        ("controller", "mooring.page.controller/v1"),
    ] {
        let (status, text) = get(&handler, &format!("/api/v1/{address}"), &[]).await;
        let document: Value = serde_json::from_str(&text).unwrap();
        validate_named(&document).unwrap();
        assert_eq!((status, &document["schema"]), (200, &Value::from(schema)), "{address}");
        assert_eq!(document["cluster"]["name"], "prod-weu");
    }
    let failures = get(&handler, "/api/v1/failures?pool=gpu", &[]).await.1;
    let failures: Value = serde_json::from_str(&failures).unwrap();
    assert_eq!(failures["failures"].as_array().unwrap().len(), 0);
    for address in ["/api/v1/x", "/api/v2/status", "/api/v1/nodes/x", "/api/v1/runs/x"] {
        assert_eq!(get(&handler, address, &[]).await.0, 404, "{address}");
    }
}

#[tokio::test(start_paused = true)]
async fn page_is_shown_before_the_first_facts() {
    let live = Arc::new(Live::default());
    let handler = PageHandler::new(Arc::clone(&live), PageAccess::Port);
    let (status, html) = get(&handler, "/", &[]).await;
    assert!(status == 200 && html.contains("Reading the cluster…"), "{html}");
    live.fail("<no> kubeconfig".to_owned());
    let (_, html) = get(&handler, "/", &[]).await;
    assert!(html.contains("&lt;no&gt; kubeconfig"), "{html}");
    assert_eq!(get(&handler, "/api/v1/status", &[]).await.0, 503);
}

#[tokio::test(start_paused = true)]
async fn unreadable_cluster_keeps_the_last_state_with_a_warning() {
    let handler = handler(PageAccess::Port);
    handler.live.fail("the API server does not respond".to_owned());
    let (_, html) = get(&handler, "/", &[]).await;
    assert!(
        html.contains("not current since 09:14:05 UTC: the API server does not respond"),
        "{html}"
    );
    assert!(html.contains("37 of 37"), "{html}");
}

/// Reads events of a stream, without comments.
struct Reader(Body);

impl Reader {
    async fn open(handler: &PageHandler, last: Option<&str>) -> Self {
        let headers: Vec<_> = last.map(|last| ("last-event-id", last)).into_iter().collect();
        let response = handler.respond(&request("GET", "/api/v1/events", &headers)).await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self(response.into_body())
    }

    async fn text(&mut self) -> String {
        let frame = self.0.frame().await.unwrap().unwrap();
        String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap()
    }

    /// Returns the next event, within a second.
    async fn event(&mut self) -> Option<String> {
        let next = async {
            loop {
                let text = self.text().await;
                if !text.starts_with(':') {
                    return text;
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(1), next).await.ok()
    }
}

fn id(event: &str) -> u64 {
    event.lines().find_map(|line| line.strip_prefix("id: ")).unwrap().parse().unwrap()
}

#[tokio::test(start_paused = true)]
async fn stream_sends_what_changed_after_the_last_event() {
    let handler = handler(PageAccess::Port);
    let mut reader = Reader::open(&handler, None).await;
    let first = reader.event().await.unwrap();
    assert!(first.starts_with("event: status\nid: "), "{first}");
    let data = first.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
    validate_named(&serde_json::from_str(data).unwrap()).unwrap();
    handler.live.publish(morning());
    assert_eq!(reader.event().await, None, "nothing changed");
    let mut changed = morning();
    changed.facts.inventory.nodes.push(failed("new", "gpu", BAD, 1, true));
    handler.live.publish(changed);
    let second = reader.event().await.unwrap();
    assert!(
        id(&second) > id(&first) && second.contains("\"failure\"") && !second.contains("\"run\""),
        "{second}"
    );
    let mut again = Reader::open(&handler, Some(&id(&first).to_string())).await;
    assert_eq!(again.event().await.unwrap(), second);
    let mut current = Reader::open(&handler, Some(&id(&second).to_string())).await;
    assert_eq!(current.event().await, None);
}

#[tokio::test(start_paused = true)]
async fn stream_sends_two_events_per_second_and_comments_when_quiet() {
    let handler = handler(PageAccess::Port);
    let mut reader = Reader::open(&handler, None).await;
    reader.event().await.unwrap();
    let start = tokio::time::Instant::now();
    let live = Arc::clone(&handler.live);
    let changes = tokio::spawn(async move {
        for number in 0..20 {
            tokio::time::sleep(Duration::from_millis(100)).await;
            let mut changed = morning();
            changed.facts.warnings = vec![number.to_string()];
            live.publish(changed);
        }
    });
    let mut events = 0;
    while reader.event().await.is_some() {
        events += 1;
    }
    assert!((3..=5).contains(&events), "{events} events in {:?}", start.elapsed());
    changes.await.unwrap();
    let quiet = tokio::time::Instant::now();
    assert!(reader.text().await.starts_with(": "));
    assert!(quiet.elapsed() <= Duration::from_secs(15), "{:?}", quiet.elapsed());
}

#[tokio::test(start_paused = true)]
async fn seventeenth_stream_is_refused_until_one_ends() {
    let handler = handler(PageAccess::Port);
    let mut open = Vec::new();
    for _ in 0..MAX_STREAMS {
        open.push(Reader::open(&handler, None).await);
    }
    assert_eq!(get(&handler, "/api/v1/events", &[]).await.0, 503);
    assert_eq!(get(&handler, "/", &[]).await.0, 200, "the page polls");
    open.pop();
    open.push(Reader::open(&handler, None).await);
    assert!(handler.live.is_wanted());
    open.clear();
    tokio::time::sleep(Duration::from_secs(31)).await;
    assert!(!handler.live.is_wanted(), "no page is open");
}
