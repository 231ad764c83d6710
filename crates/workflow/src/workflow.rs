//! A workflow: its data types, and pure functions over them.

use jiff::{SignedDuration, Timestamp};

use crate::decision::{Decision, Unknown};
use crate::journal::{Replay, Run};

/// Pure functions that decide what a run does. The engine does everything else.
pub trait Workflow: Replay {
    /// What this process may do and how: never read from a journal that another process wrote.
    type Terms;
    /// The result of a read.
    type Answer;
    /// The results of the reads since the last change.
    type View: View<Self::Query, Self::Answer>;

    /// Rounds of reads for one decision, after which the workflow is at fault.
    const MAX_ROUNDS: usize;

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
