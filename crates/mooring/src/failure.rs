//! Why a command gave no answer.

use std::io;
use std::process::ExitCode;

use mooring_redact::printable_lines;

/// A sentence for a person, and an exit code for a script.
#[derive(Debug)]
pub(crate) struct Failure {
    text: String,
    exit_code: u8,
}

impl Failure {
    /// Something could not be read.
    pub(crate) fn unreadable(text: String) -> Self {
        Self { text, exit_code: 3 }
    }

    pub(crate) fn refused(text: String) -> Self {
        Self { text, exit_code: 4 }
    }

    /// Interrupted, but it can be resumed.
    pub(crate) fn resumable(text: String) -> Self {
        Self { text, exit_code: 5 }
    }

    /// The same with another exit code.
    pub(crate) fn with_code(self, exit_code: u8) -> Self {
        Self { exit_code, ..self }
    }

    /// Azure did not do what was asked of it.
    pub(crate) fn azure(error: &mooring_arm::Error) -> Self {
        let exit_code = if error.is_throttled() { 6 } else { 3 };
        Self { text: format!("Azure: {error}"), exit_code }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The command line means nothing.
    pub(crate) fn usage(text: String) -> Self {
        Self { text, exit_code: 2 }
    }

    #[expect(clippy::print_stderr, reason = "this is where people are told")]
    pub(crate) fn report(&self) -> ExitCode {
        eprintln!("mooring: {}", printable_lines(&self.text));
        ExitCode::from(self.exit_code)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::unreadable(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use mooring_arm::{Error, ErrorKind, Fate, Made, Refusal};

    use super::Failure;

    #[test]
    fn throttling_has_an_exit_code_of_its_own() {
        let code = |kind| {
            let error = Error { kind, fate: Fate::NotDone, call: Box::new(Made::default()) };
            Failure::azure(&error).exit_code
        };
        let refusal = Refusal::default;
        assert_eq!(code(ErrorKind::Throttled { refusal: refusal(), retry_after: None }), 6);
        assert_eq!(code(ErrorKind::BudgetFull), 6);
        assert_eq!(code(ErrorKind::Conflict(refusal())), 3);
        assert_eq!(code(ErrorKind::Server(refusal())), 3);
    }
}
