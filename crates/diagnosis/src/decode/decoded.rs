//! What a text says about a bootstrap.

use std::ops::Range;

use mooring_codes::Os;
use mooring_contract::CseStatus;

use crate::cause::wording::Wording;
use crate::read::message::{Handler, Opener};

/// Source of a code, the most reliable first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FoundBy {
    /// Windows: `ExitCode: |N|`.
    WindowsResult,
    /// Windows: `WINDOWS_CSE_ERROR_…`.
    WindowsName,
    /// Windows: `CSE Error: … Exit Code: N`.
    WindowsError,
    /// The report's `"ExitCode"`.
    Json,
    /// `exitCode=N` in a log line of the agent.
    Slog,
    /// The last `+ exit N` of the script trace, or the result of a check in it.
    Trace,
    /// AKS's `vmssCSE exit status=N`.
    VmssStatus,
    /// The handler's `exit status=N`, which is 1 for many failures.
    OuterStatus,
    /// An AKS error name.
    AksName,
    /// An AKS message that implies the code.
    Sentence,
    /// Provided by the caller.
    Given,
}

impl FoundBy {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::WindowsResult => "windows-result",
            Self::WindowsName => "windows-name",
            Self::WindowsError => "windows-error",
            Self::Json => "json",
            Self::Slog => "slog",
            Self::Trace => "trace",
            Self::VmssStatus => "vmss-status",
            Self::OuterStatus => "outer-status",
            Self::AksName => "aks-name",
            Self::Sentence => "sentence",
            Self::Given => "given",
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BootstrapOutcome {
    /// Failed with a known code.
    Failed,
    Succeeded,
    /// Failed without a code in the text.
    #[default]
    NoCode,
    /// Another extension, a Run Command, or another script.
    NotABootstrap,
}

/// Kind of failure without a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Situation {
    /// The extension did not report in time.
    TimedOut,
    /// The extension handler failed before it reported on the script.
    HandlerFailed,
    /// The handler ran but never started the script.
    NeverStarted,
    /// The VM agent never reported.
    AgentSilent,
    /// Windows: the VM restarted.
    Interrupted,
    /// The message is known, but its code is missing.
    CodeLost,
    /// The text has only an ARM error code.
    ArmCodeOnly,
}

/// One bootstrap, or a message about something else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decoded {
    pub os: Option<Os>,
    pub code: Option<i32>,
    pub found_by: Option<FoundBy>,
    pub outcome: BootstrapOutcome,
    /// None if a wording or another extension explains the failure.
    pub situation: Option<Situation>,
    /// Error code of ARM or AKS, if nothing better is known.
    pub arm_code: Option<String>,
    /// The node's report, possibly incomplete. After decoding several layers of escapes, quotes are ambiguous, so
    /// `Output` may end early.
    pub status: Option<CseStatus>,
    pub extension: Option<String>,
    /// Instance ID in the scale set.
    pub instance: Option<i64>,
    pub image_version: Option<String>,
    /// Run time of the scripts, in seconds.
    pub exec_duration: Option<u32>,
    /// Last step that started, if the trace shows it.
    pub step: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct DecodedMessage {
    pub(crate) decoded: Decoded,
    pub(crate) span: Range<usize>,
    /// Position of the code or of the message that replaces it.
    pub(crate) at: Option<usize>,
    /// Set if the code only means that something failed.
    pub(crate) weak: bool,
    pub(crate) opener: Opener,
    pub(crate) handler: Handler,
    pub(crate) stdout: Option<usize>,
    pub(crate) stderr: Option<usize>,
    pub(crate) step_at: Option<usize>,
    /// Position of a non-empty `Error` in the report.
    pub(crate) error_at: Option<usize>,
    /// Position of the last line of a non-empty `Output` in the report.
    pub(crate) output_end_at: Option<usize>,
    pub(crate) item: ListPosition,
    /// The matching wording of a text without a message.
    pub(crate) worded: Option<&'static Wording>,
}

/// Position of a message among similar ones. Items of one list describe different VMs, even if they are equal; the same
/// text elsewhere is a repetition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ListPosition {
    /// Not in a list, or its first item.
    #[default]
    Alone,
    /// A later object of a JSON list, `}, {"code": …, "message": …`.
    Listed,
    /// An extension of an instance view.
    Viewed,
}
