//! Bodies of notifications, by format.

use jiff::Timestamp;
use mooring_redact::shell_word;
use serde_json::{Value, json};

use super::alert::{Alert, AlertEvent, AlertSubject, end_message};
use super::chat::{ChatMessage, steps};
use super::hook::HookFormat;
use super::ledger::StoredAlert;
use crate::verdict::failure::FailureSource;

pub const SCHEMA: &str = "mooring.failure/v1";

/// A notification: an alert as stored, with its live details if it is open.
#[derive(Clone, Debug)]
pub struct Notification {
    pub stored: StoredAlert,
    pub live: Option<Alert>,
    /// Resource id of the cluster.
    pub cluster: Option<String>,
}

impl Notification {
    fn is_over(&self) -> bool {
        self.stored.over_at.is_some()
    }

    fn event(&self) -> AlertEvent {
        if self.is_over() { self.stored.event.at_end() } else { self.stored.event }
    }

    fn message(&self) -> String {
        let live = self.live.as_ref().map(|alert| alert.message.clone());
        live.unwrap_or_else(|| end_message(self.stored.event, &self.stored.subject))
    }

    fn cluster_name(&self) -> Option<&str> {
        self.cluster.as_deref()?.rsplit('/').next()
    }

    /// Returns the body of the request.
    pub fn body(&self, format: HookFormat, now: Timestamp) -> String {
        format.body(|| self.document(now), || self.chat())
    }

    fn document(&self, now: Timestamp) -> Value {
        let StoredAlert { id, subject, started_at, over_at, .. } = &self.stored;
        let AlertSubject { pool, image, cause } = subject;
        let now = Timestamp::from_second(now.as_second()).unwrap_or(now);
        let live = self.live.as_ref();
        let example = live.and_then(|alert| alert.example.as_ref());
        let (reported, effective) = live.map(Alert::codes).unwrap_or_default();
        // A record of an earlier release has neither owner nor source.
        let evidence = example.and_then(|entry| {
            let source = FailureSource::parse(&entry.source).map(FailureSource::as_str);
            let quoted = entry.evidence.as_ref()?;
            Some(json!({"line": quoted, "file": null, "source": source}))
        });
        let others = live.and_then(|alert| alert.others);
        json!({
            "schema": SCHEMA,
            "generatedAt": now,
            "cluster": {
                "name": self.cluster_name(), "id": self.cluster, "context": null, "server": null, "uid": null,
            },
            "sources": [{"name": "controller", "state": "read", "at": now, "seconds": 0, "error": null}],
            "id": id,
            "event": self.event().as_str(),
            "state": if self.is_over() { "over" } else { "open" },
            "startedAt": started_at,
            "endedAt": over_at,
            "message": self.message(),
            "pool": pool,
            "image": image,
            "cause": cause,
            "owner": example.map(|entry| &entry.owner).filter(|owner| !owner.is_empty()),
            "failed": live.and_then(|alert| alert.failed),
            "nodes": live.and_then(|alert| alert.nodes),
            "others": others.map(|(failed, nodes)| json!({"failed": failed, "nodes": nodes})),
            "reported": reported,
            "effective": effective,
            "evidence": Vec::from_iter(evidence),
            "next": steps(&self.next()),
        })
    }

    /// Returns commands with their purposes.
    fn next(&self) -> Vec<(String, &'static str)> {
        let AlertSubject { pool, cause, .. } = &self.stored.subject;
        let pool = pool.iter().map(|pool| {
            (format!("mooring why {}", shell_word(pool)), "show the failures of the pool")
        });
        let cause = cause
            .iter()
            .map(|cause| (format!("mooring explain {}", shell_word(cause)), "explain the cause"));
        if self.is_over() { Vec::new() } else { pool.chain(cause).collect() }
    }

    fn chat(&self) -> ChatMessage {
        let sign = match self.event() {
            _ if self.is_over() => "✓",
            AlertEvent::Controller => "i",
            _ => "✗",
        };
        ChatMessage::new(sign, self.cluster_name(), self.message(), &self.next())
    }
}
