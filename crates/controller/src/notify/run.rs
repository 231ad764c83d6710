//! Notifications of runs, sent by the command that runs.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::alert::AlertEvent;
use super::chat::ChatMessage;
use super::hook::HookFormat;

pub const SCHEMA: &str = "mooring.run/v1";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    Started,
    Finished,
    /// Ended without success; `message` has the reason.
    Stopped,
    /// A test of the hooks, without a run.
    Test,
}

impl RunState {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Finished => "finished",
            Self::Stopped => "stopped",
            Self::Test => "test",
        }
    }

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
        let next = self.next.iter();
        let next: Vec<Value> = next
            .map(|(command, purpose)| json!({"command": command, "purpose": purpose}))
            .collect();
        json!({
            "schema": SCHEMA,
            "generatedAt": now,
            "cluster": self.cluster,
            "sources": [{"name": "cluster", "state": "read", "at": now, "seconds": 0, "error": null}],
            "id": self.run_id,
            "event": AlertEvent::Run.as_str(),
            "state": self.state.as_str(),
            "workflow": self.workflow,
            "subject": self.subject,
            "startedAt": second(self.started_at),
            "endedAt": self.ended_at.map(second),
            "message": self.message,
            "next": next,
        })
    }

    fn chat(&self) -> ChatMessage {
        let sign = self.state.sign();
        let title = match self.cluster["name"].as_str() {
            Some(cluster) => format!("{sign} Mooring: {cluster}"),
            None => format!("{sign} Mooring"),
        };
        let commands = self.next.iter().map(|(command, _)| command.clone()).collect();
        ChatMessage { title, text: self.message.clone(), commands }
    }
}
