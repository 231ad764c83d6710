//! What a node reports of its bootstrap: the JSON in `provision.json`, which the Custom Script
//! Extension carries to Azure in its `[stdout]`.
//!
//! Read tolerantly, since three generations of scripts have written it; written exactly, since
//! other people's programs read it.

mod fit;
mod read;
mod write;

use std::collections::BTreeMap;
use std::fmt;

pub use fit::EXTENSION_WINDOW;
pub use read::ReadError;

/// A node's report.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CseStatus {
    /// A decimal number; kept as text because that is how it is written. See [`Self::code`].
    pub exit_code: String,
    /// What went wrong; our own reports begin it with the code's name.
    pub error: String,
    /// The end of what the bootstrap printed.
    pub output: String,
    /// The cause in a sentence; empty in reports that are not ours.
    pub diagnosis: String,
    /// The agent and scripts in use, where a hotfix is in effect: `binary=… scripts=…`.
    pub hotfix: String,
    /// When things happened; empty in reports that the agent writes.
    pub timings: Timings,
}

/// What the bootstrap scripts add to a report. Every member is optional.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Timings {
    /// Seconds that the scripts took.
    pub exec_duration: Option<String>,
    /// When the kernel started.
    pub kernel_start_time: Option<String>,
    /// When cloud-init's first stage started.
    pub cloud_init_local_start_time: Option<String>,
    /// When cloud-init's network stage started.
    pub cloud_init_start_time: Option<String>,
    /// When cloud-init's final stage started.
    pub cloud_final_start_time: Option<String>,
    /// When networkd started.
    pub networkd_start_time: Option<String>,
    /// When the scripts started.
    pub cse_start_time: Option<String>,
    /// When the guest agent started.
    pub guest_agent_start_time: Option<String>,
    /// `systemd-analyze` in one line.
    pub systemd_summary: Option<String>,
    /// The main instants once more, `KubeletStartTime` among them.
    pub boot_datapoints: BTreeMap<String, String>,
}

/// Why a report has no usable exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoCode {
    /// It has none.
    Missing,
    /// What stands there is not a whole number.
    NotANumber,
}

impl fmt::Display for NoCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "the report has no exit code",
            Self::NotANumber => "the report's exit code is not a whole number",
        })
    }
}

impl std::error::Error for NoCode {}

impl CseStatus {
    /// The exit code as a number.
    pub fn code(&self) -> Result<i64, NoCode> {
        match self.exit_code.as_str() {
            "" => Err(NoCode::Missing),
            text => text.parse().map_err(|_| NoCode::NotANumber),
        }
    }
}

/// The members of [`Timings`] that are plain texts, under the names that the scripts write, in
/// their order.
macro_rules! each_timing {
    ($visit:ident) => {
        $visit! {
            "ExecDuration" exec_duration,
            "KernelStartTime" kernel_start_time,
            "CloudInitLocalStartTime" cloud_init_local_start_time,
            "CloudInitStartTime" cloud_init_start_time,
            "CloudFinalStartTime" cloud_final_start_time,
            "NetworkdStartTime" networkd_start_time,
            "CSEStartTime" cse_start_time,
            "GuestAgentStartTime" guest_agent_start_time,
            "SystemdSummary" systemd_summary,
        }
    };
}
use each_timing;
