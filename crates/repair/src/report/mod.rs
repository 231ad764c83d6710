//! What was found and done, for programs and people.

mod detection;
mod outcome;

pub use detection::{DetectionReport, detect};
pub use outcome::RunReport;
