//! Undoing what can be undone, and saying what cannot.

use super::context::{Context, Halt, Unknown, resumable};
use super::drain;
use crate::checks::LATE;
use crate::effects::Effect;
use crate::plan::Step;
use crate::workflow::Attempt;
use crate::workflow::Reason;
use crate::workflow::RepairRun as _;
use mooring_workflow::plural::counted;

/// What stays behind once everything is undone that can be.
pub(super) fn roll_back(context: &Context<'_>) -> Result<Vec<String>, Halt> {
    let name = context.run.pool();
    ensure_not_deleted(context)?;
    let mut left = context.run.losses_with_abort();
    for node in context.nodes_of(name)? {
        if node.unschedulable && context.run.facts.cordoned.contains(&node.name) {
            let effect = Effect::Uncordon { node: node.name.clone(), uid: node.uid.clone() };
            return Err(context.effect(effect));
        }
    }
    if context.pool(name)?.is_none() {
        left.push(format!(
            "pool {name} was deleted outside this run; the plan in the journal has its description"
        ));
    }
    remove_temporary(context, &mut left)?;
    Ok(left)
}

/// The pool was not deleted by this run: what a deletion has begun nobody can undo.
pub(super) fn ensure_not_deleted(context: &Context<'_>) -> Result<(), Halt> {
    let name = context.run.pool();
    let deletion = context.run.deletion();
    let pool = context.pool(name)?;
    if pool.is_none() && deletion.is_none() {
        return Ok(());
    }
    let goes = pool.is_none_or(|pool| pool.state() == "Deleting");
    let made_again = !goes && deletion.is_some() && context.on_another_set()?;
    if goes || made_again {
        let how =
            if made_again { "was deleted and made again" } else { "was deleted, or is being so" };
        let message = format!("pool {name} {how}; only `resume` leads on from here");
        return Err(resumable(Reason::NotUndoable, message));
    }
    if deletion.is_some_and(|attempt| is_recent(context, attempt)) {
        return Err(
            context.wait(format!("to see whether the deletion of pool {name} was accepted"))
        );
    }
    Ok(())
}

/// True if what was tried could still show. What was tried before the abort began may have been so by another
/// machine's clock: it counts from that beginning. A time in the future is of a clock that was ahead.
fn is_recent(context: &Context<'_>, attempt: &Attempt) -> bool {
    let since =
        if context.run.is_before_step(attempt) { context.run.session_since() } else { attempt.at };
    since <= context.now && context.now.duration_since(since) < LATE
}

/// Waits while a creation that may have been accepted could still show.
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

/// Why the cluster needs the temporary pool.
fn needed(context: &Context<'_>, name: &str) -> Result<Option<String>, Unknown> {
    let carried = drain::evictable_pods(context, name)?.len();
    if carried > 0 {
        return Ok(Some(format!("it carries {}", counted(carried, "pod"))));
    }
    if !context.nodes_of(name)?.iter().any(|node| node.ready) {
        return Ok(None);
    }
    for other in context.pools()?.iter().filter(|pool| pool.is_system() && pool.name != name) {
        if context.nodes_of(&other.name)?.iter().any(|node| node.usable()) {
            return Ok(None);
        }
    }
    Ok(Some("no other System pool has a usable node".to_owned()))
}

/// Deletes the temporary pool if nothing needs it.
fn remove_temporary(context: &Context<'_>, left: &mut Vec<String>) -> Result<(), Halt> {
    let name = context.run.temporary();
    let Some(pool) = context.pool(&name)? else { return ensure_creation_settled(context, &name) };
    if !context.belongs_to_run(pool) {
        left.push(format!("pool {name} stays: its tags name another run or plan"));
        return Ok(());
    }
    if pool.busy() {
        return Err(context.wait(format!("for pool {name}, which is {}", pool.state())));
    }
    let nodes = context.nodes_of(&name)?;
    if let Some(why) = needed(context, &name)? {
        if let Some(node) = nodes.iter().find(|node| node.unschedulable) {
            let effect = Effect::Uncordon { node: node.name.clone(), uid: node.uid.clone() };
            return Err(context.effect(effect));
        }
        left.push(format!("pool {name} stays: {why}"));
        return Ok(());
    }
    // Cordon before deleting, so that nothing moves in between the look and the deed.
    if let Some(node) = nodes.iter().find(|node| !node.unschedulable) {
        let effect = Effect::Cordon { node: node.name.clone(), uid: node.uid.clone() };
        return Err(context.effect(effect));
    }
    let effect = Effect::DeletePool { pool: name, if_match: pool.etag() };
    Err(context.effect(effect))
}
