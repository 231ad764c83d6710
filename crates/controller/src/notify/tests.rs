use jiff::Timestamp;
use mooring_redact::Secret;
use mooring_testbed::schema::validate_named;
use serde_json::{Value, json};

use super::hook::HookFormat;
use super::ledger::{Ledger, StoredAlert};
use super::payload::Notification;
use super::{Alert, AlertEvent, Hook, RunNotification, RunState, alert::AlertSubject};
use crate::failing::pools::FailingPool;
use crate::record::FailureRecord;
use crate::verdict::failure::FailureSource;

fn notification(image: &str) -> Notification {
    let subject =
        AlertSubject { pool: Some("a".into()), image: Some(image.into()), cause: Some("X".into()) };
    let at = Timestamp::from_second(1_800_000_000).unwrap();
    Notification {
        stored: StoredAlert {
            id: "1".into(),
            event: AlertEvent::Finding,
            subject: subject.clone(),
            started_at: at,
            over_at: None,
            pending: Vec::new(),
        },
        live: Some(Alert {
            event: AlertEvent::Finding,
            subject,
            message: format!("Image {image} fails."),
            failed: Some(4),
            nodes: Some(4),
            others: Some((0, 9)),
            example: None,
        }),
        cluster: Some("/subscriptions/0/managedClusters/prod".into()),
    }
}

fn body(notification: &Notification, format: HookFormat) -> Value {
    serde_json::from_str(&notification.body(format, Timestamp::UNIX_EPOCH)).unwrap()
}

#[test]
fn names_cannot_mention_or_link_in_chat_formats() {
    let hostile = notification("<!channel> [x](https://evil.example)");
    let slack = body(&hostile, HookFormat::Slack);
    assert!(!slack["text"].as_str().unwrap().contains('<'), "{slack}");
    let blocks = slack["blocks"].as_array().unwrap();
    assert_eq!(blocks.len(), 3);
    assert!(!slack.to_string().contains("mrkdwn"), "{slack}");
    let teams = body(&hostile, HookFormat::Teams);
    let attachment = &teams["attachments"][0];
    assert_eq!(attachment["contentType"], "application/vnd.microsoft.card.adaptive");
    assert_eq!(attachment["content"]["type"], "AdaptiveCard");
    let text = attachment["content"]["body"][1]["text"].as_str().unwrap();
    assert!(!text.contains("[x](https"), "{text}");
}

#[test]
fn document_has_all_members_of_the_envelope() {
    let mut one = notification("i");
    let open = body(&one, HookFormat::Mooring);
    let over_at = Timestamp::from_second(1_800_000_600).ok();
    (one.stored.over_at, one.live) = (over_at, None);
    let over = body(&one, HookFormat::Mooring);
    let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&open), names(&over));
    assert_eq!((&open["event"], &open["state"]), (&"finding".into(), &"open".into()));
    assert_eq!((&over["event"], &over["state"]), (&"finding-over".into(), &"over".into()));
    assert_eq!(open["cluster"]["name"], "prod");
    assert_eq!(open["next"][0]["command"], "mooring why a");
    assert_eq!(over["message"], "Image i no longer fails with X.");
}

/// A failure in the record; those of earlier releases have neither owner nor source.
fn example(owner: &str, source: &str) -> FailureRecord {
    serde_json::from_value(json!({
        "id": "1", "at": "2027-01-15T08:00:00Z", "uid": "u", "nodeClaim": "c", "pool": "a", "node": "aks-c",
        "reason": "CSEFailed", "message": "m", "note": "n", "key": "k", "code": 211, "effectiveCode": 232,
        "cause": "X", "owner": owner, "evidence": "oras: command not found", "source": source,
    }))
    .unwrap()
}

#[test]
fn body_of_every_event_fits_the_published_schema() {
    let finding = notification("i").live.unwrap();
    let sources = FailureSource::ALL.map(FailureSource::as_str).into_iter().chain(["", "forged"]);
    let mut alerts: Vec<Alert> = sources
        .map(|source| Alert {
            example: Some(Box::new(example(if source.is_empty() { "" } else { "image" }, source))),
            ..finding.clone()
        })
        .collect();
    let last = example("image", "clock");
    alerts.push(Alert::of_pool(FailingPool { pool: "a".to_owned(), failed: 3, last }));
    alerts.extend([finding, Alert::of_leader("mooring-1")]);
    for alert in alerts {
        let mut one = notification("i");
        (one.stored.event, one.stored.subject) = (alert.event, alert.subject.clone());
        one.live = Some(alert);
        let open = body(&one, HookFormat::Mooring);
        validate_named(&open).unwrap();
        let evidence = &open["evidence"][0];
        let is_known = |name: &str| FailureSource::parse(name).is_some();
        assert!(evidence["source"].as_str().is_none_or(is_known), "{evidence}");
        (one.stored.over_at, one.live, one.cluster) = (Some(one.stored.started_at), None, None);
        validate_named(&body(&one, HookFormat::Mooring)).unwrap();
    }
    // The command that runs a repair sends this event, with another schema.
    let mut wrong = body(&notification("i"), HookFormat::Mooring);
    wrong["event"] = "run".into();
    assert!(validate_named(&wrong).is_err());
}

