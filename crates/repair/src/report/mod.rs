//! What was found and done, for programs and people.

mod detection;
mod outcome;
mod step;

pub use detection::{DetectionReport, detect};
pub use outcome::RunReport;
pub use step::StepReport;
