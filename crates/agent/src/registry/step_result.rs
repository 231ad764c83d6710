//! How things go on after a step.

pub(super) enum Flow {
    /// With the next step; what this one found.
    Next(&'static str),
    /// With nothing: the rest is not needed, and why.
    Done(&'static str),
}