#[test]
fn secrets_of_a_hook_do_not_print() {
    let hook = Hook {
        name: "ops".into(),
        format: HookFormat::Slack,
        events: [AlertEvent::Finding].into(),
        url: Secret::from("https://hooks.example/canary"),
        hmac: Some(Secret::from("canary")),
    };
    assert!(!format!("{hook:?}").contains("canary"));
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + seconds).unwrap()
}

fn hook(name: &str, events: &[AlertEvent]) -> Hook {
    Hook {
        name: name.into(),
        format: HookFormat::Mooring,
        events: events.iter().copied().collect(),
        url: Secret::from("https://hooks.example/"),
        hmac: None,
    }
}

fn failing_pool(pool: &str) -> Alert {
    let last = example("image", "clock");
    Alert::of_pool(FailingPool { pool: pool.to_owned(), failed: 3, last })
}

/// Returns pool or event, whether it is over, and the hooks that wait, of each stored alert.
fn stored(ledger: &Ledger) -> Vec<(&str, bool, Vec<&str>)> {
    let alerts = ledger.alerts.iter();
    alerts
        .map(|alert| {
            let name = alert.subject.pool.as_deref().unwrap_or_else(|| alert.event.as_str());
            let pending = alert.pending.iter().map(String::as_str).collect();
            (name, alert.over_at.is_some(), pending)
        })
        .collect()
}

#[test]
fn ledger_follows_alerts_until_every_hook_has_their_end() {
    let hooks = [
        hook("one", &[AlertEvent::PoolFailing]),
        hook("two", &[AlertEvent::PoolFailing, AlertEvent::Controller]),
        hook("runs", &[AlertEvent::Run]),
    ];
    let (a, b) = (failing_pool("a"), failing_pool("b"));
    let mut ledger = Ledger::default();
    assert_eq!(ledger.update(std::slice::from_ref(&a), &hooks, at(1)), 0);
    assert_eq!(stored(&ledger), [("a", false, vec!["one", "two"])]);
    assert_eq!((ledger.alerts[0].started_at, ledger.alerts[0].over_at), (at(1), None));
    // Nothing changes while it is open.
    assert_eq!(ledger.update(std::slice::from_ref(&a), &hooks, at(2)), 0);
    assert_eq!(ledger.alerts[0].started_at, at(1));
    let sent = ledger.next_for("one").unwrap().clone();
    ledger.settle(&sent, "one");
    assert_eq!(stored(&ledger), [("a", false, vec!["two"])]);
    assert_eq!((ledger.next_for("one"), ledger.next_for("runs")), (None, None));
    ledger.settle(&sent, "two");
    assert_eq!(stored(&ledger), [("a", false, vec![])], "an open alert is kept");
    // Its end is a new notification for each hook.
    ledger.update(std::slice::from_ref(&b), &hooks, at(3));
    assert_eq!(
        stored(&ledger),
        [("a", true, vec!["one", "two"]), ("b", false, vec!["one", "two"])]
    );
    assert_eq!(ledger.alerts[0].over_at, Some(at(3)));
    let end = ledger.next_for("one").unwrap().clone();
    assert_eq!(end.over_at, Some(at(3)), "the oldest first");
    // The start was sent late: the end still waits.
    ledger.settle(&sent, "one");
    assert_eq!(ledger.next_for("one"), Some(&end));
    ledger.settle(&end, "one");
    // An end that was not delivered is not moved.
    ledger.update(std::slice::from_ref(&b), &hooks, at(4));
    assert_eq!(stored(&ledger), [("a", true, vec!["two"]), ("b", false, vec!["one", "two"])]);
    assert_eq!(ledger.alerts[0].over_at, Some(at(3)));
    ledger.settle(&end, "two");
    assert_eq!(stored(&ledger), [("b", false, vec!["one", "two"])]);
}

