//! The cause of a failure in a sentence, for those who see nothing but the report.

use std::fmt::Write as _;

use mooring_codes::{Os, image_date};
use mooring_contract::CseStatus;
use mooring_contract::json::{Escape, escape_into};
use mooring_diagnosis::{Diagnosis, Hints, diagnose};

use crate::VERSION;

/// Returns the cause of a failure; empty for a bootstrapped node or an unknown cause.
pub(crate) fn sentence(status: &CseStatus) -> String {
    if status.code() == Ok(0) {
        return String::new();
    }
    // Images stamp the agent with their own version.
    let hints =
        Hints { os: Some(Os::Linux), image_date: image_date(VERSION).ok(), ..Hints::default() };
    let diagnoses = diagnose(status.to_json().as_bytes(), hints);
    diagnoses.first().map(format_cause).unwrap_or_default()
}

fn format_cause(diagnosis: &Diagnosis) -> String {
    let Diagnosis { reason, effective, confidence, owner, summary, actions, .. } = diagnosis;
    let code = effective.code.map(|code| format!("{code} ")).unwrap_or_default();
    let name = effective.name.as_deref().unwrap_or("no name");
    let first = actions.first().map(|action| format!(" First: {action}")).unwrap_or_default();
    let confidence = confidence.as_str();
    format!("{reason} ({code}{name}; {confidence} confidence; owner: {owner}): {summary}{first}")
}

/// Adds the cause to a report. Other texts and reports with a cause are unchanged.
pub(crate) fn added_to(report: Vec<u8>) -> Vec<u8> {
    let Ok(status) = CseStatus::read(&report) else { return report };
    let sentence = sentence(&status);
    if sentence.is_empty() || !status.diagnosis.is_empty() {
        return report;
    }
    with_member(report, "Diagnosis", &sentence)
}

/// Adds a text member to a report; other texts are unchanged.
pub(crate) fn with_member(mut report: Vec<u8>, name: &str, value: &str) -> Vec<u8> {
    let end = report.iter().rposition(|&byte| byte == b'}');
    let Some(end) = end.filter(|_| CseStatus::read(&report).is_ok()) else { return report };
    let is_first = report[..end].trim_ascii_end().ends_with(b"{");
    let mut member = String::from(if is_first { "" } else { "," });
    let _ = write!(member, "\"{name}\":\"");
    escape_into(&mut member, value, Escape::HtmlReplaced);
    member.push('"');
    report.splice(end..end, member.into_bytes());
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_oras_is_named_despite_another_code() {
        let status = CseStatus {
            exit_code: "211".into(),
            output: "line 7: oras: command not found\n+ exit 211".into(),
            ..CseStatus::default()
        };
        let cause_text = sentence(&status);
        assert!(
            cause_text.starts_with(
                "OrasBinaryMissing (232 ERR_ORAS_BINARY_NOT_FOUND; high confidence; owner: image): "
            ),
            "{cause_text}"
        );
    }

    #[test]
    fn a_success_has_no_cause() {
        assert_eq!(sentence(&CseStatus { exit_code: "0".into(), ..CseStatus::default() }), "");
        let report = br#"{"ExitCode":"0"}"#.to_vec();
        assert_eq!(added_to(report.clone()), report);
    }

    #[test]
    fn everything_else_of_a_report_stays_as_it_was() {
        let report = b"{ \"ExitCode\": \"50\",  \"Output\": \"\\u003cx\" }\n".to_vec();
        let added = added_to(report.clone());
        let text = String::from_utf8(added.clone()).unwrap();
        let at = text.find(",\"Diagnosis\":").unwrap();
        let end = text.rfind("\"}\n").unwrap();
        assert_eq!(format!("{}{}", &text[..at], &text[end + 1..]).as_bytes(), report);
        assert!(CseStatus::read(&added).unwrap().diagnosis.contains("ERR_OUTBOUND_CONN_FAIL"));
        assert_eq!(added_to(added.clone()), added, "once is enough");
    }

    #[test]
    fn other_texts_are_unchanged() {
        for text in ["", "[]", "null", "not json", "{} x"] {
            assert_eq!(added_to(text.as_bytes().to_vec()), text.as_bytes());
        }
    }
}
