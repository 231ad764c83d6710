//! Making and deleting pools.

use super::action::{Action, Reason};
use super::context::{Context, Progress, tagged};
use super::proofs;
use super::state::Attempt;
use crate::effects::Effect;
use crate::guards::{ago, succeeds_again};
use crate::names::RUN_TAG;
use crate::observation::{Pool, Query};
use crate::plan::Step;
use crate::sanitise::{self, SanitiseError};

/// The temporary pool exists, is this run's, and its operation succeeded.
pub(super) fn create_temporary(context: &Context<'_>) -> Progress {
    let name = context.state.temporary();
    let snapshot = context.snapshot()?;
    let policy = context.state.settings.version;
    let version = snapshot.version.as_deref();
    let body = sanitise::temporary(&snapshot.pool, policy, version, &context.journal())
        .map_err(bad_snapshot)?;
    if let Some(pool) = context.pool(&name)?
        && !context.is_ours(pool)
    {
        let message = format!("there is a pool {name} that is not of this run");
        return Err(Action::resumable(Reason::NameTaken, message));
    }
    still_wedged(context)?;
    let body = tagged(body, &context.state.run);
    // What an earlier run left is not this run's before it has its size and tags.
    let is_made = |pool: &Pool| pool.tag(RUN_TAG).as_deref() == Some(context.state.run.as_str());
    made(context, Step::CreateTemporary, &name, body, is_made)
}

/// The pool is still the one of the snapshot, unedited, and did not come back by itself since the guards were looked
/// at: nothing more is done to any other. The journal may be old, too, or an old copy.
pub(super) fn still_the_one(context: &Context<'_>) -> Result<(), Action> {
    let name = context.state.pool();
    let snapshot = context.snapshot()?;
    let Some(pool) = context.pool(name)? else { return Ok(()) };
    let changed =
        |how: &str| Err(Action::resumable(Reason::PoolChanged, format!("pool {name} {how}")));
    if context.on_another_set()? {
        return changed("is on another scale set than in the snapshot; abort, and look anew");
    }
    if edited(&snapshot.pool, pool) {
        return changed(
            "was edited after the snapshot; abort, and plan anew, or take the edit back and resume",
        );
    }
    if pool.state() == "Succeeded" && !context.state.settings.overrides.contains_key("pool-state") {
        let message = format!(
            "pool {name} is Succeeded now: it came back by itself; `abort` undoes this run, and \
             `resume --override pool-state=REASON` rebuilds the pool all the same"
        );
        return Err(Action::resumable(Reason::GuardRefused, message));
    }
    Ok(())
}

/// As [`still_the_one`], and no write of its scale set has succeeded since: for what begins or ends the pool's emptying.
pub(super) fn still_wedged(context: &Context<'_>) -> Result<(), Action> {
    still_the_one(context)?;
    let name = context.state.pool();
    let Some(set) = context.scale_set(name)? else { return Ok(()) };
    let Some(events) = &context.seen.events else { return Err(Action::Observe(Query::Events)) };
    // What cannot be read now was read, or gone over, when the guards were looked at.
    let events = events.known().map(Vec::as_slice).unwrap_or_default();
    match succeeds_again(events, &set.id) {
        Some(at) if !context.state.settings.overrides.contains_key("failing-writes") => {
            let message = format!(
                "a write of {} succeeded {}, and none failed since: pool {name} is not wedged any more; `abort` undoes \
                 this run, and `resume --override failing-writes=REASON` rebuilds the pool all the same",
                set.name,
                ago(at, context.now)
            );
            Err(Action::resumable(Reason::GuardRefused, message))
        }
        _ => Ok(()),
    }
}

/// The pool exists again, on another scale set, and its operation succeeded.
pub(super) fn recreate(context: &Context<'_>) -> Progress {
    let name = context.state.pool();
    let snapshot = context.snapshot()?;
    let policy = context.state.settings.version;
    let body = sanitise::sanitise(&snapshot.pool, policy, snapshot.version.as_deref())
        .map_err(bad_snapshot)?;
    if let Some(pool) = made_by_somebody(context)? {
        return match pool.state() {
            "Succeeded" => {
                Ok(vec![format!("somebody made pool {name} again; it is left as it is")])
            }
            state => Err(context.wait(format!("for pool {name}, which is {state}"))),
        };
    }
    let proof = made(context, Step::RecreatePool, name, body, |_| true)?;
    // A stale answer may still show the pool that was deleted.
    match context.scale_set(name)? {
        Some(set) if !snapshot.is_on(&set.id) => Ok(proof),
        _ => Err(context.wait(format!("for the new scale set of pool {name}"))),
    }
}

/// The pool of the snapshot's name on another scale set, if it is not of this run's making.
pub(super) fn made_by_somebody<'a>(context: &Context<'a>) -> Result<Option<&'a Pool>, Action> {
    let name = context.state.pool();
    let put = Effect::PutPool { pool: name.to_owned(), body: serde_json::Value::Null };
    let Some(pool) = context.pool(name)? else { return Ok(None) };
    let ours = context.state.attempt(&put.key()).is_some_and(Attempt::may_have_happened);
    Ok((context.on_another_set()? && !ours).then_some(pool))
}

