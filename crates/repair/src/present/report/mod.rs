//! Reports of `detect` and of runs.

mod detection;
mod run;

pub(crate) use detection::other_pools;
pub use detection::{DetectionReport, RunningOperation, SkippedPool, detect, read};
pub use run::RunReport;
