//! Reports of `detect` and of runs.

mod detection;
mod run;

pub use detection::{DetectionReport, detect, queries};
pub use run::RunReport;
