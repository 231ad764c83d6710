//! The data types of a workflow.

use std::fmt::Debug;

use jiff::Timestamp;

use super::document::{Document, Session};
use super::effect::Effect;
use crate::journal::{Entry, Run};
use crate::store::Backup;

/// The data types of a workflow, which its journal, runs and decisions are made of.
pub trait Types: Clone + PartialEq + Debug + Sized + 'static {
    /// The only schema that this version writes and reads.
    const SCHEMA: &'static str;

    type Session: Session;
    /// An ordered enum that drives plan, execution, progress and report.
    type Step: Step;
    type Effect: Effect;
    /// Recorded in addition to effects and steps.
    type Fact: Document;
    /// The part of a run that only this workflow interprets.
    type Facts: Document;
    type Finish: Document + Copy;
    type Leftover: Document;
    type Reason: Reason;
    type Query: Clone + PartialEq + Debug;

    /// Returns the facts of a run that starts with this session.
    fn facts(session: &Self::Session) -> Self::Facts;

    /// Updates the facts from a change; the common part of `run` is up to date.
    fn fold(run: &mut Run<Self>, entry: &Entry<Self>, at: Timestamp);

    /// Returns the time of a deletion that counts against the next run.
    fn deleted(_: &Run<Self>) -> Option<Timestamp> {
        None
    }

    /// Returns the copy that must exist before the change is written.
    fn backup(_: &Entry<Self>) -> Option<&Backup> {
        None
    }
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