#[test]
fn alert_that_opens_again_replaces_its_undelivered_end() {
    let hooks = [hook("one", &[AlertEvent::PoolFailing])];
    let mut ledger = Ledger::default();
    ledger.update(&[failing_pool("a")], &hooks, at(1));
    ledger.update(&[], &hooks, at(2));
    ledger.update(&[failing_pool("a")], &hooks, at(3));
    assert_eq!(stored(&ledger), [("a", false, vec!["one"])]);
    assert_eq!(ledger.alerts[0].started_at, at(3));
    // Without a hook for it, an end is not stored.
    let others = [hook("two", &[AlertEvent::Run])];
    ledger.update(&[failing_pool("a")], &others, at(4));
    assert_eq!(stored(&ledger), [("a", false, vec![])], "a removed hook does not wait");
    ledger.update(&[], &others, at(5));
    assert_eq!(stored(&ledger), []);
}

#[test]
fn leader_is_announced_to_hooks_that_want_it() {
    let wants = [hook("one", &[AlertEvent::Controller]), hook("two", &[AlertEvent::Controller])];
    let mut ledger = Ledger::default();
    ledger.update(&[failing_pool("a")], &wants, at(1));
    for leader in ["mooring-1", "mooring-2", "mooring-2"] {
        assert!(ledger.announce(&Alert::of_leader(leader), &wants, at(2)));
        let both = ("controller", false, vec!["one", "two"]);
        assert_eq!(stored(&ledger), [("a", false, vec![]), both], "only the latest");
    }
    // It does not end by itself.
    ledger.update(&[failing_pool("a")], &wants, at(3));
    let sent = ledger.next_for("one").unwrap().clone();
    ledger.settle(&sent, "one");
    assert_eq!(stored(&ledger)[1], ("controller", false, vec!["two"]));
    ledger.settle(&sent, "two");
    assert_eq!(stored(&ledger), [("a", false, vec![])]);
    assert!(ledger.announce(&Alert::of_leader("mooring-3"), &[], at(4)));
    assert_eq!(stored(&ledger), [("a", false, vec![])]);
}

#[test]
fn alerts_above_the_limit_are_dropped_and_counted() {
    let hooks = [hook("one", &[AlertEvent::PoolFailing, AlertEvent::Controller])];
    let open: Vec<Alert> = (0..131).map(|pool| failing_pool(&format!("pool-{pool}"))).collect();
    let mut ledger = Ledger::default();
    assert_eq!(ledger.update(&open[..127], &hooks, at(1)), 0);
    assert_eq!(ledger.update(&open, &hooks, at(1)), 3);
    assert_eq!(ledger.alerts.len(), 128);
    assert!(!ledger.announce(&Alert::of_leader("mooring-1"), &hooks, at(1)));
    assert_eq!(ledger.alerts.len(), 128);
    let mut document = serde_json::to_value(&ledger).unwrap();
    let alerts = document["alerts"].as_array_mut().unwrap();
    let forged =
        json!({"id": "x", "event": "pool-failing", "pool": "p\n".repeat(200), "startedAt": at(1)});
    alerts.extend([forged.clone(), forged.clone()]);
    let read = |document: &Value| {
        let text = document.to_string();
        Ledger::from_config_map(&json!({"data": {"notifications.json": text}}))
    };
    assert_eq!(read(&document).unwrap(), ledger, "no more than the limit are read");
    document["alerts"] = json!([forged]);
    let name = read(&document).unwrap().alerts[0].subject.pool.clone().unwrap();
    assert!(name.len() <= 128 && !name.contains('\n'), "{name:?}");
    document["schema"] = json!("mooring.notifications/v2");
    let error = read(&document).unwrap_err().to_string();
    assert!(error.contains("mooring.notifications/v2"), "{error}");
}

#[test]
fn id_of_an_alert_depends_on_its_subject_only() {
    let finding = notification("i").live.unwrap();
    let other_image = notification("j").live.unwrap();
    let subject = AlertSubject { cause: Some("Y".into()), ..finding.subject.clone() };
    let other_cause = Alert { subject, ..finding.clone() };
    let all = [
        finding.clone(),
        other_image,
        other_cause,
        failing_pool("a"),
        failing_pool("b"),
        Alert::of_leader("mooring-1"),
        Alert::of_leader("mooring-2"),
    ];
    let ids: std::collections::BTreeSet<String> = all.iter().map(Alert::id).collect();
    assert_eq!(ids.len(), all.len());
    let subject = AlertSubject { pool: None, ..finding.subject.clone() };
    let same = Alert { subject, message: "m".into(), failed: None, ..finding.clone() };
    assert_eq!(same.id(), finding.id());
    let last = FailureRecord { cause: "Y".into(), ..example("image", "clock") };
    let later = Alert::of_pool(FailingPool { pool: "a".to_owned(), failed: 4, last });
    assert_eq!(later.id(), failing_pool("a").id());
}

