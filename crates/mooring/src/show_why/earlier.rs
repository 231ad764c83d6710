//! The previous attempt of a node.

use mooring_controller::query::NodeReport;
use serde_json::{Value, json};

pub(super) fn sentence(one: &NodeReport) -> Option<String> {
    let failure = one.earlier.as_ref()?;
    let code = failure.code.map(|code| format!("exit code {code}, ")).unwrap_or_default();
    Some(format!("previous attempt failed ({code}{}): {}", failure.cause, failure.sentence))
}

pub(super) fn json(one: &NodeReport) -> Option<Value> {
    let failure = one.earlier.as_ref()?;
    Some(json!({
        "code": failure.code,
        "cause": failure.cause,
        "message": failure.sentence,
        "evidence": failure.evidence,
    }))
}

#[cfg(test)]
mod tests {
    use mooring_controller::query::{ReportSource, Table};
    use mooring_controller::verdict::Verdict;
    use mooring_controller::verdict::condition::Reason;
    use mooring_diagnosis::{Hints, diagnose};

    use super::super::{markdown, table};
    use super::*;

    #[test]
    fn every_format_shows_the_previous_attempt() {
        let report =
            br#"{"ExitCode": "50", "Output": "curl: (6) Could not resolve host", "Error": ""}"#;
        let found = diagnose(report, Hints::default()).remove(0);
        let source = mooring_controller::verdict::failure::Source::InstanceView;
        let mut node = NodeReport {
            node: "aks-default-1".to_owned(),
            claim: None,
            pool: None,
            image: None,
            joined: Some(true),
            cse_succeeded: false,
            verdict: Verdict::plain(Reason::CseSucceeded, "The bootstrap succeeded."),
            source: ReportSource::Node,
            report_text: String::new(),
            earlier: Verdict::failed(&found, source).failure,
        };
        let fleet = Table::default();
        let all = |node: &NodeReport| {
            let nodes = std::slice::from_ref(node);
            let json = super::super::json("x", nodes, &fleet).to_string();
            [table("x", nodes, &fleet), markdown("x", nodes, &fleet), json]
        };
        let [table, markdown, json] = all(&node);
        assert!(table.contains("earlier     previous attempt failed (exit code 50"), "{table}");
        assert!(markdown.contains("previous attempt failed"), "{markdown}");
        assert!(json.contains(r#""earlier":{"cause":"#), "{json}");
        node.earlier = None;
        assert!(all(&node).iter().all(|text| !text.contains("previous attempt")));
    }
}
