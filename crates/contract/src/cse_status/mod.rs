//! Bootstrap report of a node: the JSON in `provision.json`, which the Custom Script
//! Extension returns to Azure in its `[stdout]`.
//!
//! The reader is lenient, since three generations of scripts have written it; the writer is exact, since
//! other tools read it.

mod read;
mod truncate;
mod write;

use std::collections::BTreeMap;
use std::fmt;

pub use read::ReadError;
pub use truncate::EXTENSION_WINDOW;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CseStatus {
    /// A decimal number, as text. See [`Self::code`].
    pub exit_code: String,
    /// The error; Mooring's reports start it with the code's name.
    pub error: String,
    /// The end of the bootstrap's output.
    pub output: String,
    /// The cause; only Mooring's reports contain it.
    pub diagnosis: String,
    /// Agent and scripts in use, if a hotfix is active: `binary=… scripts=…`.
    pub hotfix: String,
    /// Empty in reports that the agent writes.
    pub timings: Timings,
}

/// Start times, as the bootstrap scripts write them. Every member is optional.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Timings {
    /// Duration of the scripts in seconds.
    pub exec_duration: Option<String>,
    pub kernel_start_time: Option<String>,
    pub cloud_init_local_start_time: Option<String>,
    pub cloud_init_start_time: Option<String>,
    pub cloud_final_start_time: Option<String>,
    pub networkd_start_time: Option<String>,
    pub cse_start_time: Option<String>,
    pub guest_agent_start_time: Option<String>,
    /// Output of `systemd-analyze` on one line.
    pub systemd_summary: Option<String>,
    /// The main times again, and `KubeletStartTime`.
    pub boot_datapoints: BTreeMap<String, String>,
}

/// The reason why a report has no usable exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoCode {
    Missing,
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
    pub fn code(&self) -> Result<i64, NoCode> {
        match self.exit_code.as_str() {
            "" => Err(NoCode::Missing),
            text => text.parse().map_err(|_| NoCode::NotANumber),
        }
    }
}

/// The text members of [`Timings`], by the names and in the order of the scripts.
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
