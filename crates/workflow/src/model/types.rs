//! Steps of a workflow, and reasons of its stops.

use super::document::Document;

pub trait Step: Document + Copy + Ord + 'static {
    /// All steps, in order.
    const ALL: &'static [Self];

    /// Returns the name, as in JSON.
    fn name(self) -> &'static str;

    /// Returns the position, from 1.
    fn number(self) -> usize {
        Self::ALL.iter().position(|step| *step == self).map_or(0, |at| at + 1)
    }

    fn following(self) -> Option<Self> {
        Self::ALL.get(self.number()).copied()
    }
}

/// The reason for a stop. The engine itself requires these constants.
pub trait Reason: Document + Copy {
    /// The deadline of the session.
    const DEADLINE: Self;
    const INTERRUPTED: Self;
    const STEP_TIMEOUT: Self;
    /// No approval covers the next effect.
    const NOT_APPROVED: Self;

    /// Returns true if a rollback that stops for this reason has ended, and the run can only continue.
    fn ends_rollback(self) -> bool;
}
