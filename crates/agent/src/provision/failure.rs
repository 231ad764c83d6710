//! Failure of a bootstrap.

use mooring_contract::CseStatus;

use crate::preflight::code_name;

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
