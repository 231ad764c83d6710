//! Rolls back a run as far as possible.

use super::drain;
use crate::checks::PROPAGATION_TIMEOUT;
use crate::plan::Step;
use crate::workflow::effects::Effect;
use crate::workflow::{Attempt, Context, Halt, Reason, RepairRun as _, Unknown, resumable};
use mooring_workflow::plural::counted;

/// Returns what remains after the rollback.
pub(super) fn roll_back(context: &Context<'_>) -> Result<Vec<String>, Halt> {
    let name = context.run.pool();
    ensure_not_deleted(context)?;
    let mut left = context.run.losses_with_abort();
    for node in context.nodes_of(name)? {
        if node.unschedulable && context.run.facts.cordoned.contains(&node.name) {
            return Err(context.effect(Effect::uncordon(node)));
        }
    }
    if context.pool(name)?.is_none() {
        left.push(format!(
            "pool {name} was deleted outside this run; the plan in the journal has its configuration"
        ));
    }
    remove_temporary(context, &mut left)?;
    Ok(left)
}

/// Ensures that this run did not delete the pool, which cannot be rolled back.
pub(super) fn ensure_not_deleted(context: &Context<'_>) -> Result<(), Halt> {
    let name = context.run.pool();
    let deletion = context.run.deletion();
    let pool = context.pool(name)?;
    if pool.is_none() && deletion.is_none() {
        return Ok(());
    }
    let goes = pool.is_none_or(|pool| pool.state() == "Deleting");
    let recreated = !goes && deletion.is_some() && context.on_another_set()?;
    if goes || recreated {
        let how = if recreated {
            "was deleted and recreated"
        } else {
            "was deleted, or is being deleted"
        };
        let message = format!("pool {name} {how}; rollback is not possible, run `resume`");
        return Err(resumable(Reason::NotUndoable, message));
    }
    if deletion.is_some_and(|attempt| is_recent(context, attempt)) {
        return Err(context.wait(format!("for the deletion of pool {name} to be accepted")));
    }
    Ok(())
}

/// Returns true if the effect of an attempt may not be visible yet. Attempts from before the abort, possibly by the clock
/// of another host, count from its start. A time in the future is that of a clock that was ahead.
fn is_recent(context: &Context<'_>, attempt: &Attempt) -> bool {
    let since =
        if context.run.is_before_step(attempt) { context.run.session_since() } else { attempt.at };
    since <= context.now && context.now.duration_since(since) < PROPAGATION_TIMEOUT
}

/// Waits while the result of a creation may not be visible yet.
fn ensure_creation_settled(context: &Context<'_>, name: &str) -> Result<(), Halt> {
    match context.run.attempt(&Effect::key_of_put(name)) {
        Some(put)
            if put.may_have_happened()
                && !context.run.has_done(Step::CreateTemporary)
                && !context.run.attempts.contains_key(&Effect::key_of_deletion(name))
                && is_recent(context, put) =>
        {
            Err(context.wait(format!("for pool {name}, whose creation may have been accepted")))
        }
        _ => Ok(()),
    }
}

/// Returns the reason why the cluster needs the temporary pool.
fn needed(context: &Context<'_>, name: &str) -> Result<Option<String>, Unknown> {
    let running = drain::evictable_pods(context, name)?.len();
    if running > 0 {
        return Ok(Some(format!("it runs {}", counted(running, "pod"))));
    }
    if !context.nodes_of(name)?.iter().any(|node| node.ready) {
        return Ok(None);
    }
    for other in context.pools()?.iter().filter(|pool| pool.is_system() && pool.name != name) {
        if context.nodes_of(&other.name)?.iter().any(|node| node.usable()) {
            return Ok(None);
        }
    }
    Ok(Some("no other System pool has a Ready, schedulable node".to_owned()))
}

fn remove_temporary(context: &Context<'_>, left: &mut Vec<String>) -> Result<(), Halt> {
    let name = context.run.temporary();
    let Some(pool) = context.pool(&name)? else { return ensure_creation_settled(context, &name) };
    if !context.belongs_to_run(pool) {
        left.push(format!("pool {name} was kept: its tags name another run or plan"));
        return Ok(());
    }
    if pool.busy() {
        return Err(context.wait(format!("for pool {name}, which is {}", pool.state())));
    }
    let nodes = context.nodes_of(&name)?;
    if let Some(why) = needed(context, &name)? {
        if let Some(node) = nodes.iter().find(|node| node.unschedulable) {
            return Err(context.effect(Effect::uncordon(node)));
        }
        left.push(format!("pool {name} was kept: {why}"));
        return Ok(());
    }
    // Cordon first, so that no pod is scheduled between the check and the deletion.
    if let Some(node) = nodes.iter().find(|node| !node.unschedulable) {
        return Err(context.effect(Effect::cordon(node)));
    }
    Err(context.effect(Effect::DeletePool { pool: name, if_match: pool.etag() }))
}
