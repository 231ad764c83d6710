//! Notifications of the whole controller.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use mooring_controller::notify::{Hook, NotificationRequest, Notifications, Transport, hook};
use mooring_simulator::azure::Cse;
use mooring_simulator::kubernetes::Key;
use mooring_testbed::schema::validate_named;
use ring::hmac;
use serde_json::{Value, json};

use crate::run::cluster::{Cluster, NAMESPACE};
use crate::run::modes::{BAD, Provisioning};

const CANARY: &str = "canary-4711-hook";
const KEY: &str = "canary-4711-key";

/// Records requests, and returns scripted results, then 200.
#[derive(Clone, Default)]
struct Receiver {
    requests: Arc<Mutex<Vec<NotificationRequest>>>,
    results: Arc<Mutex<VecDeque<Result<u16, String>>>>,
}

impl Transport for Receiver {
    fn send(&self, request: NotificationRequest) -> BoxFuture<'_, Result<u16, String>> {
        self.requests.lock().unwrap().push(request);
        let result = self.results.lock().unwrap().pop_front().unwrap_or(Ok(200));
        async move { result }.boxed()
    }
}

impl Receiver {
    /// Returns the bodies, which fit their published schema.
    fn bodies(&self) -> Vec<Value> {
        let requests = self.requests.lock().unwrap();
        let body = |request: &NotificationRequest| -> Value {
            let body = serde_json::from_str(&request.body).unwrap();
            validate_named(&body).unwrap();
            body
        };
        requests.iter().map(body).collect()
    }

    /// Returns event, state and pool of every request.
    fn events(&self) -> Vec<(String, String, String)> {
        let text = |body: &Value, name: &str| body[name].as_str().unwrap_or_default().to_owned();
        let bodies = self.bodies();
        bodies.iter().map(|b| (text(b, "event"), text(b, "state"), text(b, "pool"))).collect()
    }
}

