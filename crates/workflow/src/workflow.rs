//! What a workflow consists of.

use std::fmt::Debug;

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::decision::{Decision, Unknown};
use crate::effect::Effect;
use crate::journal::{Entry, Run, Session};

/// Data of a journal or plan.
pub trait Document: Clone + PartialEq + Debug + Serialize + DeserializeOwned {}
impl<T: Clone + PartialEq + Debug + Serialize + DeserializeOwned> Document for T {}

/// A workflow: data types, and pure functions over them. The engine does everything else.
pub trait Workflow: Clone + PartialEq + Debug + Sized + 'static {
    /// The schema of its journal.
    const SCHEMA: &'static str;

    /// What this process may do and how: never read from a journal that another process wrote.
    type Terms;
    /// What a process starts with that begins, continues or rolls back a run.
    type Session: Session;
    /// An ordered enum that drives plan, execution, progress and report.
    type Step: Step;
    type Effect: Effect;
    /// What is recorded besides effects and steps.
    type Fact: Document;
    /// What the records say that only this workflow understands.
    type Facts: Clone + PartialEq + Debug;
    /// How a run ended.
    type Finish: Document + Copy;
    /// What remains after a run.
    type Leftover: Document;
    /// Why a run stopped.
    type Reason: Reason;
    type Query: Clone + PartialEq + Debug;
    /// The result of a read.
    type Answer;
    /// The results of the reads since the last change.
    type View: View<Self::Query, Self::Answer>;

    /// Rounds of reads for one decision, after which the workflow is at fault.
    const MAX_ROUNDS: usize;

    /// Returns the facts of a run that begins with this session.
    fn facts(session: &Self::Session) -> Self::Facts;

    /// Takes the workflow's own part of a record in; `run` already has the common part.
    fn fold(run: &mut Run<Self>, entry: &Entry<Self>, at: Timestamp);

    /// Returns when a session must stop that began at `began`.
    fn deadline(terms: &Self::Terms, began: Timestamp) -> Timestamp;

    /// Returns how long a step may wait; none if it ends its waits itself.
    fn step_limit(terms: &Self::Terms, step: Option<Self::Step>) -> Option<SignedDuration>;

    /// Returns how long to wait for what could not be read.
    fn poll(terms: &Self::Terms) -> SignedDuration;

    /// Returns what the decision depends on, as far as the view shows it: the view is complete when it has all of it.
    fn queries(cx: &Context<'_, Self>) -> Vec<Self::Query>;

    /// Decides what to do next, by a view that is complete. An error is only what could not be read.
    fn decide(cx: &Context<'_, Self>) -> Result<Decision<Self>, Unknown<Self>>;
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

/// The results of the reads since the last change.
pub trait View<Q, A>: Default {
    /// Returns true if the query was made, whatever its result.
    fn has(&self, query: &Q) -> bool;

    /// Takes a result in.
    fn take(&mut self, answer: A);

    /// Drops what an effect or a fact makes outdated. Returns false if nothing is left.
    fn keep(&mut self) -> bool {
        *self = Self::default();
        false
    }
}

/// Everything that a decision depends on.
pub struct Context<'a, W: Workflow> {
    /// What this process may do.
    pub terms: &'a W::Terms,
    /// What the journal says.
    pub run: &'a Run<W>,
    pub view: &'a W::View,
    /// The last record before the first read of the view: effects after it are not in the view.
    pub view_seq: u64,
    pub now: Timestamp,
}
