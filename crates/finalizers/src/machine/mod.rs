//! Terms, run, what was read and the time in; exactly one decision out.
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
use mooring_workflow::Stop;
use mooring_workflow::StopKind;

use crate::effect::Effect;
use crate::seen::Query;
use crate::step::Step;
use crate::workflow::{Decision, Fact, FinalizerRemoval, Finish, Reason};
pub(crate) use context::Context;
pub(crate) use context::{NOT_SERVED, unreadable};

type Cx<'a> = mooring_workflow::Context<'a, FinalizerRemoval>;

/// What a step asks for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Action {
    Observe(Query),
    /// Forget what was read, and read again.
    LookAgain,
    Effect(Box<Effect>),
    /// Nothing before this instant.
    Wait {
        until: Timestamp,
        why: String,
    },
    /// Write a fact down.
    Record(Fact),
    /// Stop; the run can be resumed.
    Stop {
        reason: Reason,
        message: String,
    },
}

/// What must be read before a decision; empty if everything was.
pub(crate) fn queries(cx: &Cx<'_>) -> Vec<Query> {
    match next(cx) {
        Err(Action::Observe(query)) => vec![query],
        _ => Vec::new(),
    }
}

/// The one thing to do now.
pub(crate) fn decide(cx: &Cx<'_>) -> Decision {
    next(cx).unwrap_or_else(|action| match action {
        Action::Observe(_) | Action::LookAgain => Decision::Refresh,
        Action::Effect(effect) => Decision::Apply(effect),
        Action::Wait { until, why } => Decision::Wait { until, why },
        Action::Record(fact) => Decision::Record(Box::new(fact)),
        Action::Stop { reason, message } => {
            Decision::Stop(Stop { kind: StopKind::Resumable, reason, message })
        }
    })
}

fn next(cx: &Cx<'_>) -> Result<Decision, Action> {
    let &Cx { terms, run, view, view_seq, now } = cx;
    let context = Context { terms, state: run, seen: view, view_seq, now };
    let Some(step) = run.step() else {
        let left = leftovers::leftovers(&context)?;
        let finish = if left.is_empty() { Finish::Clean } else { Finish::Leftovers };
        return Ok(Decision::Finish(finish, left));
    };
    let proof = match step {
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
    proof.map(Decision::Done)
}
