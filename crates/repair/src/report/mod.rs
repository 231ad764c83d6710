//! What was found and done, for programs and people.

mod detection;
mod outcome;

pub use detection::{DetectionReport, detect, queries};
pub use outcome::RunReport;
