//! Reports of `detect` and of runs.

mod detection;
mod run;
mod status;

pub use detection::{DetectionReport, RunningOperation, SkippedPool, detect, queries};
pub use run::RunReport;
