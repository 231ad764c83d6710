//! Notifications of runs, sent by the command that runs.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

use super::alert::AlertEvent;
use super::chat::{ChatMessage, steps};
use super::hook::HookFormat;

pub const SCHEMA: &str = "mooring.run/v1";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunState {
    Started,
    Finished,
    /// Ended without success; `message` has the reason.
    Stopped,
    /// A test of the hooks, without a run.
    Test,
}

impl RunState {
    const fn sign(self) -> &'static str {
        match self {
            Self::Started | Self::Test => "i",
            Self::Finished => "✓",
            Self::Stopped => "✗",
        }
    }
}

/// The start or the end of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunNotification {
    /// Name, id, context, server and uid.
    pub cluster: Value,
    /// `repair` or `finalizers`; none for a test.
    pub workflow: Option<&'static str>,
    /// Pool or profile.
    pub subject: Option<String>,
    pub run_id: String,
    pub state: RunState,
    pub started_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    pub message: String,
    /// Commands with their purposes.
    pub next: Vec<(String, &'static str)>,
}

impl RunNotification {
    /// Returns the body of the request.
    pub fn body(&self, format: HookFormat, now: Timestamp) -> String {
        format.body(|| self.document(now), || self.chat())
    }

    fn document(&self, now: Timestamp) -> Value {
        let second = |at: Timestamp| Timestamp::from_second(at.as_second()).unwrap_or(at);
        let now = second(now);
        json!({
            "schema": SCHEMA,
            "generatedAt": now,
            "cluster": self.cluster,
            "sources": [{"name": "cluster", "state": "read", "at": now, "seconds": 0, "error": null}],
            "id": self.run_id,
            "event": AlertEvent::Run,
            "state": self.state,
            "workflow": self.workflow,
            "subject": self.subject,
            "startedAt": second(self.started_at),
            "endedAt": self.ended_at.map(second),
            "message": self.message,
            "next": steps(&self.next),
        })
    }

    fn chat(&self) -> ChatMessage {
        let cluster = self.cluster["name"].as_str();
        ChatMessage::new(self.state.sign(), cluster, self.message.clone(), &self.next)
    }
}
