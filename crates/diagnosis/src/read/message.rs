//! All facts about one extension on one VM.

use std::ops::Range;

/// Exit codes of Linux and its shells; the handler reports a killed command as -1.
pub(crate) const LINUX_CODES: std::ops::RangeInclusive<i64> = -1..=255;

/// A value and its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Located<T> {
    pub(crate) value: T,
    pub(crate) at: usize,
}

/// Result that the handler reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Handler {
    #[default]
    Silent,
    /// The handler or the command failed.
    Failed,
    /// The command ended with zero.
    Succeeded,
    /// Windows: the VM restarted, or the command ended without a known code.
    Lost,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Opener {
    /// The compute provider's message about one extension.
    Wrapper,
    /// The handler's text alone.
    Handler,
    /// The AKS summary of one instance.
    Summary,
    /// A timeout, a failed handler or a silent VM: nothing from the script.
    Sentence,
    /// A report outside of any message: a file.
    Report,
    /// Lines of a log outside of any message.
    #[default]
    Log,
}

/// One message, with positions in the normalized text.
#[derive(Clone, Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a separate fact")]
pub(crate) struct ExtensionMessage {
    pub(crate) opener: Opener,
    /// Start of the message; the span of the first one starts with the text.
    pub(crate) at: usize,
    pub(crate) span: Range<usize>,
    pub(crate) extension: Option<String>,
    pub(crate) publisher: Option<String>,
    pub(crate) kind: Option<String>,
    pub(crate) target: Option<i64>,
    pub(crate) handler: Handler,
    pub(crate) is_linux: bool,
    pub(crate) is_windows: bool,
    pub(crate) run_command: bool,
    /// An entry of an instance view.
    pub(crate) viewed: bool,
    pub(crate) silence: Option<Located<Silence>>,
    pub(crate) windows_result: Option<Located<i64>>,
    pub(crate) windows_name: Option<Located<i64>>,
    pub(crate) windows_error: Option<Located<i64>>,
    pub(crate) report: Option<Located<i64>>,
    pub(crate) slog: Option<Located<i64>>,
    pub(crate) trace: Option<Located<i64>>,
    pub(crate) summary: Option<Located<i64>>,
    pub(crate) outer: Option<Located<i64>>,
    pub(crate) duration: Option<u32>,
    pub(crate) image: Option<String>,
    pub(crate) step: Option<Located<String>>,
    pub(crate) stdout: Option<usize>,
    pub(crate) stderr: Option<usize>,
}

/// Reason why a message has no result of the script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Silence {
    /// The extension did not report in time.
    TimedOut,
    HandlerFailed,
    /// The VM agent never reported.
    AgentSilent,
    /// Only the end of a message is present, with a number that means nothing.
    CodeLost,
}

impl ExtensionMessage {
    pub(crate) fn new(opener: Opener, at: usize) -> Self {
        Self { opener, at, span: at..at, ..Self::default() }
    }

    pub(crate) fn in_streams(&self) -> bool {
        self.stdout.is_some() || self.stderr.is_some()
    }

    /// Returns true for a failed handler that printed its log in the streams.
    pub(crate) fn shows_handler_log(&self) -> bool {
        let failed = |found: Located<Silence>| found.value == Silence::HandlerFailed;
        self.silence.is_some_and(failed) && self.in_streams()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_of_a_handler_is_in_the_streams_of_its_failure() {
        let message = |value, stdout| ExtensionMessage {
            silence: Some(Located { value, at: 0 }),
            stdout,
            ..ExtensionMessage::default()
        };
        assert!(message(Silence::HandlerFailed, Some(1)).shows_handler_log());
        assert!(!message(Silence::HandlerFailed, None).shows_handler_log());
        assert!(!message(Silence::TimedOut, Some(1)).shows_handler_log());
        let stderr = ExtensionMessage { stderr: Some(1), ..ExtensionMessage::default() };
        assert!(stderr.in_streams() && !stderr.shows_handler_log());
    }
}
