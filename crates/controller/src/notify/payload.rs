//! Bodies of notifications, by format.

use jiff::Timestamp;
use mooring_redact::shell_word;
use serde_json::{Value, json};

use super::alert::{Alert, AlertEvent, AlertState, AlertSubject, end_message};
use super::chat::ChatMessage;
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
    pub fn state(&self) -> AlertState {
        if self.stored.over_at.is_some() { AlertState::Over } else { AlertState::Open }
    }

    fn event(&self) -> AlertEvent {
        match self.state() {
            AlertState::Open => self.stored.event,
            AlertState::Over => self.stored.event.at_end(),
        }
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
        let evidence: Vec<Value> = example
            .and_then(|entry| Some((entry.evidence.as_ref()?, FailureSource::parse(&entry.source))))
            .map(|(line, source)| {
                json!({"line": line, "file": null, "source": source.map(FailureSource::as_str)})
            })
            .into_iter()
            .collect();
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
            "state": self.state().as_str(),
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
            "evidence": evidence,
            "next": self.next(),
        })
    }

    fn next(&self) -> Vec<Value> {
        let AlertSubject { pool, cause, .. } = &self.stored.subject;
        let step = |command: String, purpose: &str| json!({"command": command, "purpose": purpose});
        let pool = pool.iter().map(|pool| {
            step(format!("mooring why {}", shell_word(pool)), "show the failures of the pool")
        });
        let cause = cause.iter().map(|cause| {
            step(format!("mooring explain {}", shell_word(cause)), "explain the cause")
        });
        if self.state() == AlertState::Over { Vec::new() } else { pool.chain(cause).collect() }
    }

    fn chat(&self) -> ChatMessage {
        let sign = match (self.state(), self.event()) {
            (AlertState::Over, _) => "✓",
            (_, AlertEvent::Controller) => "i",
            _ => "✗",
        };
        let title = match self.cluster_name() {
            Some(cluster) => format!("{sign} Mooring: {cluster}"),
            None => format!("{sign} Mooring"),
        };
        let commands = self.next().into_iter();
        let commands = commands.filter_map(|step| step["command"].as_str().map(str::to_owned));
        ChatMessage { title, text: self.message(), commands: commands.collect() }
    }
}
