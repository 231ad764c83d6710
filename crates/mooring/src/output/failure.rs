//! Error of a command.

use std::io;

use mooring_controller::query::QueryError;
use mooring_workflow::journal::JournalError;

/// Message, hint and exit code. The message is `what failed: why`.
#[derive(Debug)]
pub(crate) struct CommandFailure {
    pub(super) message: String,
    /// What to do, if it is known.
    hint: Option<String>,
    pub(super) exit_code: u8,
    /// True if a name does not exist.
    is_unknown_name: bool,
}

impl CommandFailure {
    /// What follows `hint: ` in a text, which may be that of an error of another crate, is the hint.
    pub(crate) fn io(text: String) -> Self {
        let (message, hint) = match text.split_once("\nhint: ") {
            Some((message, hint)) => (message.to_owned(), Some(hint.to_owned())),
            None => (text, None),
        };
        Self { message, hint, exit_code: 3, is_unknown_name: false }
    }

    pub(crate) fn blocked(text: String) -> Self {
        Self { exit_code: 4, ..Self::io(text) }
    }

    pub(crate) fn resumable(text: String) -> Self {
        Self { exit_code: 5, ..Self::io(text) }
    }

    pub(crate) fn with_code(self, exit_code: u8) -> Self {
        Self { exit_code, ..self }
    }

    pub(crate) fn azure(error: &mooring_arm::Error) -> Self {
        let exit_code = if error.is_throttled() { 6 } else { 3 };
        Self { exit_code, ..Self::io(format!("Azure: {error}")) }
    }

    pub(crate) fn query(error: &QueryError) -> Self {
        match error {
            QueryError::Azure(azure) => Self::azure(azure),
            QueryError::VmThrottled(_) => Self::io(error.to_string()).with_code(6),
            other => Self::io(other.to_string()),
        }
    }

    /// Returns the message with its hint.
    pub(crate) fn text(&self) -> String {
        let hint = self.hint.as_ref().map(|hint| format!("\nhint: {hint}"));
        self.message.clone() + &hint.unwrap_or_default()
    }

    /// Returns the first line of the message.
    pub(crate) fn first_line(&self) -> String {
        self.message.lines().next().unwrap_or_default().to_owned()
    }

    pub(crate) fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    pub(crate) fn usage(text: String) -> Self {
        Self { exit_code: 2, ..Self::io(text) }
    }

    /// Nothing has this name.
    pub(crate) fn unknown_name(text: String) -> Self {
        Self { is_unknown_name: true, ..Self::usage(text) }
    }

    /// Returns the code of the error in `mooring.error/v1`.
    pub(crate) fn code(&self) -> &'static str {
        match self.exit_code {
            2 if self.is_unknown_name => "not-found",
            2 => "usage",
            4 => "blocked",
            5 => "interrupted",
            6 => "throttled",
            _ => "io",
        }
    }
}

impl From<io::Error> for CommandFailure {
    fn from(error: io::Error) -> Self {
        Self::io(error.to_string())
    }
}

impl From<serde_json::Error> for CommandFailure {
    fn from(error: serde_json::Error) -> Self {
        Self::io(error.to_string())
    }
}

impl From<JournalError> for CommandFailure {
    fn from(error: JournalError) -> Self {
        Self::io(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use mooring_arm::{AzureError, CallInfo, Error, ErrorKind, WriteStatus};

    use super::*;

    #[test]
    fn exit_codes_have_names() {
        let text = || "x: y".to_owned();
        for (failure, exit_code, name) in [
            (CommandFailure::io(text()), 3, "io"),
            (CommandFailure::from(std::io::Error::other("x: y")), 3, "io"),
            (CommandFailure::usage(text()), 2, "usage"),
            (CommandFailure::unknown_name(text()), 2, "not-found"),
            (CommandFailure::blocked(text()), 4, "blocked"),
            (CommandFailure::resumable(text()), 5, "interrupted"),
            (CommandFailure::io(text()).with_code(6), 6, "throttled"),
        ] {
            let found = (failure.exit_code, failure.code(), failure.message.as_str());
            assert_eq!(found, (exit_code, name, "x: y"));
        }
        let throttled = CommandFailure::query(&QueryError::VmThrottled("n".to_owned()));
        assert_eq!(throttled.code(), "throttled");
        assert!(!throttled.text().contains("Reader"), "{}", throttled.text());
    }

    #[test]
    fn throttling_has_its_own_exit_code() {
        let code = |kind| {
            let error = Error {
                kind,
                write_status: WriteStatus::NotApplied,
                call: Box::new(CallInfo::default()),
            };
            CommandFailure::azure(&error).exit_code
        };
        let refusal = AzureError::default;
        assert_eq!(code(ErrorKind::Throttled { refusal: refusal(), retry_after: None }), 6);
        assert_eq!(code(ErrorKind::BudgetFull), 6);
        assert_eq!(code(ErrorKind::Conflict(refusal())), 3);
        assert_eq!(code(ErrorKind::Server(refusal())), 3);
    }
}
