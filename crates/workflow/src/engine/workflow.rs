//! A workflow: its data types, and pure functions over them.

use jiff::{SignedDuration, Timestamp};

use crate::engine::decision::{Decision, Unknown};
use crate::journal::Run;
use crate::journal::Types;

/// Pure functions that decide the next action of a run. The engine does everything else.
pub trait Workflow: Types {
    /// Permissions and parameters of this process: never read from a journal that another process wrote.
    type Terms;
    /// The result of a query.
    type Answer;
    /// The results of the reads since the last change.
    type View: View<Self::Query, Self::Answer>;

    /// Maximum rounds of reads for one decision; more are a defect of the workflow.
    const MAX_ROUNDS: usize;

    /// Returns the deadline of a session that began at `began`.
    fn deadline(terms: &Self::Terms, began: Timestamp) -> Timestamp;

    /// Returns the maximum wait of a step; none if the step limits its waits itself.
    fn step_limit(terms: &Self::Terms, step: Option<Self::Step>) -> Option<SignedDuration>;

    /// Returns the pause after a failed read.
    fn poll(terms: &Self::Terms) -> SignedDuration;

    /// Returns the queries that the decision requires, as far as the view shows. The view is complete when it has them all.
    fn queries(cx: &Context<'_, Self>) -> Vec<Self::Query>;

    /// Decides the next action from a complete view. Only a failed read is an error.
    fn decide(cx: &Context<'_, Self>) -> Result<Decision<Self>, Unknown<Self>>;
}

/// The results of the reads since the last change.
pub trait View<Q, A>: Default {
    /// Returns true if the query has a result, successful or not.
    fn has(&self, query: &Q) -> bool;

    fn take(&mut self, answer: A);

    /// Drops results that an effect or a fact makes outdated. Returns false if none remain.
    fn keep(&mut self) -> bool {
        *self = Self::default();
        false
    }
}

/// The input of a decision.
pub struct Context<'a, W: Workflow> {
    pub terms: &'a W::Terms,
    pub run: &'a Run<W>,
    pub view: &'a W::View,
    /// The last change before the oldest result of the view: the view may not show later effects.
    pub view_seq: u64,
    pub now: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::View;

    #[derive(Debug, Default, PartialEq)]
    struct Names(Vec<u8>);

    impl View<u8, u8> for Names {
        fn has(&self, query: &u8) -> bool {
            self.0.contains(query)
        }

        fn take(&mut self, answer: u8) {
            self.0.push(answer);
        }
    }

    #[test]
    fn results_are_dropped_after_a_change_by_default() {
        let mut view = Names(vec![1, 2]);
        assert!(!view.keep());
        assert_eq!(view, Names::default());
    }
}
