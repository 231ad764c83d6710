//! Times in a report.

use std::collections::BTreeMap;

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
pub(super) use each_timing;
