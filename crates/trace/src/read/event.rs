//! Parses events for the guest agent, one per file.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::timestamp::{self, Stamp};
use super::{MAX_MESSAGE, MAX_NAME, RawSpan, kind_of};
use crate::escape::tidy;
use crate::model::timeline::{SpanKind, SpanSource};

#[derive(Debug)]
pub(crate) struct RecordedEvent {
    pub(crate) span: RawSpan,
    /// The instant in the file's name: the start for the scripts, the end for the agent.
    pub(crate) named: Option<Timestamp>,
    /// Fields of the last event of the scripts.
    pub(crate) summary: Map<String, Value>,
}

pub(crate) fn read(path: &str, bytes: &[u8]) -> Result<RecordedEvent, String> {
    let text = String::from_utf8_lossy(bytes);
    let event: Map<String, Value> = serde_json::from_str(&text).map_err(|error| {
        let cut = if error.is_eof() { "it ends too early" } else { "not a JSON object" };
        format!("{cut} (line {}, column {})", error.line(), error.column())
    })?;
    let member = |name: &str| event.get(name).and_then(Value::as_str).unwrap_or_default();
    let task = tidy(member("TaskName").trim(), MAX_NAME);
    if task.is_empty() {
        return Err("it has no TaskName".to_owned());
    }
    let start = timestamp::read(member("Timestamp")).ok_or("invalid Timestamp")?;
    let message = member("Message");
    // The agent also writes an event at the start; the scripts only at the end of a step.
    let is_beginning = message.starts_with("Starting");
    let end = timestamp::read(member("OperationId")).filter(|_| !is_beginning);
    let kind = kind_of(&task);
    let summary = match kind {
        SpanKind::Run => serde_json::from_str(message).unwrap_or_default(),
        _ => Map::new(),
    };
    let code = summary.get("ExitCode").map(exit_code).unwrap_or_default();
    let failed = member("EventLevel") == "Error" || !matches!(code.as_str(), "" | "0");
    let text = match message {
        _ if is_hotfix(&task) => message.split(" | startTime=").next().unwrap_or_default(),
        _ if failed && kind != SpanKind::Run => message,
        _ => "",
    };
    let message = tidy(&mooring_redact::mask_line(text), MAX_MESSAGE);
    let name = path.rsplit('/').next().unwrap_or(path);
    let span =
        RawSpan { end, failed, message, ..RawSpan::new(task, kind, start, SpanSource::Event) };
    Ok(RecordedEvent { span, named: timestamp::of_file_name(name), summary })
}

/// Events about hotfixes have messages with versions.
fn is_hotfix(task: &str) -> bool {
    task.starts_with("AKS.AKSNodeController.") && task.ends_with("Hotfix")
}

/// Returns a string or a number as text.
pub(crate) fn exit_code(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

impl RecordedEvent {
    /// The timestamp that matches the instant in the file's name.
    pub(crate) fn named_stamp(&self) -> Stamp {
        match (self.span.name.starts_with("AKS.AKSNodeController."), self.span.end) {
            (true, Some(end)) => end,
            _ => self.span.start,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_event_returns_a_reason() {
        let why = |text: &str| read("1.json", text.as_bytes()).unwrap_err();
        assert_eq!(why("{\"TaskName\":\"x"), "it ends too early (line 1, column 14)");
        assert_eq!(why("[]"), "not a JSON object (line 1, column 0)");
        assert_eq!(why("{}"), "it has no TaskName");
        assert_eq!(why(r#"{"TaskName":"a","Timestamp":"n/a"}"#), "invalid Timestamp");
    }

    #[test]
    fn message_of_a_failed_agent_is_redacted() {
        let text = r#"{"Timestamp":"2026-11-15 02:15:28.123","OperationId":"2026-11-15 02:15:29.123","TaskName":"AKS.AKSNodeController.Provision","EventLevel":"Error","Message":"exited with error TLS_BOOTSTRAP_TOKEN=abcdef.0123456789abcdef"}"#;
        let event = read("1.json", text.as_bytes()).unwrap();
        assert!(event.span.failed && event.span.kind == SpanKind::Agent);
        assert_eq!(event.span.message, "exited with error TLS_BOOTSTRAP_TOKEN=[secret]");
    }

    #[test]
    fn hotfix_is_quoted_although_nothing_failed() {
        let text = r#"{"Timestamp":"2026-11-15 02:15:28.123","TaskName":"AKS.AKSNodeController.Hotfix","EventLevel":"Informational","Message":"hotfix binary=202604.01.0 scripts=202604.01.1 | startTime=x"}"#;
        let event = read("1.json", text.as_bytes()).unwrap();
        assert_eq!(event.span.message, "hotfix binary=202604.01.0 scripts=202604.01.1");
    }
}
