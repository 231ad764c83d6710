//! Reports of `detect` and of runs.

mod detection;
mod run;
mod status;

pub(crate) use detection::other_pools;
pub use detection::{DetectionReport, RunningOperation, SkippedPool, detect, queries};
pub use run::RunReport;
