//! Making and deleting pools.

use super::context::{Context, Halt, Progress, Unknown, resumable};
use super::proofs;
use crate::checks::{self, POOL_STATE, POOL_UNCHANGED, gone_by_us, made_by_somebody};
use crate::effects::{Effect, Only};
use crate::observation::{Pool, Query};
use crate::plan::Step;
use crate::workflow::Reason;
use crate::workflow::{Decision, RepairRun as _};
use mooring_workflow::Effect as _;
use mooring_workflow::Reading;

/// The temporary pool exists, is this run's, and its operation succeeded.
pub(super) fn create_temporary(context: &Context<'_>) -> Progress {
    let name = context.state.temporary();
    if let Some(pool) = context.pool(&name)?
        && !context.is_ours(pool)
        && !context.is_adopted(pool)
    {
        let message = format!("there is a pool {name} that is not of this run");
        return Err(resumable(Reason::NameTaken, message));
    }
    let body = context.temporary_body();
    // What an earlier run left is not this run's before it has its size and tags.
    let is_made = |pool: &Pool| context.is_ours(pool);
    made(context, &name, body, is_made)
}

/// The pool exists again, on another scale set, and its operation succeeded.
pub(super) fn recreate(context: &Context<'_>) -> Progress {
    let name = context.state.pool();
    let body = context.plan().pool_body.clone();
    if let Some(pool) = made_by_somebody(context)? {
        return match pool.state() {
            "Succeeded" => {
                Ok(vec![format!("somebody made pool {name} again; it is left as it is")])
            }
            state => Err(context.wait(format!("for pool {name}, which is {state}"))),
        };
    }
    // A stale reading may still show the pool that was deleted, and a journal may claim a deletion that never was:
    // nothing is written over that pool.
    if context.pool(name)?.is_some() && context.on_planned_set()? {
        return Err(context.wait(format!("for pool {name} to be deleted")));
    }
    let proof = made(context, name, body, |_| true)?;
    match context.scale_set(name)? {
        Some(_) => Ok(proof),
        None => Err(context.wait(format!("for the new scale set of pool {name}"))),
    }
}

fn made(
    context: &Context<'_>,
    name: &str,
    body: serde_json::Value,
    is_made: impl Fn(&Pool) -> bool,
) -> Progress {
    let intended = context.state.attempts.contains_key(&Effect::key_of_put(name));
    let pool = context.pool(name)?;
    let only = match pool {
        None => Some(Only::IfAbsent),
        Some(pool) => pool.etag().map(Only::IfMatch),
    };
    let put = Effect::PutPool { pool: name.to_owned(), body, only };
    match pool {
        Some(pool) if pool.state() == "Succeeded" && intended && is_made(pool) => {
            Ok(vec![format!("pool {name} is Succeeded")])
        }
        Some(pool) if pool.busy() => {
            Err(context.wait(format!("for pool {name}, which is {}", pool.state())))
        }
        // The same body again is the same request.
        Some(pool) if pool.state() == "Failed" => Err(try_again(context, put, pool)),
        _ => Err(context.effect(put)),
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

/// Makes an effect on a pool that may be Failed by the last try, and says why that is so.
fn try_again(context: &Context<'_>, effect: Effect, pool: &Pool) -> Halt {
    let codes = match why_failed(context, &effect) {
        Ok(codes) => codes,
        Err(halt) => return halt,
    };
    match context.effect(effect) {
        Halt::Decision(Decision::Wait { until, why }) => {
            let why = format!("{why}: pool {} is {}{codes}", pool.name, pool.state());
            Decision::Wait { until, why }.into()
        }
        halt => halt,
    }
}

/// The operation that the last try of an effect began.
pub(super) fn operation(context: &Context<'_>, key: &str) -> Option<Query> {
    context.state.attempt(key)?.token.clone().map(Query::Operation)
}

/// What the operation behind a failed pool says; stops if that is that trying again is useless.
fn why_failed(context: &Context<'_>, effect: &Effect) -> Result<String, Halt> {
    let Some(attempt) = context.state.attempt(&effect.key()) else { return Ok(String::new()) };
    let Some(token) = &attempt.token else { return Ok(String::new()) };
    let Some(reading) = context.seen.operations.get(token) else {
        return Err(Unknown::NotRead(Query::Operation(token.clone())).into());
    };
    if let Reading::Failed(why) = reading {
        return Ok(format!(" ({why})"));
    }
    let codes = reading.known().map(|operation| operation.codes.as_slice()).unwrap_or_default();
    let hopeless = codes.iter().any(|code| HOPELESS.iter().any(|word| code.contains(word)));
    if hopeless && !context.state.is_before_step(attempt) {
        let message = format!("{} failed: {}", effect.key(), codes.join(", "));
        return Err(resumable(Reason::EffectRefused, message));
    }
    Ok(if codes.is_empty() { String::new() } else { format!(" ({})", codes.join(", ")) })
}

/// The broken pool is gone. Deleted only if it is still the very pool of the snapshot, unedited.
pub(super) fn delete_pool(context: &Context<'_>) -> Progress {
    let name = context.state.pool();
    let Some(pool) = context.pool(name)? else {
        gone_by_us(context)?;
        return Ok(vec![format!("pool {name} is gone")]);
    };
    if pool.state() == "Deleting" {
        return Err(context.wait(format!("for pool {name} to be deleted")));
    }
    if context.state.deletion().is_some() && context.on_another_set()? {
        return Ok(vec![format!("pool {name} is gone; somebody made another of its name")]);
    }
    // Also if the deletion was intended before: a process that died may never have asked for it.
    checks::ensure_all(context, &[POOL_UNCHANGED, POOL_STATE])?;
    if pool.busy() {
        return Err(context.wait(format!("for pool {name}, which is {}", pool.state())));
    }
    proofs::placed(context, Step::DrainPool, name)?;
    Err(try_again(context, delete(pool), pool))
}

/// The temporary pool is gone.
pub(super) fn delete_temporary(context: &Context<'_>) -> Progress {
    let name = context.state.temporary();
    let Some(pool) = context.pool(&name)? else {
        return Ok(vec![format!("pool {name} is gone")]);
    };
    if !context.is_ours(pool) {
        let message = format!("there is a pool {name} that is not of this run");
        return Err(resumable(Reason::NameTaken, message));
    }
    if pool.busy() {
        return Err(context.wait(format!("for pool {name}, which is {}", pool.state())));
    }
    proofs::placed(context, Step::DrainTemporary, &name)?;
    Err(try_again(context, delete(pool), pool))
}

/// No run ends as repaired while its temporary pool exists, whatever its journal says was done.
pub(super) fn temporary_gone(context: &Context<'_>) -> Result<(), Halt> {
    let name = context.state.temporary();
    match context.pool(&name)? {
        Some(pool) if context.is_ours(pool) => {
            Err(context.wait(format!("for pool {name} to be deleted")))
        }
        _ => Ok(()),
    }
}

fn delete(pool: &Pool) -> Effect {
    Effect::DeletePool { pool: pool.name.clone(), if_match: pool.etag() }
}
