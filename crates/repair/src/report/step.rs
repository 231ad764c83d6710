//! A step that came to its end, as a report tells it.

use jiff::Timestamp;
use mooring_contract::printable;
use serde::Serialize;

/// One step that came to its end.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StepReport<S> {
    /// Which.
    pub step: S,
    /// When.
    pub at: Timestamp,
    /// How that was seen.
    pub proof: Vec<String>,
}

impl<S> StepReport<S> {
    /// A line for a terminal: how long after the run's beginning, the step's name, and how its end was seen.
    pub(crate) fn line(&self, started: Timestamp, name: &str) -> String {
        let age = self.at.duration_since(started).as_secs();
        format!(
            "{:>4}:{:02}  {name:<18} {}\n",
            age / 60,
            age % 60,
            printable(&self.proof.join("; "))
        )
    }
}
