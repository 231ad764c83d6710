//! What a workflow consists of.

use std::fmt::Debug;

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use serde::de::DeserializeOwned;

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
    type View: View<Self::Answer>;

    /// Returns the facts of a run that begins with this session.
    fn facts(session: &Self::Session) -> Self::Facts;

    /// Takes the workflow's own part of a record in; `run` already has the common part.
    fn fold(run: &mut Run<Self>, entry: &Entry<Self>, at: Timestamp);

    /// Returns when a session must stop that began at `began`.
    fn deadline(terms: &Self::Terms, began: Timestamp) -> Timestamp;

    /// Returns how long a step may wait; none if it ends its waits itself.
    fn step_limit(terms: &Self::Terms, step: Option<Self::Step>) -> Option<SignedDuration>;

    /// Returns what to read next; empty when the view is complete.
    fn queries(cx: &Context<'_, Self>) -> Vec<Self::Query>;

    /// Decides what to do next, by a view that is complete.
    fn decide(cx: &Context<'_, Self>) -> Decision<Self>;
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
pub trait View<A>: Default {
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

/// What to do next.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision<W: Workflow> {
    /// The step reached its goal; the texts are evidence for the journal.
    Done(Vec<String>),
    Record(Box<W::Fact>),
    /// Make a change: write the intent, make it, write the result.
    Apply(Box<W::Effect>),
    /// Do nothing before this time.
    Wait {
        /// When to read again.
        until: Timestamp,
        /// What is waited for.
        why: String,
    },
    /// Forget the view and read again.
    Refresh,
    Finish(W::Finish, Vec<W::Leftover>),
    /// The run stops before its end.
    Stop(Stop<W>),
}

/// A stop before the end.
#[derive(Debug, Clone, PartialEq)]
pub struct Stop<W: Workflow> {
    /// Whether the run can be continued.
    pub kind: StopKind<W>,
    /// The reason, for programs.
    pub reason: W::Reason,
    /// The reason, for people.
    pub message: String,
}

/// Whether a stopped run can be continued.
#[derive(Debug, Clone, PartialEq)]
pub enum StopKind<W: Workflow> {
    /// `resume` continues it.
    Resumable,
    /// It is over, and nothing was changed that must be continued.
    Finished(W::Finish, Vec<W::Leftover>),
}

impl<W: Workflow> Decision<W> {
    /// A stop that can be resumed.
    pub fn resumable(reason: W::Reason, message: impl Into<String>) -> Self {
        Self::Stop(Stop { kind: StopKind::Resumable, reason, message: message.into() })
    }
}
