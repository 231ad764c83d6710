//! One node as the commands see it: its paths and inputs, its secrets, and the files that pass results between processes.

pub(crate) mod agent;
pub mod compare;
pub(crate) mod host_info;
pub(crate) mod log;
pub mod nbc;
pub(crate) mod paths;
pub(crate) mod pid_file;
pub(crate) mod program;
pub(crate) mod report;
pub(crate) mod report_redaction;
pub mod secrets;
