use jiff::Timestamp;
use mooring_redact::Secret;
use mooring_testbed::schema::validate_named;
use serde_json::{Value, json};

use super::hook::HookFormat;
use super::ledger::StoredAlert;
use super::payload::Notification;
use super::{Alert, AlertEvent, Hook, alert::AlertSubject};
use crate::failing::pools::FailingPool;
use crate::record::Entry;
use crate::verdict::failure::Source;

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
fn example(owner: &str, source: &str) -> Entry {
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
    let sources = Source::ALL.map(Source::as_str).into_iter().chain(["", "forged"]);
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
        let is_known = |name: &str| Source::parse(name).is_some();
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
