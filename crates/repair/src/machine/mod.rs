//! The heart: an explicit state machine.
//!
//! [`next`] looks at the replayed [`State`], at what was seen since the last change, and at the time, and
//! says exactly one thing to do. It keeps nothing: whoever has the journal and asks again gets the same
//! answer. Every step is *level-triggered*: it compares what is with what should be, so that after a crash
//! the question is never what was being done, only what is still missing.

mod action;
mod context;
mod drain;
mod pools;
mod proofs;
mod second_look;
mod settle;
mod state;
mod undo;

pub use action::{Action, Reason, StopKind};
pub(crate) use settle::finish_of;
pub use state::{Attempt, Phase, State};

use jiff::Timestamp;

use crate::journal::{Entry, Finish};
use crate::observation::Seen;
use crate::plan::Step;
use context::Context;

/// The one thing to do now.
#[must_use]
pub fn next(state: &State, seen: &Seen, now: Timestamp) -> Action {
    match state.phase {
        Phase::Finished(finish) => return Action::Done(finish),
        Phase::Aborting => return bounded(state, now, undo::next(&Context { state, seen, now })),
        Phase::Running => {}
    }
    let context = Context { state, seen, now };
    let Some(step) = state.step() else {
        let finished = Entry::Finished { finish: Finish::Repaired, left: state.left() };
        return match pools::temporary_gone(&context) {
            Ok(()) => Action::record(finished),
            Err(action) => bounded(state, now, action),
        };
    };
    let outcome = match step {
        Step::Snapshot => settle::snapshot(&context),
        Step::Settle => settle::settle(&context),
        Step::Recheck => settle::recheck(&context),
        Step::CreateTemporary => pools::create_temporary(&context),
        Step::ProveTemporary => proofs::temporary(&context),
        Step::CordonPool => drain::cordon_pool(&context),
        Step::DrainPool => drain::drain_pool(&context),
        Step::ProvePlacement => proofs::placement(&context),
        Step::DeletePool => pools::delete_pool(&context),
        Step::RecreatePool => pools::recreate(&context),
        Step::AwaitNodes => proofs::full_count(&context),
        Step::VerifyCure => proofs::cure(&context),
        Step::CordonTemporary => drain::cordon_temporary(&context),
        Step::DrainTemporary => drain::drain_temporary(&context),
        Step::DeleteTemporary => pools::delete_temporary(&context),
        Step::TouchCluster => settle::touch(&context),
    };
    let action = match outcome {
        Ok(proof) => return Action::record(Entry::StepDone { step, proof }),
        Err(action) => action,
    };
    bounded(state, now, action)
}

/// A limit turns waiting, and beginning something new, into a stop that can be resumed; no pause outlasts it.
fn bounded(state: &State, now: Timestamp, action: Action) -> Action {
    let deadline = state.deadline().unwrap_or(Timestamp::MAX);
    match action {
        Action::Wait { why, .. } if now >= deadline => {
            Action::resumable(Reason::Deadline, format!("the run's time is up, waiting {why}"))
        }
        Action::Effect { effect, .. } if now >= deadline => {
            let message = format!("the run's time is up before it could {}", effect.key());
            Action::resumable(Reason::Deadline, message)
        }
        Action::Wait { why, .. } if state.step_expired(now) => {
            Action::resumable(Reason::StepTimeout, format!("waited too long: {why}"))
        }
        Action::Wait { until, why } => Action::Wait { until: until.min(deadline), why },
        other => other,
    }
}
