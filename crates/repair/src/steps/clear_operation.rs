//! The steps `snapshot`, `clear-operation`, `recheck` and `reconcile-cluster`.

use crate::workflow::{Context, Finish, Halt, Progress, Reason, RepairRun as _};

use crate::checks::{self, LOG_DELAY, OTHER_OPERATION};
use crate::names::RUN_TAG;
use crate::observation::Query;
use crate::operation::{self, OngoingOperation, OperationScope};
use crate::plan::pool_hash;
use crate::pool::temporary_pool::TemporaryPool;
use crate::workflow::effects::Effect;
use mooring_workflow::plural::counted;
use mooring_workflow::{EffectResult, Reading};

/// Ensures that the live pool is that of the plan, which holds it, and that the name of the temporary pool is available.
pub(super) fn snapshot(context: &Context<'_>) -> Progress {
    let name = context.run.pool();
    let Some(pool) = context.pool(name)? else {
        let message = format!("pool {name} was not found");
        return Err(context.refused(Reason::PoolGone, message));
    };
    if pool_hash(&pool.raw) != context.plan().pool_hash || context.on_another_set()? {
        let message = format!("pool {name} changed since the plan; create a new plan");
        return Err(context.refused(Reason::PoolChanged, message));
    }
    if let Some(taken) = context.pool(&context.run.temporary())?
        && !context.belongs_to_run(taken)
        && !context.is_adopted(taken)
    {
        let message = match TemporaryPool::of(context.pools()?, name) {
            Some(left) => left.remediation(),
            None => format!(
                "pool {} exists but was not created by this run; find its owner before deleting it",
                taken.name
            ),
        };
        return Err(context.refused(Reason::NameTaken, message));
    }
    Ok(vec!["snapshot saved".to_owned()])
}

pub(super) fn ensure_not_canceling(context: &Context<'_>) -> Result<(), Halt> {
    if context.cluster()?.state == "Canceling" {
        return Err(context.wait("for the cluster, which is Canceling".to_owned()));
    }
    Ok(())
}

pub(super) fn settling(context: &Context<'_>) -> Vec<Query> {
    let mut reads = vec![Query::Cluster, Query::Pools];
    let known = ensure_not_canceling(context).is_ok() && context.pools().is_ok();
    if known && operation::running(context.view) != OngoingOperation::Nothing {
        reads.extend([Query::LatestOperation, Query::Events]);
    }
    reads
}

/// Waits for the running operation, or aborts it if it is identified and old enough.
pub(super) fn clear_operation(context: &Context<'_>) -> Progress {
    ensure_not_canceling(context)?;
    context.pools()?;
    context.ensure_read(settling(context))?;
    let (id, started, scope) = match operation::running(context.view) {
        OngoingOperation::Nothing => return Ok(vec!["no operation in progress".to_owned()]),
        OngoingOperation::One { id, started, scope } => (id, started, scope),
        OngoingOperation::Unidentified(why) => {
            // The log is late, and may show the operation later.
            return Err(if context.run.aborts().next().is_some() || !is_final(context) {
                context.wait(format!("for the running operation to be identified: {why}"))
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
            "operation {id} has been running for {}; too recent to abort",
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
        // The log is late: the operation may have ended, and a newer one may be running.
        return Err(context.wait("for the activity log to show a newer operation".to_owned()));
    }
    if let OperationScope::Pool(pool) = &scope
        && pool != context.run.pool()
        && !context.settings.overrides.contains_key(OTHER_OPERATION)
    {
        // It may not be stuck: the upgrade of a large pool takes hours.
        return Err(context.wait(format!(
            "for operation {id} on pool {pool}; operations on other pools are not aborted \
             (`resume --override {OTHER_OPERATION}=REASON` aborts it)"
        )));
    }
    let judged = Some(context.now);
    Err(context.effect(Effect::AbortOperation { scope, operation: id, judged }))
}

/// Returns true if the reads that could identify an operation are denied permanently.
fn is_final(context: &Context<'_>) -> bool {
    let (events, latest) = (&context.view.events, &context.view.latest_operation);
    !matches!(events, Some(Reading::Failed(_) | Reading::Throttled(_)))
        && !matches!(latest, Some(Reading::Failed(_) | Reading::Throttled(_)))
}

/// Returns true if an abort was accepted and not rejected since: another one could abort a foreign operation.
fn aborted(context: &Context<'_>, scope: &OperationScope) -> bool {
    context.run.attempt(&Effect::key_of_abort(scope.clone())).is_some_and(|attempt| {
        matches!(
            attempt.result,
            Some(EffectResult::Done | EffectResult::Started { .. } | EffectResult::AlreadyDone)
        )
    })
}

/// Evaluates the verdict again: the pool may have recovered while the run waited.
pub(super) fn recheck(context: &Context<'_>) -> Progress {
    ensure_not_canceling(context)?;
    checks::ensure_wedged(context, context.run.checked_before_abort())
}

/// Ensures that cluster is Succeeded; `always` updates the tag even if it is. A tag triggers reconciliation, which ends
/// Canceled and Failed.
pub(super) fn reconcile_cluster(context: &Context<'_>, always: bool) -> Progress {
    let cluster = context.cluster()?;
    let tagged = cluster.tags.get(RUN_TAG) == Some(&context.run.id);
    match cluster.state.as_str() {
        "Succeeded" if tagged || !always => Ok(vec!["cluster is Succeeded".to_owned()]),
        // Also if tagged: the first reconciliation may have failed.
        "Succeeded" | "Failed" | "Canceled" => Err(context.effect(Effect::TagCluster {
            name: RUN_TAG.to_owned(),
            value: context.run.id.clone(),
        })),
        other => Err(context.wait(format!("for the cluster, which is {other}"))),
    }
}
