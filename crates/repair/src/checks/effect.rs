//! Preconditions of effects: a run may have stopped for hours, and others change the same cluster.

use jiff::SignedDuration;
use mooring_workflow::plural::counted;
use mooring_workflow::screens::ago;
use serde_json::Value;

use super::{FAILING_WRITES, POOL_STATE, reads, recovered};
use crate::observation::Pool;
use crate::plan::Step;
use crate::pool::pool_body;
use crate::workflow::effects::Effect;
use crate::workflow::{Attempt, Context, Halt, Reason, RepairRun as _, Unknown, resumable};

/// Ensures that the pool is that of the plan, or was deleted by this run. The journal may be an old copy.
pub(super) fn pool_unchanged(context: &Context<'_>) -> Result<(), Halt> {
    let name = context.run.pool();
    let Some(pool) = context.pool(name)? else { return ensure_deleted_by_run(context) };
    let changed = |how: &str| Err(resumable(Reason::PoolChanged, format!("pool {name} {how}")));
    if context.on_another_set()? {
        return changed("has a different scale set than the snapshot; run `abort`, then `detect`");
    }
    if edited(&context.plan().source, pool) {
        return changed(
            "was changed after the snapshot; revert the change and `resume`, or `abort` and plan again",
        );
    }
    Ok(())
}

pub(super) fn did_not_recover(context: &Context<'_>) -> Result<(), Halt> {
    let name = context.run.pool();
    if context.pool(name)?.is_none_or(|pool| pool.state() != "Succeeded") {
        return Ok(());
    }
    let message = format!(
        "pool {name} recovered on its own; `abort` to roll back, or \
        `resume --override {POOL_STATE}=REASON` to rebuild it anyway"
    );
    Err(resumable(Reason::CheckFailed, message))
}

/// Ensures that no write to the pool's scale set succeeded. Waits for failed reads.
pub(super) fn writes_still_fail(context: &Context<'_>) -> Result<(), Halt> {
    let name = context.run.pool();
    if context.pool(name)?.is_none() {
        return Ok(());
    }
    let Some(set) = context.scale_set(name)? else {
        return Err(context.wait(format!("for the scale set of pool {name}")));
    };
    context.events()?;
    context.ensure_read(reads::writes(context))?;
    match recovered(context.view, context.settings, context.now) {
        None => Ok(()),
        Some(at) => {
            let message = format!(
                "a write to {} succeeded {}, with no sign of a wedge since: pool {name} is no longer wedged; \
                `abort` to roll back, or `resume --override {FAILING_WRITES}=REASON` to rebuild it anyway",
                set.name,
                ago(at, context.now)
            );
            Err(resumable(Reason::CheckFailed, message))
        }
    }
}

/// Ensures that the pool that receives the pods has its nodes.
pub(super) fn replacement_ready(context: &Context<'_>) -> Result<(), Halt> {
    enough_nodes(context, &context.run.replacement()).map(drop)
}

/// Ensures that this run deleted the pool, unless overridden.
pub(crate) fn ensure_deleted_by_run(context: &Context<'_>) -> Result<(), Halt> {
    let name = context.run.pool();
    if context.run.deletion().is_some() || context.settings.overrides.contains_key(POOL_STATE) {
        return Ok(());
    }
    Err(missing(context, name, || {
        format!(
            "pool {name} was deleted outside this run; `abort` to end the run, or `resume --override {POOL_STATE}=REASON` to \
         recreate it from the snapshot"
        )
    }))
}

/// Returns true if the configuration was changed. Changes by the service do not count.
fn edited(snapshot: &Value, pool: &Pool) -> bool {
    let differ = |then: &Value, now: &Value| match [then, now].map(pool_body::intent_of) {
        [Ok(then), Ok(now)] => then != now,
        _ => true,
    };
    if !differ(snapshot, &pool.raw) {
        return false;
    }
    // The snapshot has no secrets, and may be of a version that kept more fields.
    let [then, now] = [snapshot, &pool.raw].map(|pool| {
        let mut pool = pool.clone();
        mooring_redact::json::strip(&mut pool);
        pool
    });
    differ(&then, &now)
}

