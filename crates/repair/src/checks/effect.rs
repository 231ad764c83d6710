//! What must hold right before an effect: a run may have stopped for hours, and others work on the same cluster.

use jiff::SignedDuration;
use mooring_workflow::plural::counted;
use serde_json::Value;

use super::reads;
use super::text::ago;
use super::{FAILING_WRITES, POOL_STATE, recovered};
use crate::effects::Effect;
use crate::observation::Pool;
use crate::plan::Step;
use crate::pool_body;
use crate::steps::{Context, Halt, Unknown, resumable};
use crate::workflow::{Attempt, Reason, RepairRun as _};

/// The pool is the one of the plan, unedited, or was deleted by this run. The journal may be old, or an old copy.
pub(super) fn pool_unchanged(context: &Context<'_>) -> Result<(), Halt> {
    let name = context.run.pool();
    let Some(pool) = context.pool(name)? else { return ensure_deleted_by_run(context) };
    let changed = |how: &str| Err(resumable(Reason::PoolChanged, format!("pool {name} {how}")));
    if context.on_another_set()? {
        return changed("is on another scale set than in the snapshot; abort, and look anew");
    }
    if edited(&context.plan().source, pool) {
        return changed(
            "was edited after the snapshot; abort, and plan anew, or take the edit back and resume",
        );
    }
    Ok(())
}

/// The pool did not come back by itself.
pub(super) fn did_not_recover(context: &Context<'_>) -> Result<(), Halt> {
    let name = context.run.pool();
    if context.pool(name)?.is_none_or(|pool| pool.state() != "Succeeded") {
        return Ok(());
    }
    let message = format!(
        "pool {name} is Succeeded now: it came back by itself; `abort` undoes this run, and \
         `resume --override {POOL_STATE}=REASON` rebuilds the pool all the same"
    );
    Err(resumable(Reason::GuardRefused, message))
}

/// No write of the pool's scale set succeeded. What cannot be read now is waited for.
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
                "a write of {} succeeded {}, and nothing shows a wedge since: pool {name} is not wedged any more; \
                 `abort` undoes this run, and `resume --override {FAILING_WRITES}=REASON` rebuilds the pool all the same",
                set.name,
                ago(at, context.now)
            );
            Err(resumable(Reason::GuardRefused, message))
        }
    }
}

/// The pool that takes the pods has its nodes, at this moment.
pub(super) fn replacement_ready(context: &Context<'_>) -> Result<(), Halt> {
    enough_nodes(context, &context.run.replacement()).map(drop)
}

/// The pool is gone because this run deleted it, or an operator says that it shall come back all the same.
pub(crate) fn ensure_deleted_by_run(context: &Context<'_>) -> Result<(), Halt> {
    let name = context.run.pool();
    if context.run.deletion().is_some() || context.settings.overrides.contains_key(POOL_STATE) {
        return Ok(());
    }
    Err(missing(context, name, || {
        format!(
            "somebody else deleted pool {name}; `abort` undoes the rest, and `resume --override {POOL_STATE}=REASON` makes \
             it again from the snapshot"
        )
    }))
}

/// True if somebody changed what the pool should be. The service's own changes do not count.
fn edited(snapshot: &Value, pool: &Pool) -> bool {
    let differ = |then: &Value, now: &Value| match [then, now].map(pool_body::intent_of) {
        [Ok(then), Ok(now)] => then != now,
        _ => true,
    };
    if !differ(snapshot, &pool.raw) {
        return false;
    }
    // The snapshot keeps no secrets; and it may be of a version that kept more than this one.
    let [then, now] = [snapshot, &pool.raw].map(|pool| {
        let mut pool = pool.clone();
        mooring_workflow::secret_fields::strip(&mut pool);
        pool
    });
    differ(&then, &now)
}

/// The pool of the snapshot's name on another scale set, if it is not of this run's making.
pub(crate) fn recreated_externally<'a>(context: &Context<'a>) -> Result<Option<&'a Pool>, Unknown> {
    let name = context.run.pool();
    let Some(pool) = context.pool(name)? else { return Ok(None) };
    let ours =
        context.run.attempt(&Effect::key_of_put(name)).is_some_and(Attempt::may_have_happened);
    Ok((context.on_another_set()? && !ours).then_some(pool))
}

/// A pool has the nodes that carry the load, at this very moment.
pub(crate) fn enough_nodes(context: &Context<'_>, pool: &str) -> Result<String, Halt> {
    let wanted = wanted(context, pool)?;
    let usable = context.nodes_of(pool)?.into_iter().filter(|node| node.usable()).count();
    if i64::try_from(usable).unwrap_or(i64::MAX) < wanted {
        return Err(context.wait(format!(
            "for {} in pool {pool}; it has {usable}",
            counted(wanted, "usable node")
        )));
    }
    Ok(format!("pool {pool} has {}", counted(usable, "usable node")))
}

/// How many nodes one of the two pools must have to carry the load.
pub(crate) fn wanted(context: &Context<'_>, name: &str) -> Result<i64, Halt> {
    let Some(pool) = context.pool(name)? else { return Err(gone(context, name)) };
    if name != context.run.pool() {
        return Ok(pool.count().unwrap_or(1).max(1));
    }
    let body = &context.plan().pool_body;
    let least = i64::from(body["properties"]["mode"] != "User");
    let former = body["properties"]["count"].as_i64().unwrap_or(1);
    // The autoscaler of the new pool may want fewer by now, and so may a person once it was seen whole.
    let theirs = pool.autoscaled()
        || context.run.has_done(Step::VerifyPool)
        || recreated_externally(context)?.is_some();
    Ok(if theirs { former.min(pool.count().unwrap_or(former)) } else { former }.max(least))
}

/// How long it may take until something shows: an answer may be old, and of a change the answer may be lost.
pub(crate) const LATE: SignedDuration = SignedDuration::from_mins(2);

/// What to do about a pool that this run made and that is not there.
pub(crate) fn gone(context: &Context<'_>, name: &str) -> Halt {
    missing(context, name, || {
        if name == context.run.pool() {
            format!(
                "pool {name}, which this run made again, is gone; make it once more (docs/RUNBOOK.md), and `resume`"
            )
        } else {
            format!(
                "pool {name}, which this run made, is gone; `abort` undoes the rest, and the next `apply` begins anew"
            )
        }
    })
}

/// Waits for a pool that is not there, until it is too late to be an old answer.
fn missing(context: &Context<'_>, name: &str, told: impl FnOnce() -> String) -> Halt {
    if context.now.duration_since(context.run.step_since()) < LATE {
        return context.wait(format!("for pool {name}, which is not there"));
    }
    resumable(Reason::PoolGone, told())
}

/// The pool that was rebuilt is not the one of the plan: only then is the temporary pool not needed, whatever a journal
/// says was done.
pub(super) fn pool_recreated(context: &Context<'_>) -> Result<(), Halt> {
    let name = context.run.pool();
    if context.pool(name)?.is_none() {
        return Err(gone(context, name));
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
    fn a_snapshot_that_kept_more_than_is_kept_now_is_no_edit() {
        let raw = json!({"name": "p", "properties": {"vmSize": "x", "osDiskSizeGB": 30, "count": 1,
            "orchestratorVersion": "1.35.4", "tags": {"apiKeyOwner": "team"}}});
        let pool = Pool::read(&raw).unwrap();
        assert!(!edited(&raw, &pool));
        let mut other = raw;
        other["properties"]["maxPods"] = 50.into();
        assert!(edited(&other, &pool));
    }
}
