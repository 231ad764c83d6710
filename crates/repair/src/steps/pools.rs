//! Creates and deletes pools.

use super::verify;
use crate::checks::{
    self, POOL_STATE, POOL_UNCHANGED, ensure_deleted_by_run, recreated_externally,
};
use crate::observation::{Pool, Query};
use crate::plan::Step;
use crate::workflow::effects::{Effect, Precondition};
use crate::workflow::{
    Context, Decision, Halt, Progress, Reason, RepairRun as _, Unknown, resumable,
};
use mooring_workflow::{Effect as _, Reading};

/// Ensures that the temporary pool of this run is Succeeded.
pub(super) fn create_temporary(context: &Context<'_>) -> Progress {
    let name = context.run.temporary();
    if let Some(pool) = context.pool(&name)?
        && !context.belongs_to_run(pool)
        && !context.is_adopted(pool)
    {
        let message = format!("pool {name} exists but was not created by this run");
        return Err(resumable(Reason::NameTaken, message));
    }
    let body = context.temporary_body();
    // An adopted pool belongs to this run once it has its size and tags.
    let is_made = |pool: &Pool| context.belongs_to_run(pool);
    ensure_pool(context, &name, body, is_made)
}

/// Ensures that the pool is Succeeded on another scale set.
pub(super) fn recreate(context: &Context<'_>) -> Progress {
    let name = context.run.pool();
    let body = context.plan().pool_body.clone();
    if let Some(pool) = recreated_externally(context)? {
        return match pool.state() {
            "Succeeded" => Ok(vec![format!(
                "pool {name} was recreated outside this run; leaving it unchanged"
            )]),
            state => Err(context.wait(format!("for pool {name}, which is {state}"))),
        };
    }
    // A stale response may show the deleted pool, and a journal may claim a deletion that never happened: that pool is not
    // written.
    if context.pool(name)?.is_some() && context.on_planned_set()? {
        return Err(context.wait(format!("for pool {name} to be deleted")));
    }
    let evidence = ensure_pool(context, name, body, |_| true)?;
    match context.scale_set(name)? {
        Some(_) => Ok(evidence),
        None => Err(context.wait(format!("for the new scale set of pool {name}"))),
    }
}

fn ensure_pool(
    context: &Context<'_>,
    name: &str,
    body: serde_json::Value,
    is_made: impl Fn(&Pool) -> bool,
) -> Progress {
    let intended = context.run.attempts.contains_key(&Effect::key_of_put(name));
    let pool = context.pool(name)?;
    let only = match pool {
        None => Some(Precondition::IfAbsent),
        Some(pool) => pool.etag().map(Precondition::IfMatch),
    };
    let put = Effect::PutPool { pool: name.to_owned(), body, only };
    match pool {
        Some(pool) if pool.state() == "Succeeded" && intended && is_made(pool) => {
            Ok(vec![format!("pool {name} is Succeeded")])
        }
        Some(pool) if pool.busy() => {
            Err(context.wait(format!("for pool {name}, which is {}", pool.state())))
        }
        Some(pool) if pool.state() == "Failed" => Err(retry(context, put, pool)),
        _ => Err(context.effect(put)),
    }
}

/// Error codes after which the same request fails again.
const NON_RETRYABLE_CODES: [&str; 7] = [
    "QuotaExceeded",
    "ErrCode_InsufficientVCPUQuota",
    "SkuNotAvailable",
    "VMSizeNotSupported",
    "RequestDisallowedByPolicy",
    "InsufficientSubnetSize",
    "SubnetIsFull",
];

/// Retries an effect on a pool that may be Failed by the last attempt, and adds the reason.
fn retry(context: &Context<'_>, effect: Effect, pool: &Pool) -> Halt {
    let codes = match failure_codes(context, &effect) {
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

/// Returns the operation of the last attempt of an effect.
pub(super) fn operation(context: &Context<'_>, key: &str) -> Option<Query> {
    context.run.attempt(key)?.token.clone().map(Query::Operation)
}

/// Returns the error codes of the operation of a failed pool; stops if a retry is useless.
fn failure_codes(context: &Context<'_>, effect: &Effect) -> Result<String, Halt> {
    let Some(attempt) = context.run.attempt(&effect.key()) else { return Ok(String::new()) };
    let Some(token) = &attempt.token else { return Ok(String::new()) };
    let Some(reading) = context.view.operations.get(token) else {
        return Err(Unknown::NotRead(Query::Operation(token.clone())).into());
    };
    if let Reading::Failed(why) = reading {
        return Ok(format!(" ({why})"));
    }
    let codes = reading.known().map(|operation| operation.codes.as_slice()).unwrap_or_default();
    let hopeless =
        codes.iter().any(|code| NON_RETRYABLE_CODES.iter().any(|word| code.contains(word)));
    if hopeless && !context.run.is_before_step(attempt) {
        let message = format!("{} failed: {}", effect.key(), codes.join(", "));
        return Err(resumable(Reason::EffectRefused, message));
    }
    Ok(if codes.is_empty() { String::new() } else { format!(" ({})", codes.join(", ")) })
}

/// Ensures that the wedged pool is deleted. Deletes it only if it is unchanged since the snapshot.
pub(super) fn delete_pool(context: &Context<'_>) -> Progress {
    let name = context.run.pool();
    let Some(pool) = context.pool(name)? else {
        ensure_deleted_by_run(context)?;
        return Ok(vec![format!("pool {name} deleted")]);
    };
    if pool.state() == "Deleting" {
        return Err(context.wait(format!("for pool {name} to be deleted")));
    }
    if context.run.deletion().is_some() && context.on_another_set()? {
        return Ok(vec![format!(
            "pool {name} deleted; another pool with its name was created outside this run"
        )]);
    }
    // Also after an earlier intent: the process may have died before the request.
    checks::ensure_all(context, &[POOL_UNCHANGED, POOL_STATE])?;
    if pool.busy() {
        return Err(context.wait(format!("for pool {name}, which is {}", pool.state())));
    }
    verify::workloads(context, Step::DrainPool, name)?;
    Err(retry(context, delete(pool), pool))
}

pub(super) fn delete_temporary(context: &Context<'_>) -> Progress {
    let name = context.run.temporary();
    let Some(pool) = context.pool(&name)? else {
        return Ok(vec![format!("pool {name} deleted")]);
    };
    if !context.belongs_to_run(pool) {
        let message = format!("pool {name} exists but was not created by this run");
        return Err(resumable(Reason::NameTaken, message));
    }
    if pool.busy() {
        return Err(context.wait(format!("for pool {name}, which is {}", pool.state())));
    }
    verify::workloads(context, Step::DrainTemporary, &name)?;
    Err(retry(context, delete(pool), pool))
}

/// Ensures that no run ends as repaired while its temporary pool exists, regardless of the journal.
pub(super) fn ensure_temporary_deleted(context: &Context<'_>) -> Result<(), Halt> {
    let name = context.run.temporary();
    match context.pool(&name)? {
        Some(pool) if context.belongs_to_run(pool) => {
            Err(context.wait(format!("for pool {name} to be deleted")))
        }
        _ => Ok(()),
    }
}

fn delete(pool: &Pool) -> Effect {
    Effect::DeletePool { pool: pool.name.clone(), if_match: pool.etag() }
}
