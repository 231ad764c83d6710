//! The agent's log: a JSON object a line.

use serde_json::{Map, Value};

use super::{LONGEST_MESSAGE, MOST, Told, kind_of};
use crate::escape::tidy;
use crate::stamp;
use crate::timeline::Source;

/// From each `started` to its end. The end does not say whose it is; whoever began first ends first, since the one
/// waits for the other.
pub(crate) fn read(text: &str) -> Vec<Told> {
    let mut told: Vec<Told> = Vec::new();
    for line in text.lines().filter(|line| line.contains("aks-node-controller ")) {
        let Ok(record) = serde_json::from_str::<Map<String, Value>>(line) else { continue };
        let member = |name: &str| record.get(name).and_then(Value::as_str).unwrap_or_default();
        let Some(at) = stamp::read(member("time")) else { continue };
        let message = member("msg");
        if message == "aks-node-controller started" && told.len() < MOST {
            let task = tidy(member("task"), 40);
            if task.is_empty() {
                continue;
            }
            let name = format!("AKS.AKSNodeController.{task}");
            let kind = kind_of(&name);
            let source = Source::AgentLog;
            told.push(Told {
                name,
                kind,
                start: at,
                end: None,
                failed: false,
                source,
                message: String::new(),
            });
        } else if let Some(open) = told.iter_mut().find(|one| one.end.is_none()) {
            let failed = message == "aks-node-controller failed";
            if failed || message.starts_with("aks-node-controller finished") {
                open.end = Some(at);
                open.failed = failed;
                open.message = tidy(&mooring_redact::mask_line(member("error")), LONGEST_MESSAGE);
            }
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_began_first_ends_first() {
        let told = read(concat!(
            r#"{"time":"2026-11-15T02:00:00.5Z","level":"INFO","msg":"aks-node-controller started","task":"Provision"}"#,
            "\n",
            r#"{"time":"2026-11-15T02:00:10Z","level":"INFO","msg":"aks-node-controller started","task":"ProvisionWait"}"#,
            "\n",
            "{\"time\": torn aks-node-controller \n",
            r#"{"time":"2026-11-15T02:00:20Z","level":"ERROR","msg":"aks-node-controller failed","error":"exit status 50"}"#,
            "\n",
        ));
        let seen: Vec<_> =
            told.iter().map(|one| (one.name.as_str(), one.end.is_some(), one.failed)).collect();
        assert_eq!(
            seen,
            [
                ("AKS.AKSNodeController.Provision", true, true),
                ("AKS.AKSNodeController.ProvisionWait", false, false)
            ]
        );
        assert_eq!(told[0].message, "exit status 50");
    }
}
