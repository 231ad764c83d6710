//! The data types of a workflow.

use std::fmt::Debug;

use super::document::{Document, Session};
use super::effect::Effect;

/// The data types of a workflow, which its journal, runs and decisions are made of.
pub trait Types: Clone + PartialEq + Debug + Sized + 'static {
    /// The schema of its journal.
    const SCHEMA: &'static str;

    type Session: Session;
    /// An ordered enum that drives plan, execution, progress and report.
    type Step: Step;
    type Effect: Effect;
    /// Recorded in addition to effects and steps.
    type Fact: Document;
    /// The part of a run that only this workflow interprets.
    type Facts: Clone + PartialEq + Debug;
    type Finish: Document + Copy;
    type Leftover: Document;
    type Reason: Reason;
    type Query: Clone + PartialEq + Debug;
}

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
