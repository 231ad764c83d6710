//! Terms, state, what was seen and the time in; exactly one thing to do out.
//!
//! Every step is *level-triggered*: it compares what is with what should be, so that after a crash the question is never
//! what was being done, only what is still missing. One thing differs from a pool's repair: an effect does not end a
//! look, since a look is a list of perhaps a thousand objects. What was acted upon since the look counts as handled
//! until the next one.

mod context;
mod leftovers;
mod objects;
mod others;

use jiff::Timestamp;

use super::effect::Effect;
use super::entry::{Entry, Reason};
use super::seen::{Query, Seen};
use super::state::State;
use super::step::Step;
use super::terms::Terms;
use context::Context;
pub(crate) use context::{NOT_SERVED, unreadable};

/// Exactly one thing to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Look at something.
    Observe(Query),
    /// Forget what was seen, and look again.
    LookAgain,
    /// Change something: write the intent, do it, write the result.
    Effect {
        /// For which step.
        step: Step,
        /// What.
        effect: Box<Effect>,
    },
    /// Nothing before this instant.
    Wait {
        /// When to look again.
        until: Timestamp,
        /// For what, in words.
        why: String,
    },
    /// Write something down.
    Record(Box<Entry>),
    /// The run is over.
    Done,
    /// The run stops before its end, and can be resumed.
    Stop {
        /// A fixed word.
        reason: Reason,
        /// A sentence.
        message: String,
    },
}

/// The one thing to do now.
#[must_use]
pub fn next(terms: &Terms, state: &State, seen: &Seen, now: Timestamp) -> Action {
    if state.finished.is_some() {
        return Action::Done;
    }
    let context = Context { terms, state, seen, now };
    let Some(step) = state.step() else {
        return match leftovers::leftovers(&context) {
            Ok(left) => Action::Record(Box::new(Entry::Finished { left })),
            Err(action) => bounded(terms.deadline(state), now, action),
        };
    };
    let outcome = match step {
        Step::DeleteObjects => objects::delete(&context),
        Step::AwaitTeardown => objects::await_teardown(&context),
        Step::ScaleDown => others::scale_down(&context),
        Step::StripFinalizers => objects::strip(&context),
        Step::DeleteDefinitions => objects::delete_definitions(&context),
        Step::DeleteBindings => others::bindings(&context),
        Step::DeleteRelease => others::release(&context),
        Step::DeleteNamespace => others::namespace(&context),
        Step::Verify => Ok(vec!["everything was looked at again".to_owned()]),
    };
    match outcome {
        Ok(proof) => Action::Record(Box::new(Entry::StepDone { step, proof })),
        Err(action) => bounded(terms.deadline(state), now, action),
    }
}

/// The deadline turns waiting, and beginning something new, into a stop that can be resumed.
fn bounded(deadline: Timestamp, now: Timestamp, action: Action) -> Action {
    let begins = matches!(action, Action::Wait { .. } | Action::Effect { .. });
    if begins && now >= deadline {
        let message = "the run's time is up".to_owned();
        return Action::Stop { reason: Reason::Deadline, message };
    }
    match action {
        // Never beyond the deadline.
        Action::Wait { until, why } => Action::Wait { until: until.min(deadline), why },
        other => other,
    }
}
