//! One node as the commands see it: its paths and inputs, its secrets, and the files that pass results between processes.

pub(crate) mod agent;
pub mod inputs;
pub mod nbc;
pub(crate) mod paths;
pub(crate) mod program;
pub(crate) mod report;
pub(crate) mod trust;
