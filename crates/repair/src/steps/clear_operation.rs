//! Snapshot, the stuck operation, the guards once more, and the cluster's rest at the end.

use crate::workflow::RepairRun as _;

use super::context::{Context, Halt, Progress};
use crate::checks::{self, LOG_DELAY, OTHER_OPERATION};
use crate::effects::Effect;
use crate::names::RUN_TAG;
use crate::observation::Query;
use crate::operation::{self, Running, Scope};
use crate::plan::pool_hash;
use crate::temporary_pool::TemporaryPool;
use crate::workflow::{Finish, Reason};
use mooring_workflow::EffectResult;
use mooring_workflow::Reading;
use mooring_workflow::plural::counted;

/// The live pool is still the one of the plan, which holds it, and the temporary pool's name is free.
pub(super) fn snapshot(context: &Context<'_>) -> Progress {
    let name = context.run.pool();
    let Some(pool) = context.pool(name)? else {
        let message = format!("there is no pool {name}");
        return Err(context.refused(Reason::PoolGone, message));
    };
    if pool_hash(&pool.raw) != context.plan().pool_hash || context.on_another_set()? {
        let message = format!("pool {name} is no longer as it was planned; make a new plan");
        return Err(context.refused(Reason::PoolChanged, message));
    }
    if let Some(taken) = context.pool(&context.run.temporary())?
        && !context.belongs_to_run(taken)
        && !context.is_adopted(taken)
    {
        let message = match TemporaryPool::of(context.pools()?, name) {
            Some(left) => left.remediation(),
            None => format!(
                "there is a pool {} that is not of this run; find out whose it is before it is deleted",
                taken.name
            ),
        };
        return Err(context.refused(Reason::NameTaken, message));
    }
    Ok(vec!["the plan in the journal holds the pool as it is".to_owned()])
}

/// The cluster does not end an operation at this moment.
pub(super) fn ensure_not_canceling(context: &Context<'_>) -> Result<(), Halt> {
    if context.cluster()?.state == "Canceling" {
        return Err(context.wait("for the cluster to end Canceling".to_owned()));
    }
    Ok(())
}

pub(super) fn settling(context: &Context<'_>) -> Vec<Query> {
    let mut reads = vec![Query::Cluster, Query::Pools];
    let known = ensure_not_canceling(context).is_ok() && context.pools().is_ok();
    if known && operation::running(context.view) != Running::Nothing {
        reads.extend([Query::LatestOperation, Query::Events]);
    }
    reads
}

/// Waits for what is under way, or aborts it: only the one that was identified, only if it is old enough.
pub(super) fn clear_operation(context: &Context<'_>) -> Progress {
    ensure_not_canceling(context)?;
    context.pools()?;
    context.ensure_read(settling(context))?;
    let (id, started, scope) = match operation::running(context.view) {
        Running::Nothing => return Ok(vec!["no operation is running".to_owned()]),
        Running::One { id, started, scope } => (id, started, scope),
        Running::Unidentified(why) => {
            // The log lags behind: what is under way may be told a little later.
            return Err(if context.run.aborts().next().is_some() || !is_final(context) {
                context.wait(format!("to tell which operation runs: {why}"))
            } else {
                context.refused(Reason::UnidentifiedOperation, why)
            });
        }
    };
    let age = context.now.duration_since(started);
    if aborted(context, &scope) {
        return Err(context.wait("for the aborted operation to end".to_owned()));
    }
    if age < context.settings.limits.operation_age {
        let message = format!(
            "operation {id} has run for {} only; it is left alone",
            counted(age.as_mins(), "minute")
        );
        return Err(context.finish(Finish::NothingToDo, Reason::YoungOperation, message));
    }
    let from_log = !matches!(
        &context.view.latest_operation,
        Some(Reading::Known(Some(operation))) if operation.running()
    );
    let looked = context.now.duration_since(context.run.step_since());
    if from_log && looked < LOG_DELAY {
        // The log is late: the operation that it shows may have ended, and a younger one may run.
        return Err(context.wait("to see whether the log tells of a younger operation".to_owned()));
    }
    if let Scope::Pool(pool) = &scope
        && pool != context.run.pool()
        && !context.settings.overrides.contains_key(OTHER_OPERATION)
    {
        // Nothing says that it is stuck: a large pool's upgrade takes hours.
        return Err(context.wait(format!(
            "for operation {id} of pool {pool}, which is not this run's to abort \
             (`resume --override {OTHER_OPERATION}=REASON` aborts it)"
        )));
    }
    let judged = Some(context.now);
    Err(context.effect(Effect::AbortOperation { scope, operation: id, judged }))
}

/// True if the readings that could identify an operation are refused for good, not failing for a while.
fn is_final(context: &Context<'_>) -> bool {
    !matches!(context.view.events, Some(Reading::Failed(_) | Reading::Throttled(_)))
        && !matches!(
            context.view.latest_operation,
            Some(Reading::Failed(_) | Reading::Throttled(_))
        )
}

/// True if an abort was accepted and not refused since: another one could hit somebody else's operation.
fn aborted(context: &Context<'_>, scope: &Scope) -> bool {
    context.run.attempt(&Effect::key_of_abort(scope.clone())).is_some_and(|attempt| {
        matches!(
            attempt.result,
            Some(EffectResult::Done | EffectResult::Started { .. } | EffectResult::AlreadyDone)
        )
    })
}

/// The guards once more: waiting and aborting took time, and the pool may have come back by itself.
pub(super) fn recheck(context: &Context<'_>) -> Progress {
    ensure_not_canceling(context)?;
    checks::ensure_wedged(context, context.run.judged_before_abort())
}

/// The cluster is Succeeded; `always` touches it even if it was so before. A tag makes the service reconcile the cluster,
/// which takes it out of Canceled or Failed.
pub(super) fn reconcile_cluster(context: &Context<'_>, always: bool) -> Progress {
    let cluster = context.cluster()?;
    let tagged = cluster.tags.get(RUN_TAG) == Some(&context.run.id);
    match cluster.state.as_str() {
        "Succeeded" if tagged || !always => Ok(vec!["the cluster is Succeeded".to_owned()]),
        // Tagged or not: what the first tag made the service try may have failed.
        "Succeeded" | "Failed" | "Canceled" => Err(context.effect(Effect::TagCluster {
            name: RUN_TAG.to_owned(),
            value: context.run.id.clone(),
        })),
        other => Err(context.wait(format!("for the cluster to become Succeeded; it is {other}"))),
    }
}