/// Returns a pool of the same name on another scale set that this run did not create.
pub(crate) fn recreated_externally<'a>(context: &Context<'a>) -> Result<Option<&'a Pool>, Unknown> {
    let name = context.run.pool();
    let Some(pool) = context.pool(name)? else { return Ok(None) };
    let ours =
        context.run.attempt(&Effect::key_of_put(name)).is_some_and(Attempt::may_have_happened);
    Ok((context.on_another_set()? && !ours).then_some(pool))
}

/// Ensures that a pool has enough nodes for the workloads.
pub(crate) fn enough_nodes(context: &Context<'_>, pool: &str) -> Result<String, Halt> {
    let wanted = wanted(context, pool)?;
    let usable = context.nodes_of(pool)?.into_iter().filter(|node| node.usable()).count();
    if i64::try_from(usable).unwrap_or(i64::MAX) < wanted {
        return Err(context.wait(format!(
            "for {} in pool {pool}; it has {usable}",
            counted(wanted, "Ready, schedulable node")
        )));
    }
    Ok(format!("pool {pool} has {}", counted(usable, "Ready, schedulable node")))
}

/// Returns the number of nodes that a pool needs to run the workloads.
pub(crate) fn wanted(context: &Context<'_>, name: &str) -> Result<i64, Halt> {
    let Some(pool) = context.pool(name)? else { return Err(deleted_pool(context, name)) };
    if name != context.run.pool() {
        return Ok(pool.count().unwrap_or(1).max(1));
    }
    let body = &context.plan().pool_body;
    let minimum = i64::from(body["properties"]["mode"] != "User");
    let former = body["properties"]["count"].as_i64().unwrap_or(1);
    // The autoscaler may have scaled the new pool down, and so may an operator once it was complete.
    let may_differ = pool.autoscaled()
        || context.run.has_done(Step::VerifyPool)
        || recreated_externally(context)?.is_some();
    Ok(if may_differ { former.min(pool.count().unwrap_or(former)) } else { former }.max(minimum))
}

/// Time until a change is visible: responses may be stale or lost.
pub(crate) const PROPAGATION_TIMEOUT: SignedDuration = SignedDuration::from_mins(2);

/// Returns the halt for a pool that this run created and that was deleted since.
pub(crate) fn deleted_pool(context: &Context<'_>, name: &str) -> Halt {
    missing(context, name, || {
        if name == context.run.pool() {
            format!(
                "pool {name} was deleted after this run recreated it; create it again (docs/RUNBOOK.md), then `resume`"
            )
        } else {
            format!("pool {name} was deleted after this run created it; run `abort`, then `apply`")
        }
    })
}

/// Waits for a missing pool as long as the response may be stale.
fn missing(context: &Context<'_>, name: &str, message: impl FnOnce() -> String) -> Halt {
    if context.now.duration_since(context.run.step_since()) < PROPAGATION_TIMEOUT {
        return context.wait(format!("for pool {name}, which does not exist"));
    }
    resumable(Reason::PoolGone, message())
}

/// Ensures that the pool is not the one of the plan: only then is the temporary pool not needed, regardless of the journal.
pub(super) fn pool_recreated(context: &Context<'_>) -> Result<(), Halt> {
    let name = context.run.pool();
    if context.pool(name)?.is_none() {
        return Err(deleted_pool(context, name));
    }
    if context.on_another_set()? {
        return Ok(());
    }
    Err(context.wait(format!("for pool {name} to be on a new scale set")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn snapshot_with_more_fields_is_not_an_edit() {
        let raw = json!({"name": "p", "properties": {"vmSize": "x", "osDiskSizeGB": 30, "count": 1,
            "orchestratorVersion": "1.35.4", "tags": {"apiKeyOwner": "team"}}});
        let pool = Pool::read(&raw).unwrap();
        assert!(!edited(&raw, &pool));
        let mut other = raw;
        other["properties"]["maxPods"] = 50.into();
        assert!(edited(&other, &pool));
    }
}
