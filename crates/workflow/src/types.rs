//! The data types of a workflow.

use std::fmt::Debug;

use crate::document::Document;
use crate::effect::Effect;
use crate::session::Session;

/// The data types of a workflow, which its journal, runs and decisions are made of.
pub trait Types: Clone + PartialEq + Debug + Sized + 'static {
    /// The schema of its journal.
    const SCHEMA: &'static str;

    /// What a process starts with that begins, continues or rolls back a run.
    type Session: Session;
    /// An ordered enum that drives plan, execution, progress and report.
    type Step: Step;
    type Effect: Effect;
    /// What is recorded besides effects and steps.
    type Fact: Document;
    /// Content of the records that only this workflow understands.
    type Facts: Clone + PartialEq + Debug;
    type Finish: Document + Copy;
    /// What remains after a run.
    type Leftover: Document;
    type Reason: Reason;
    type Query: Clone + PartialEq + Debug;
}

/// A step of a workflow.
pub trait Step: Document + Copy + Ord + 'static {
    /// All steps, in order.
    const ALL: &'static [Self];

    /// The name, as in JSON.
    fn name(self) -> &'static str;

    /// The place, from 1.
    fn number(self) -> usize {
        Self::ALL.iter().position(|step| *step == self).map_or(0, |at| at + 1)
    }

    /// The step after this one.
    fn following(self) -> Option<Self> {
        Self::ALL.get(self.number()).copied()
    }
}

/// Why a run stopped. The engine has reasons of its own.
pub trait Reason: Document + Copy {
    /// The session's time is up.
    const DEADLINE: Self;
    const INTERRUPTED: Self;
    /// The step's time is up.
    const STEP_TIMEOUT: Self;
    /// No approval covers the next effect.
    const NOT_APPROVED: Self;

    /// Returns true if a rollback that stops for this reason is over, and the run can only continue.
    fn ends_rollback(self) -> bool {
        false
    }
}
