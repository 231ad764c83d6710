//! Parses the agent's log: one JSON object per line.

use serde_json::{Map, Value};

use super::timestamp;
use super::{MAX_MESSAGE, MAX_SPANS, RawSpan, kind_of};
use crate::escape::tidy;
use crate::model::timeline::SpanSource;

/// Returns the span from each `started` to its end. Ends have no id; the process that started first ends first, since
/// the other one waits for it.
pub(crate) fn read(text: &str) -> Vec<RawSpan> {
    let mut spans: Vec<RawSpan> = Vec::new();
    for line in text.lines().filter(|line| line.contains("aks-node-controller ")) {
        let Ok(record) = serde_json::from_str::<Map<String, Value>>(line) else { continue };
        let member = |name: &str| record.get(name).and_then(Value::as_str).unwrap_or_default();
        let Some(at) = timestamp::read(member("time")) else { continue };
        let message = member("msg");
        if message == "aks-node-controller started" && spans.len() < MAX_SPANS {
            let task = tidy(member("task"), 40);
            if task.is_empty() {
                continue;
            }
            let name = format!("AKS.AKSNodeController.{task}");
            let kind = kind_of(&name);
            spans.push(RawSpan::new(name, kind, at, SpanSource::AgentLog));
        } else if let Some(open) = spans.iter_mut().find(|one| one.end.is_none()) {
            let failed = message == "aks-node-controller failed";
            if failed || message.starts_with("aks-node-controller finished") {
                open.end = Some(at);
                open.failed = failed;
                open.message = tidy(&mooring_redact::mask_line(member("error")), MAX_MESSAGE);
            }
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_started_process_ends_first() {
        let spans = read(concat!(
            r#"{"time":"2026-11-15T02:00:00.5Z","level":"INFO","msg":"aks-node-controller started","task":"Provision"}"#,
            "\n",
            r#"{"time":"2026-11-15T02:00:10Z","level":"INFO","msg":"aks-node-controller started","task":"ProvisionWait"}"#,
            "\n",
            "{\"time\": torn aks-node-controller \n",
            r#"{"time":"2026-11-15T02:00:20Z","level":"ERROR","msg":"aks-node-controller failed","error":"exit status 50"}"#,
            "\n",
        ));
        let seen: Vec<_> =
            spans.iter().map(|one| (one.name.as_str(), one.end.is_some(), one.failed)).collect();
        assert_eq!(
            seen,
            [
                ("AKS.AKSNodeController.Provision", true, true),
                ("AKS.AKSNodeController.ProvisionWait", false, false)
            ]
        );
        assert_eq!(spans[0].message, "exit status 50");
    }

    #[test]
    fn number_of_processes_is_limited() {
        let start = r#"{"time":"2026-11-15T02:00:00Z","msg":"aks-node-controller started","task":"Provision"}"#;
        assert_eq!(read(&format!("{start}\n").repeat(MAX_SPANS + 1)).len(), MAX_SPANS);
    }
}