fn hooks(on: &str, format: &str) -> Vec<Hook> {
    let config = format!(r#"[{{"name":"ops","format":"{format}","events":{on}}}]"#);
    let variable = |name: &str| match name {
        "MOORING_NOTIFY" => Some(config.clone()),
        "MOORING_NOTIFY_URL_0" => Some(format!("https://hooks.example/{CANARY}\n")),
        "MOORING_NOTIFY_HMAC_0" => Some(KEY.to_owned()),
        _ => None,
    };
    hook::hooks(variable).unwrap()
}

/// A cluster whose new nodes fail, unless their name begins with `default-good`.
fn failing(on: &str) -> (Cluster, Receiver) {
    let cluster = Cluster::new(false, Provisioning::Extension.failing());
    let receiver = Receiver::default();
    *cluster.notifications.lock().unwrap() =
        Notifications::new(hooks(on, "mooring"), Arc::new(receiver.clone()));
    (cluster, receiver)
}

async fn fail(cluster: &Cluster, names: std::ops::Range<u32>) {
    for number in names {
        cluster.claim(&format!("default-x{number}"));
    }
    cluster.pass(300).await;
}

async fn join(cluster: &Cluster, name: &str) {
    cluster.shell.with(|world, _| {
        world.karpenter_mut().unwrap().set_cse(name, Cse::default());
    });
    cluster.claim(name);
    cluster.pass(300).await;
}

fn event(event: &str, state: &str) -> (String, String, String) {
    (event.to_owned(), state.to_owned(), "default".to_owned())
}

#[tokio::test(start_paused = true)]
async fn alert_is_sent_once_and_once_when_it_ends() {
    let (cluster, receiver) = failing(r#"["pool-failing"]"#);
    let mut replica = cluster.start("a");
    cluster.pass(5).await;
    fail(&cluster, 0..4).await;
    assert_eq!(receiver.events(), [event("pool-failing", "open")]);
    // Restarts, kills, and more failures repeat nothing.
    for round in 0..3 {
        replica.kill().await;
        replica = cluster.start(&format!("b{round}"));
        cluster.pass(120).await;
    }
    fail(&cluster, 4..6).await;
    assert_eq!(receiver.events().len(), 1);
    join(&cluster, "default-good1").await;
    let events = [event("pool-failing", "open"), event("pool-failing", "over")];
    assert_eq!(receiver.events(), events);
    let bodies = receiver.bodies();
    assert_eq!(bodies[0]["id"], bodies[1]["id"]);
    assert_eq!(bodies[1]["message"], "Pool default no longer fails.");
    replica.stop().await;
    let again = cluster.start("c");
    cluster.pass(120).await;
    assert_eq!(receiver.events().len(), 2);
    let text = again.metrics.text();
    assert!(
        text.contains(r#"mooring_notifications_total{hook="ops",result="delivered"} 0"#),
        "{text}"
    );
    again.stop().await;
}

#[tokio::test(start_paused = true)]
async fn failed_requests_are_retried_for_five_minutes() {
    let no = || Err("no response".to_owned());
    for (results, requests, delivered) in [
        (vec![Ok(503), no(), Ok(429)], 4, 1),
        (vec![Ok(403)], 1, 0),
        (vec![Ok(302)], 1, 0),
        // 1, 2, 4, 8, 16, 32, then 60 seconds: 4 pauses of 60 seconds do not fit.
        (vec![no(); 99], 10, 0),
    ] {
        let (cluster, receiver) = failing(r#"["pool-failing"]"#);
        receiver.results.lock().unwrap().extend(results);
        let replica = cluster.start("a");
        cluster.pass(5).await;
        fail(&cluster, 0..4).await;
        cluster.pass(600).await;
        assert_eq!(receiver.events().len(), requests);
        // Slow hooks delay no verdict.
        assert_eq!(cluster.record().entries().count(), 4);
        let text = replica.metrics.text();
        for (result, count) in [("delivered", delivered), ("undelivered", 1 - delivered)] {
            let line =
                format!(r#"mooring_notifications_total{{hook="ops",result="{result}"}} {count}"#);
            assert!(text.contains(&line), "{line}\n{text}");
        }
        let status = cluster.notifications.lock().unwrap().statuses.all().remove(0);
        assert_eq!((status.delivered, status.undelivered), (delivered, 1 - delivered));
        assert_eq!(status.failing_since_at.is_some(), delivered == 0, "{status:?}");
        // Given up: a restart does not send it either.
        replica.kill().await;
        receiver.results.lock().unwrap().clear();
        let next = cluster.start("b");
        cluster.pass(60).await;
        assert_eq!(receiver.events().len(), requests);
        next.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn signature_covers_time_and_body() {
    let (cluster, receiver) = failing(r#"["controller"]"#);
    let replica = cluster.start("a");
    cluster.pass(30).await;
    replica.stop().await;
    let request = receiver.requests.lock().unwrap().remove(0);
    let header =
        |name: &str| request.headers.iter().find(|(key, _)| *key == name).unwrap().1.clone();
    let signature = header("Mooring-Signature");
    let hex = signature.strip_prefix("v1=").unwrap();
    let bytes: Vec<u8> = (0..hex.len() / 2)
        .map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap())
        .collect();
    let key = hmac::Key::new(hmac::HMAC_SHA256, KEY.as_bytes());
    let signed = format!("{}.{}", header("Mooring-Timestamp"), request.body);
    hmac::verify(&key, signed.as_bytes(), &bytes).unwrap();
    assert!(hmac::verify(&key, request.body.as_bytes(), &bytes).is_err());
}

#[tokio::test(start_paused = true)]
async fn unreadable_notifications_are_kept_and_stop_nothing() {
    let (cluster, receiver) = failing(r#"["pool-failing"]"#);
    let key = Key::new(Some(NAMESPACE), "mooring-notifications");
    cluster.shell.with(|world, now| {
        let object = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "mooring-notifications", "namespace": NAMESPACE},
            "data": {"notifications.json": "{"},
        });
        world.kubernetes_mut().create(object, now).unwrap();
    });
    let replica = cluster.start("a");
    cluster.pass(5).await;
    fail(&cluster, 0..4).await;
    assert_eq!(receiver.events(), [event("pool-failing", "open")]);
    let stored = cluster.shell.with(|world, _| {
        world.kubernetes().get("configmaps", &key).unwrap()["data"]["notifications.json"].clone()
    });
    assert_eq!(stored, "{");
    replica.stop().await;
}

fn count(text: &str, name: &str) -> String {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.unwrap_or_default().trim().to_owned()
}

#[tokio::test(start_paused = true)]
async fn stored_notifications_keep_changes_of_another_writer() {
    let (cluster, receiver) = failing(r#"["pool-failing"]"#);
    let replica = cluster.start("a");
    cluster.pass(5).await;
    fail(&cluster, 0..4).await;
    let key = Key::new(Some(NAMESPACE), "mooring-notifications");
    cluster.shell.with(|world, now| {
        let change = json!({"metadata": {"labels": {"team": "a"}}});
        world.kubernetes_mut().change("configmaps", &key, &change, now).unwrap();
    });
    join(&cluster, "default-good1").await;
    let events = [event("pool-failing", "open"), event("pool-failing", "over")];
    assert_eq!(receiver.events(), events);
    let text = replica.metrics.text();
    let failures = count(&text, r#"mooring_write_failures_total{kind="notifications"}"#);
    assert_eq!(failures, "1", "the version was old once");
    // Stored: the alert and its delivery; after the conflict, that it is over and delivered.
    assert_eq!(count(&text, r#"mooring_writes_total{kind="notifications"}"#), "3");
    replica.kill().await;
    let next = cluster.start("b");
    cluster.pass(120).await;
    assert_eq!(receiver.events(), events);
    next.stop().await;
}

#[tokio::test(start_paused = true)]
async fn notifications_wait_until_the_stored_ones_are_read() {
    let (cluster, receiver) = failing(r#"["pool-failing"]"#);
    let replica = cluster.start("a");
    cluster.pass(5).await;
    fail(&cluster, 0..4).await;
    assert_eq!(receiver.events().len(), 1);
    replica.kill().await;
    let rule = json!({"when": {"method": "GET", "path": "*/configmaps/mooring-notifications"},
        "then": {"status": {"status": 500}}});
    let rule = serde_json::from_value(rule).unwrap();
    cluster.shell.with(|world, _| world.kubernetes_mut().add_fault(rule));
    let next = cluster.start("b");
    cluster.pass(60).await;
    assert_eq!(receiver.events().len(), 1, "b cannot know what a has sent");
    cluster.shell.with(|world, _| world.kubernetes_mut().clear_faults());
    join(&cluster, "default-good1").await;
    let events = [event("pool-failing", "open"), event("pool-failing", "over")];
    assert_eq!(receiver.events(), events);
    next.stop().await;
}

#[tokio::test(start_paused = true)]
async fn new_leader_is_announced_with_its_name() {
    let (cluster, receiver) = failing(r#"["controller"]"#);
    for name in ["a", "b"] {
        let replica = cluster.start(name);
        cluster.pass(60).await;
        replica.stop().await;
    }
    let messages: Vec<Value> =
        receiver.bodies().into_iter().map(|body| body["message"].clone()).collect();
    let expected = ["a", "b"].map(|name| json!(format!("Controller {name} is now the leader.")));
    assert_eq!(messages, expected);
}

#[tokio::test(start_paused = true)]
async fn url_and_key_of_a_hook_are_never_printed() {
    let (cluster, receiver) = failing(r#"["pool-failing"]"#);
    receiver.results.lock().unwrap().push_back(Ok(403));
    let replica = cluster.start("a");
    cluster.pass(5).await;
    fail(&cluster, 0..4).await;
    let notifications = cluster.notifications.lock().unwrap().clone();
    let mut shown = format!("{:?}{:?}", notifications.hooks, notifications.statuses);
    shown += &replica.metrics.text();
    shown += &cluster.shell.with(|world, _| {
        let objects = world.kubernetes().objects("configmaps", None);
        objects.map(ToString::to_string).collect::<String>()
    });
    for body in receiver.bodies() {
        shown += &body.to_string();
    }
    assert!(!shown.contains("canary-4711"), "{shown}");
    replica.stop().await;
}

mod slow {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn finding_is_sent_and_ends_a_day_after_its_last_failure() {
        let (cluster, receiver) = failing(r#"["finding","finding-over","controller"]"#);
        let replica = cluster.start("a");
        cluster.pass(5).await;
        cluster.shell.with(|world, _| {
            world.karpenter_mut().unwrap().roll_image("202601.13.0");
        });
        for number in 0..6 {
            cluster.claim(&format!("default-good{number}"));
        }
        cluster.pass(300).await;
        cluster.shell.with(|world, _| world.karpenter_mut().unwrap().roll_image(BAD));
        fail(&cluster, 0..6).await;
        let events: Vec<String> = receiver.events().into_iter().map(|event| event.0).collect();
        assert_eq!(events, ["controller", "finding"]);
        let body = receiver.bodies().remove(1);
        assert_eq!(
            (&body["schema"], &body["cause"]),
            (&json!("mooring.failure/v1"), &json!("OrasBinaryMissing"))
        );
        assert_eq!(
            (&body["reported"]["code"], &body["effective"]["code"]),
            (&json!(211), &json!(232))
        );
        assert_eq!(body["effective"]["name"], "ERR_ORAS_BINARY_NOT_FOUND");
        assert!(body["message"].as_str().unwrap().ends_with("Other images: 0 of 6."), "{body:#}");
        cluster.pass(25 * 3600).await;
        let events: Vec<String> = receiver.events().into_iter().map(|event| event.0).collect();
        assert_eq!(events, ["controller", "finding", "finding-over"]);
        let text = replica.metrics.text();
        let ended =
            |line: &str| line.starts_with("mooring_image_fails_bootstrap{") && line.ends_with(" 0");
        assert!(text.lines().any(ended), "{text}");
        replica.stop().await;
    }
}
