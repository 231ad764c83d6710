//! Result of a step.

pub(super) enum StepResult {
    /// With the next step; what this one found.
    Next(&'static str),
    /// With nothing: the rest is not needed, and why.
    Done(&'static str),
}
