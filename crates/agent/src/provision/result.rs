//! Failure of a bootstrap: its report with the cause, and the files in which a run leaves its result.

use std::fmt::Write as _;

use mooring_codes::{Os, image_date};
use mooring_contract::CseStatus;
use mooring_contract::json::{Escape, escape_into};
use mooring_diagnosis::{Diagnosis, Hints, diagnose};

use crate::VERSION;
use crate::format::path_error;
use crate::node::agent::Agent;
use crate::node::agent::LogValue::Text;
use crate::node::paths::{Layout, REPORT, RUN_RECORD};
use crate::node::report::{self, RunningAgent};
use crate::preflight::code_name;
use crate::world::World;

/// Writes the result of a failed run: in the record of this boot, and for later boots the report and the sentinel.
pub(super) fn leave_failure(
    agent: &mut Agent<'_>,
    failure: &Failure,
    record: Option<&mut RunningAgent>,
) {
    let Failure { status, is_of_this_boot, .. } = failure;
    let redact = |text: &str| agent.redactor.redact(text).into_owned();
    let status = CseStatus {
        exit_code: status.exit_code.clone(),
        error: redact(&status.error),
        output: redact(&status.output),
        diagnosis: redact(&sentence(status)),
        hotfix: String::new(),
        timings: status.timings.clone(),
    };
    let is_recorded = leave_record(agent, record, &status);
    // Who waits must get a word even where nothing can be recorded.
    if *is_of_this_boot && is_recorded {
        return;
    }
    for (fixed, error) in report::leave(agent.world, &agent.layout, &status, !is_recorded) {
        let name = fixed.rsplit('/').next().unwrap_or(fixed);
        let error = path_error("open", fixed.as_ref(), &error);
        let attributes = [("path", Text(fixed)), ("error", Text(&error))];
        agent.error(&format!("failed to write {name} file"), &attributes);
    }
}

/// Writes the result of a successful run, if the scripts have not, for example because of a full disk.
pub(super) fn leave_success(agent: &mut Agent<'_>, record: Option<&mut RunningAgent>) {
    let status = status(0, String::new(), String::new());
    leave_record(agent, record, &status);
    if report::is_torn(agent.world, &agent.layout) {
        let _ = report::replace(agent.world, &agent.layout.at(REPORT), status.to_json().as_bytes());
    }
}

/// Records the result for those who wait in this boot; true if that worked.
fn leave_record(
    agent: &mut Agent<'_>,
    record: Option<&mut RunningAgent>,
    status: &CseStatus,
) -> bool {
    let Some(record) = record else { return false };
    record.report = Some(status.to_json());
    let written = record.write(agent.world, &agent.layout);
    if let Err(error) = &written {
        let error = path_error("open", RUN_RECORD.as_ref(), error);
        agent.warn("failed to record the result", &[("error", Text(&error))]);
    }
    written.is_ok()
}

/// Writes the result of a `provision` that failed before its log was open, unless another `provision` is running.
pub(crate) fn leave_early_result(world: &mut dyn World, layout: &Layout, error: &str) {
    if !report::is_live(world, layout) {
        let mut status = status(NOT_STARTED, error.to_owned(), String::new());
        status.diagnosis = sentence(&status);
        let _ = report::leave(world, layout, &status, true);
    }
}

/// Writes the result of a `provision` that panicked. Errors are ignored.
pub(crate) fn leave_last_result(world: &mut dyn World, layout: &Layout, error: &str) {
    let status = status(NOT_STARTED, error.to_owned(), String::new());
    let _ = report::leave(world, layout, &status, true);
}

/// The report's code for "the agent failed before it ran anything".
pub(crate) const NOT_STARTED: i32 = 240;

#[derive(Debug)]
pub(super) struct Failure {
    pub(super) status: Box<CseStatus>,
    /// Message of the log, if it differs from the report.
    pub(super) logged: Option<String>,
    pub(super) exit_code: u8,
    /// True if the result is valid for this boot only: a signal ended the run, or it is that of an earlier run.
    pub(super) is_of_this_boot: bool,
}

impl Failure {
    pub(super) fn before_start(error: String) -> Self {
        let status = Box::new(status(NOT_STARTED, error, String::new()));
        Self { status, logged: None, exit_code: 1, is_of_this_boot: false }
    }

    /// Nothing was run, because of what preflight found. The report begins with the code's name,
    /// since scripts use some of these numbers for other things.
    pub(super) fn preflight(code: i32, summary: &str, output: String) -> Self {
        let name = code_name(code).unwrap_or("preflight");
        let status = Box::new(status(code, format!("{name}: {summary}"), output));
        Self { status, logged: None, exit_code: exit_code(code), is_of_this_boot: false }
    }
}

pub(super) fn exit_code(code: i32) -> u8 {
    u8::try_from(code).unwrap_or(u8::MAX)
}

pub(crate) fn status(code: i32, error: String, output: String) -> CseStatus {
    CseStatus { exit_code: code.to_string(), error, output, ..CseStatus::default() }
}

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
