//! The decision of the current step, and the preconditions of its effect.

use jiff::{SignedDuration, Timestamp};
use mooring_workflow::{Context as Cx, Phase, Workflow};

use super::{clear_operation, drain, pools, reads, rollback, verify};
use crate::checks;
use crate::observation::{Answer, ClusterView, Query};
use crate::plan::Step;
use crate::settings::Settings;
use crate::workflow::{Context, Decision, Finish, Halt, PoolRepair, RepairRun as _, Unknown};

impl Workflow for PoolRepair {
    type Terms = Settings;
    type Answer = Answer;
    type View = ClusterView;

    const MAX_ROUNDS: usize = 4;

    fn deadline(settings: &Settings, began: Timestamp) -> Timestamp {
        began.checked_add(settings.limits.overall).unwrap_or(Timestamp::MAX)
    }

    fn step_limit(settings: &Settings, step: Option<Step>) -> Option<SignedDuration> {
        let limits = &settings.limits;
        Some(match step {
            Some(
                Step::ClearOperation | Step::Recheck | Step::VerifyPool | Step::ReconcileCluster,
            ) => limits.settle,
            Some(Step::DrainPool | Step::DrainTemporary) => limits.drain,
            Some(Step::VerifyWorkloads) => limits.placement,
            _ => limits.pool,
        })
    }

    fn poll(settings: &Settings) -> SignedDuration {
        settings.limits.poll
    }

    /// Returns the reads of the step, then those of the preconditions of its effect.
    fn queries(cx: &Cx<'_, Self>) -> Vec<Query> {
        let context = Context::new(cx);
        let mut queries = reads::of_step(&context);
        if context.has_all(&queries)
            && let Ok(Decision::Apply(effect)) = next(&context)
        {
            queries.extend(checks::reads_before(&context, &effect));
        }
        queries
    }

    fn decide(cx: &Cx<'_, Self>) -> Result<Decision, Unknown> {
        let context = Context::new(cx);
        let decision = next(&context)?;
        match &decision {
            Decision::Apply(effect) => match checks::ensure(&context, effect) {
                Ok(()) => Ok(decision),
                Err(halt) => halt.decision(),
            },
            _ => Ok(decision),
        }
    }
}

fn next(context: &Context<'_>) -> Result<Decision, Unknown> {
    step(context).or_else(Halt::decision)
}

fn step(context: &Context<'_>) -> Result<Decision, Halt> {
    let run = context.run;
    if run.phase == Phase::Aborting {
        return rollback::roll_back(context).map(|left| Decision::Finish(Finish::Aborted, left));
    }
    let Some(step) = run.step() else {
        pools::ensure_temporary_deleted(context)?;
        return Ok(Decision::Finish(Finish::Repaired, run.losses()));
    };
    let evidence = match step {
        Step::Snapshot => clear_operation::snapshot(context),
        Step::ClearOperation => clear_operation::clear_operation(context),
        Step::Recheck => clear_operation::recheck(context),
        Step::CreateTemporary => pools::create_temporary(context),
        Step::VerifyTemporary => verify::temporary(context),
        Step::CordonPool => drain::cordon(context, run.pool()),
        Step::DrainPool => drain::drain(context, step, run.pool()),
        Step::VerifyWorkloads => verify::workloads(context, Step::DrainPool, run.pool()),
        Step::DeletePool => pools::delete_pool(context),
        Step::RecreatePool => pools::recreate(context),
        Step::WaitForNodes => checks::enough_nodes(context, run.pool()).map(|text| vec![text]),
        Step::VerifyPool => verify::pool(context),
        Step::CordonTemporary => drain::cordon(context, &run.temporary()),
        Step::DrainTemporary => drain::drain(context, step, &run.temporary()),
        Step::DeleteTemporary => pools::delete_temporary(context),
        Step::ReconcileCluster => clear_operation::reconcile_cluster(context, true),
    };
    evidence.map(Decision::Done)
}