fn made(
    context: &Context<'_>,
    step: Step,
    name: &str,
    body: serde_json::Value,
    is_made: impl Fn(&Pool) -> bool,
) -> Progress {
    let put = Effect::PutPool { pool: name.to_owned(), body };
    let intended = context.state.intended(&put.key());
    match context.pool(name)? {
        Some(pool) if pool.state() == "Succeeded" && intended && is_made(pool) => {
            Ok(vec![format!("pool {name} is Succeeded")])
        }
        Some(pool) if pool.busy() => {
            Err(context.wait(format!("for pool {name}, which is {}", pool.state())))
        }
        Some(pool) if pool.state() == "Failed" => {
            let codes = why_failed(context, &put)?;
            // The same body again is the same request.
            Err(match context.effect(step, put) {
                Action::Wait { until, why } => {
                    Action::Wait { until, why: format!("{why}: pool {name} is Failed{codes}") }
                }
                action => action,
            })
        }
        _ => Err(context.effect(step, put)),
    }
}

/// Error codes after which the same request fails again, whatever is waited for.
const HOPELESS: [&str; 7] = [
    "QuotaExceeded",
    "ErrCode_InsufficientVCPUQuota",
    "SkuNotAvailable",
    "VMSizeNotSupported",
    "RequestDisallowedByPolicy",
    "InsufficientSubnetSize",
    "SubnetIsFull",
];

/// What the operation behind a failed pool says; stops if that is that trying again is useless.
fn why_failed(context: &Context<'_>, put: &Effect) -> Result<String, Action> {
    let Some(attempt) = context.state.attempt(&put.key()) else { return Ok(String::new()) };
    let Some(token) = attempt.token.clone() else { return Ok(String::new()) };
    let Some(reading) = context.seen.operations.get(&token) else {
        return Err(Action::Observe(Query::Operation(token)));
    };
    let codes = reading.known().map(|operation| operation.codes.as_slice()).unwrap_or_default();
    let hopeless = codes.iter().any(|code| HOPELESS.iter().any(|word| code.contains(word)));
    if hopeless && !attempt.earlier {
        let message = format!("{} failed: {}", put.key(), codes.join(", "));
        return Err(Action::resumable(Reason::EffectRefused, message));
    }
    Ok(if codes.is_empty() { String::new() } else { format!(" ({})", codes.join(", ")) })
}

/// The broken pool is gone. Deleted only if it is still the very pool of the snapshot, unedited.
pub(super) fn delete_pool(context: &Context<'_>) -> Progress {
    let name = context.state.pool();
    let Some(pool) = context.pool(name)? else {
        return Ok(vec![format!("pool {name} is gone")]);
    };
    if pool.state() == "Deleting" {
        return Err(context.wait(format!("for pool {name} to be deleted")));
    }
    if context.state.deletion().is_some() && context.on_another_set()? {
        return Ok(vec![format!("pool {name} is gone; somebody made another of its name")]);
    }
    // Also if the deletion was intended before: a process that died may never have asked for it.
    still_wedged(context)?;
    if pool.busy() {
        return Err(context.wait(format!("for pool {name}, which is {}", pool.state())));
    }
    proofs::enough_nodes(context, &context.state.temporary())?;
    proofs::placed(context, Step::DrainPool, name)?;
    Err(context.effect(Step::DeletePool, delete(pool)))
}

/// The temporary pool is gone.
pub(super) fn delete_temporary(context: &Context<'_>) -> Progress {
    let name = context.state.temporary();
    let Some(pool) = context.pool(&name)? else {
        return Ok(vec![format!("pool {name} is gone")]);
    };
    if !context.is_ours(pool) {
        let message = format!("there is a pool {name} that is not of this run");
        return Err(Action::resumable(Reason::NameTaken, message));
    }
    if pool.busy() {
        return Err(context.wait(format!("for pool {name}, which is {}", pool.state())));
    }
    proofs::enough_nodes(context, context.state.pool())?;
    proofs::placed(context, Step::DrainTemporary, &name)?;
    Err(context.effect(Step::DeleteTemporary, delete(pool)))
}

fn delete(pool: &Pool) -> Effect {
    Effect::DeletePool { pool: pool.name.clone(), if_match: pool.etag() }
}

/// True if somebody changed what the pool should be. The service's own changes do not count.
fn edited(snapshot: &serde_json::Value, pool: &Pool) -> bool {
    let mut now = (*pool.raw).clone();
    crate::sensitive::strip(&mut now);
    match (sanitise::intent_of(snapshot), sanitise::intent_of(&now)) {
        (Ok(then), Ok(now)) => then != now,
        _ => true,
    }
}

fn bad_snapshot(error: SanitiseError) -> Action {
    Action::resumable(
        Reason::BadSnapshot,
        format!("no pool can be made from the snapshot: {error}"),
    )
}