#[test]
fn finding_names_the_pool_of_its_example() {
    let mut fleet = mooring_diagnosis::fleet::Fleet::default();
    (0..9).for_each(|_| fleet.count("good", None));
    (0..9).for_each(|_| fleet.count("bad", Some("X")));
    let finding = fleet.findings().remove(0);
    let pool = |example: Option<FailureRecord>| Alert::of_finding(&finding, example).subject.pool;
    let standalone = FailureRecord { pool: String::new(), ..example("image", "clock") };
    assert_eq!(pool(Some(example("image", "clock"))).as_deref(), Some("a"));
    assert_eq!((pool(Some(standalone)), pool(None)), (None, None));
    let alert = Alert::of_finding(&finding, None);
    assert_eq!((alert.failed, alert.nodes, alert.others), (Some(9), Some(9), Some((0, 9))));
}

#[test]
fn code_is_the_effective_one_and_has_a_name() {
    let codes = |entry: FailureRecord| {
        let mut one = notification("i");
        one.live.as_mut().unwrap().example = Some(Box::new(entry));
        let body = body(&one, HookFormat::Mooring);
        (body["reported"].clone(), body["effective"].clone())
    };
    let oras = json!({"code": 232, "name": "ERR_ORAS_BINARY_NOT_FOUND"});
    let entry = FailureRecord { name: Some("OWN".into()), ..example("image", "clock") };
    assert_eq!(codes(entry.clone()), (json!({"code": 211, "name": "OWN"}), oras));
    let plain = FailureRecord { effective_code: None, ..entry.clone() };
    let own = json!({"code": 211, "name": "OWN"});
    assert_eq!(codes(plain), (own.clone(), own));
    let none = FailureRecord { code: None, effective_code: None, ..entry };
    assert_eq!(codes(none), (json!(null), json!(null)));
}

#[test]
fn title_of_a_chat_message_shows_the_state() {
    let title =
        |one: &Notification| body(one, HookFormat::Slack)["blocks"][0]["text"]["text"].clone();
    let mut one = notification("i");
    assert_eq!(title(&one), "✗ Mooring: prod");
    let slack = body(&one, HookFormat::Slack);
    assert_eq!(slack["blocks"][2]["elements"][0]["text"], "mooring why a\nmooring explain X");
    one.stored.over_at = Some(one.stored.started_at);
    assert_eq!(title(&one), "✓ Mooring: prod");
    let slack = body(&one, HookFormat::Slack);
    assert_eq!(slack["blocks"].as_array().map(Vec::len), Some(2), "no commands");
    one.stored = StoredAlert { event: AlertEvent::Controller, over_at: None, ..one.stored };
    one.cluster = None;
    assert_eq!(title(&one), "i Mooring");
}

#[test]
fn run_notification_has_its_state_and_next_steps() {
    let mut run = RunNotification {
        cluster: json!({"name": "prod", "id": null, "context": null, "server": null, "uid": null}),
        workflow: Some("repair"),
        subject: Some("pool1".into()),
        run_id: "r1".into(),
        state: RunState::Started,
        started_at: at(1),
        ended_at: None,
        message: "m".into(),
        next: vec![("mooring repair status".into(), "show the run")],
    };
    let body = |run: &RunNotification, format| -> Value {
        serde_json::from_str(&run.body(format, at(9))).unwrap()
    };
    for (state, name, sign) in [
        (RunState::Started, "started", "i"),
        (RunState::Finished, "finished", "✓"),
        (RunState::Stopped, "stopped", "✗"),
        (RunState::Test, "test", "i"),
    ] {
        run.state = state;
        let document = body(&run, HookFormat::Mooring);
        assert_eq!((&document["state"], &document["event"]), (&json!(name), &json!("run")));
        assert_eq!(document["generatedAt"], json!(at(9)));
        let next = json!([{"command": "mooring repair status", "purpose": "show the run"}]);
        assert_eq!(document["next"], next);
        let slack = body(&run, HookFormat::Slack);
        let title = &slack["blocks"][0]["text"]["text"];
        assert_eq!(*title, json!(format!("{sign} Mooring: prod")));
        let teams = body(&run, HookFormat::Teams);
        let blocks = &teams["attachments"][0]["content"]["body"];
        assert_eq!(blocks[2]["text"], "mooring repair status");
    }
    run.cluster = json!({});
    let slack = body(&run, HookFormat::Slack);
    assert_eq!(slack["blocks"][0]["text"]["text"], "i Mooring");
}
