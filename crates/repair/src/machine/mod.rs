//! Decides what a repair does next.
//!
//! A decision depends on the replayed run, on what was read since the last change, and on the time; nothing else is
//! kept. Every step is *level-triggered*: it compares what is with what should be, so that after a crash it does not
//! matter what was being done, only what is still missing.

mod action;
mod context;
mod drain;
mod pools;
mod proofs;
pub(crate) mod settle;
mod undo;

use mooring_workflow::Phase;

pub(crate) use action::Action;
pub(crate) use context::Context;

use crate::observation::Query;
use crate::plan::Step;
use crate::workflow::{Decision, Finish, PoolRepair, RepairRun as _};

type Cx<'a> = mooring_workflow::Context<'a, PoolRepair>;

/// What must be read before a decision; empty if everything was.
pub(crate) fn queries(cx: &Cx<'_>) -> Vec<Query> {
    match next(cx) {
        Err(Action::Observe(query)) => vec![query],
        _ => Vec::new(),
    }
}

/// The one thing to do now.
pub(crate) fn decide(cx: &Cx<'_>) -> Decision {
    next(cx).unwrap_or_else(|action| action.decision(cx.run, cx.now))
}

fn next(cx: &Cx<'_>) -> Result<Decision, Action> {
    let context = Context { state: cx.run, settings: cx.terms, seen: cx.view, now: cx.now };
    if cx.run.phase == Phase::Aborting {
        return undo::next(&context).map(|left| Decision::Finish(Finish::Aborted, left));
    }
    let Some(step) = cx.run.step() else {
        pools::temporary_gone(&context)?;
        return Ok(Decision::Finish(Finish::Repaired, cx.run.losses()));
    };
    let proof = match step {
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
    proof.map(Decision::Done)
}
