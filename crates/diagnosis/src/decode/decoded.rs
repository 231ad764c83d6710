//! What a text says about one node's bootstrap.

use mooring_codes::Os;
use mooring_contract::CseStatus;

/// How a code was found; the order is the order of trust.
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
    /// The last `+ exit N` of the script's trace, or the result of its own check.
    Trace,
    /// AKS's `vmssCSE exit status=N`.
    VmssStatus,
    /// The handler's `exit status=N`, which is 1 for many failures.
    OuterStatus,
    /// A name that AKS gives to the code.
    AksName,
    /// A sentence of AKS that implies the code.
    Sentence,
    /// Whoever asks has given it.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It failed, and the code is known.
    Failed,
    Succeeded,
    /// It failed, and no code can be known from this text.
    NoCode,
    /// The text is about something else: another extension, a Run Command, somebody's script.
    NotABootstrap,
}

/// What stands in the place of a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Situation {
    /// The extension did not report in time.
    TimedOut,
    /// The extension's handler failed before it had a word about the script.
    HandlerFailed,
    /// The handler ran but never started the script.
    NeverStarted,
    /// The machine's agent never reported.
    AgentSilent,
    /// Windows: the machine restarted meanwhile.
    Interrupted,
    /// The text is known, but the code is not in it.
    CodeLost,
    /// Only an error code of Azure Resource Manager is there.
    ArmCodeOnly,
}

/// One bootstrap, or one message that is about none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// The operating system, if anything shows it.
    pub os: Option<Os>,
    /// The exit code as reported.
    pub code: Option<i32>,
    pub found_by: Option<FoundBy>,
    pub outcome: Outcome,
    /// The kind of failure where a bootstrap has no code. None where its wording or another extension explains it.
    pub situation: Option<Situation>,
    /// The error code of Azure Resource Manager or AKS, where nothing better is known.
    pub arm_code: Option<String>,
    /// The node's report, as far as it is there. A text that was unpacked from several layers of
    /// escaping no longer tells its own quotes from others, so `Output` may end early.
    pub status: Option<CseStatus>,
    pub extension: Option<String>,
    pub publisher: Option<String>,
    /// The extension's type, with or without its publisher.
    pub extension_type: Option<String>,
    /// The instance of the scale set.
    pub instance: Option<i64>,
    /// The node image, if the text names it.
    pub image_version: Option<String>,
    /// How long the scripts ran, in seconds.
    pub exec_duration: Option<u32>,
    /// The step of the scripts that was running last, if the trace shows it.
    pub step: Option<String>,
}
