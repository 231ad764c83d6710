//! One message of a text: everything that was read about one extension on one machine.

use std::ops::Range;

/// What Linux and its shells can report; -1 is the handler's word for a killed command.
pub(crate) const LINUX_CODES: std::ops::RangeInclusive<i64> = -1..=255;

/// Something read, and where it stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found<T> {
    pub(crate) value: T,
    pub(crate) at: usize,
}

/// What the handler says of its run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Handler {
    #[default]
    Silent,
    /// It failed, or the command did.
    Failed,
    /// The command ended with zero.
    Succeeded,
    /// Windows: the machine restarted meanwhile, or the command ended without a known code.
    Lost,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opener {
    /// The compute provider's sentence about one extension.
    Wrapper,
    /// The handler's text alone.
    Handler,
    /// AKS's summary of one instance.
    Summary,
    /// A time-out, a broken handler, or a silent machine: nothing of the script.
    Sentence,
    /// A report outside of any message: a file.
    Report,
    /// Lines of a log outside of any message.
    Log,
}

/// One message. Places are places in the normalised text.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own that a text may show")]
pub(crate) struct Message {
    pub(crate) opener: Opener,
    /// Where it begins; the first one's span begins with the text.
    pub(crate) at: usize,
    pub(crate) span: Range<usize>,
    pub(crate) extension: Option<String>,
    pub(crate) publisher: Option<String>,
    pub(crate) kind: Option<String>,
    pub(crate) target: Option<i64>,
    pub(crate) handler: Handler,
    pub(crate) says_linux: bool,
    pub(crate) says_windows: bool,
    /// Something that only an AKS node prints.
    pub(crate) says_aks: bool,
    pub(crate) run_command: bool,
    /// An entry of an instance view.
    pub(crate) viewed: bool,
    pub(crate) silence: Option<Found<Silence>>,
    pub(crate) windows_result: Option<Found<i64>>,
    pub(crate) windows_name: Option<Found<i64>>,
    pub(crate) windows_error: Option<Found<i64>>,
    pub(crate) report: Option<Found<i64>>,
    pub(crate) slog: Option<Found<i64>>,
    pub(crate) trace: Option<Found<i64>>,
    pub(crate) summary: Option<Found<i64>>,
    pub(crate) outer: Option<Found<i64>>,
    pub(crate) duration: Option<u32>,
    pub(crate) image: Option<String>,
    /// The step that was running, as far as the trace tells.
    pub(crate) step: Option<Found<String>>,
    pub(crate) stdout: Option<usize>,
    pub(crate) stderr: Option<usize>,
}

/// Why a message has nothing of the script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Silence {
    /// The extension did not report in time.
    TimedOut,
    HandlerFailed,
    /// The machine's agent never reported.
    AgentSilent,
    /// Only the end of a message is there, whose number says nothing.
    CodeLost,
}

impl Message {
    pub(crate) fn new(opener: Opener, at: usize) -> Self {
        Self {
            opener,
            at,
            span: at..at,
            extension: None,
            publisher: None,
            kind: None,
            target: None,
            handler: Handler::Silent,
            says_linux: false,
            says_windows: false,
            says_aks: false,
            run_command: false,
            viewed: false,
            silence: None,
            windows_result: None,
            windows_name: None,
            windows_error: None,
            report: None,
            slog: None,
            trace: None,
            summary: None,
            outer: None,
            duration: None,
            image: None,
            step: None,
            stdout: None,
            stderr: None,
        }
    }

    pub(crate) fn in_streams(&self) -> bool {
        self.stdout.is_some() || self.stderr.is_some()
    }

    /// Whether this is a failed handler's sentence, in whose streams it has printed its log.
    pub(crate) fn shows_handler_log(&self) -> bool {
        let failed = |found: Found<Silence>| found.value == Silence::HandlerFailed;
        self.silence.is_some_and(failed) && self.in_streams()
    }
}
