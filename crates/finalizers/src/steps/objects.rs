//! Custom resources, their finalizers and their definitions.

use crate::workflow::RemovalRun as _;
use std::collections::BTreeSet;

use super::context::{Context, Halt, Objects, Progress, Unknown};
use crate::backup::Backup;
use crate::checks::operator_stopped;
use crate::effect::Effect;
use crate::observation::Object;
use crate::unreadable::unreadable;
use crate::view::Query;
use crate::workflow::{Decision, Fact};
use mooring_workflow::Reading;

/// How often an object may come back before it is left to whoever makes it.
const MAX_RETURNS: usize = 3;

/// Deletes what is not being deleted, unless it came back more often than this: whoever makes an object again does so
/// at once, and for ever.
fn deletions(cx: &Context<'_>, objects: &Objects<'_>, most: usize) -> Vec<Effect> {
    let deleted = cx.run.deleted();
    let returns = |object: &Object| {
        let uids = deleted.get(object.target.path.as_str());
        uids.map_or(0, |uids| uids.iter().filter(|uid| **uid != object.target.uid).count())
    };
    let living = objects.known.iter().filter(|object| !object.deleting && returns(object) <= most);
    living.map(|object| Effect::Delete { target: object.target.clone() }).collect()
}

fn told(what: &str, count: usize, stays: usize) -> Vec<String> {
    let mut proof = vec![format!("{count} {what}")];
    if stays > 0 {
        proof.push(format!("{stays} could not be"));
    }
    proof
}

pub(super) fn delete(cx: &Context<'_>) -> Progress {
    let objects = cx.objects()?;
    let never = cx.work(deletions(cx, &objects, 0))?;
    Ok(told("objects are gone or being deleted", deleted(cx), never.len()))
}

fn deleted(cx: &Context<'_>) -> usize {
    let attempts = cx.run.attempts.values();
    attempts.filter(|attempt| matches!(attempt.effect, Effect::Delete { .. })).count()
}

/// Only an operator that runs has a teardown to wait for.
pub(super) fn await_teardown(cx: &Context<'_>) -> Progress {
    let controllers = cx.controllers()?.unwrap_or_default();
    if !controllers.iter().any(|controller| controller.runs()) {
        return Ok(vec!["no operator runs".to_owned()]);
    }
    let objects = cx.objects()?;
    if objects.known.is_empty() {
        return Ok(vec!["the operator has removed all objects by itself".to_owned()]);
    }
    // What it makes again is deleted once it does not run any more.
    let going = objects.known.iter().any(|object| object.deleting);
    if !going || cx.lasted(cx.terms.settings.limits.teardown()) {
        return Ok(vec![format!("the operator left {} objects", objects.known.len())]);
    }
    Err(cx.wait(format!("for the operator's own teardown of {} objects", objects.known.len())))
}

pub(super) fn strip(cx: &Context<'_>) -> Progress {
    let objects = cx.objects()?;
    if objects.known.is_empty() {
        return Ok(vec!["no object is left".to_owned()]);
    }
    operator_stopped(cx)?;
    let (mut later, mut stuck) = (None, BTreeSet::new());
    let mut attempt = |effects: Vec<Effect>| match cx.work(effects) {
        Err(halt @ Halt::Decision(Decision::Apply(_))) => Err(halt),
        // What must wait does not keep the others waiting.
        Err(halt) => {
            if later.is_none() || halt == Decision::Refresh.into() {
                later = Some(halt);
            }
            Ok(())
        }
        Ok(never) => {
            stuck.extend(never.into_iter().map(|(target, _)| target.uid));
            Ok(())
        }
    };
    let again = deletions(cx, &objects, MAX_RETURNS);
    let deletable: BTreeSet<String> =
        again.iter().map(|effect| effect.target().uid.clone()).collect();
    attempt(again)?;
    let mut handled = false;
    for object in objects.known.iter().filter(|object| object.deleting) {
        match removal(cx, object)? {
            Removal::Wanted(effect) => attempt(vec![*effect])?,
            Removal::Unread(query) => return Err(Unknown::NotRead(query).into()),
            Removal::Handled => handled = true,
            Removal::None => {}
        }
    }
    if handled {
        return Err(Decision::Refresh.into());
    }
    if let Some(halt) = later {
        return Err(halt);
    }
    let hopeless = |object: &&&Object| {
        (!object.deleting && !deletable.contains(&object.target.uid))
            || stuck.contains(&object.target.uid)
            || cx.run.facts.spared.contains_key(&spared_key(object))
            || refused_for_good(cx, object)
    };
    let hoped = objects.known.iter().filter(|object| !hopeless(object)).count();
    if hoped == 0 || cx.expired() {
        return Ok(vec![format!("{} objects stay", objects.known.len())]);
    }
    Err(cx.wait(format!("for {hoped} objects to go")))
}

/// What can be done about an object's finalizers.
enum Removal {
    Wanted(Box<Effect>),
    /// The whole object must be read first.
    Unread(Query),
    /// It was done since the look.
    Handled,
    None,
}

pub(super) fn spared_key(object: &Object) -> String {
    format!("{} {}", object.target.path, object.target.uid)
}

fn strip_key(object: &Object) -> String {
    format!("strip {} {}", object.target, object.target.uid)
}

fn refused_for_good(cx: &Context<'_>, object: &Object) -> bool {
    use mooring_workflow::{EffectResult, Refusal};
    cx.run.attempts.get(&strip_key(object)).is_some_and(|attempt| {
        attempt.result.as_ref().and_then(EffectResult::refusal) == Some(Refusal::Final)
            && !cx.run.is_before_session(attempt)
    })
}

/// The removal of an object's listed finalizers, from the whole object as it is now.
fn removal(cx: &Context<'_>, object: &Object) -> Result<Removal, Halt> {
    let listed = |finalizer: &String| cx.profile().lists(finalizer);
    if !object.finalizers.iter().any(listed)
        || cx.run.facts.spared.contains_key(&spared_key(object))
    {
        return Ok(Removal::None);
    }
    if cx.is_handled(&strip_key(object)) {
        return Ok(Removal::Handled);
    }
    if refused_for_good(cx, object) {
        return Ok(Removal::None);
    }
    let path = &object.target.path;
    let whole = match cx.view.whole.get(path) {
        None => return Ok(Removal::Unread(Query::Whole(path.clone()))),
        Some(Reading::Known(whole)) => whole,
        // Gone meanwhile, or it will show at the next look.
        Some(Reading::NotFound | Reading::Failed(_)) => return Ok(Removal::None),
        Some(denied) => {
            let why = unreadable(&Query::Whole(path.clone()), denied);
            return Err(spare(object, why));
        }
    };
    // Another object of that name, or one that somebody else has just changed: the next look tells.
    let Some(now) = object.renewed(whole).filter(|now| now.deleting) else {
        return Ok(Removal::None);
    };
    let (removed, kept): (Vec<String>, Vec<String>) =
        now.finalizers.iter().cloned().partition(listed);
    if removed.is_empty() {
        return Ok(Removal::None);
    }
    match Backup::of(whole, &cx.terms.settings.journal) {
        Ok(backup) => Ok(Removal::Wanted(Box::new(Effect::Strip {
            target: now.target,
            version: now.version,
            removed,
            kept,
            backup: Box::new(backup),
        }))),
        Err(bytes) => Err(spare(
            object,
            format!(
                "its backup has {bytes} bytes, which a ConfigMap does not hold; `--journal FILE` has room for it"
            ),
        )),
    }
}

fn spare(object: &Object, why: String) -> Halt {
    Decision::Record(Box::new(Fact::Spared { key: spared_key(object), why })).into()
}

/// The whole object whose finalizers can be removed next, if nothing else is to be done first.
pub(super) fn next_whole(cx: &Context<'_>, objects: &Objects<'_>) -> Option<Query> {
    if deletions(cx, objects, MAX_RETURNS).iter().any(|effect| cx.is_due(effect)) {
        return None;
    }
    for object in objects.known.iter().filter(|object| object.deleting) {
        match removal(cx, object) {
            Ok(Removal::Unread(query)) => return Some(query),
            Ok(Removal::Wanted(effect)) if cx.is_due(&effect) => return None,
            Ok(_) => {}
            Err(_) => return None,
        }
    }
    None
}

/// A definition goes only if it is known that nothing is left of it: otherwise it would hang half deleted, and with it
/// everything that lists resources.
pub(super) fn delete_definitions(cx: &Context<'_>) -> Progress {
    let definitions = match cx.definitions()? {
        Ok(definitions) => definitions,
        Err(why) => return Ok(vec![format!("definitions stay: {why}")]),
    };
    if definitions.is_empty() {
        return Ok(vec!["no definition is left".to_owned()]);
    }
    let objects = cx.objects()?;
    let holds = |name: &str| objects.known.iter().any(|object| object.target.resource == name);
    let unknown =
        |name: &str| objects.unknown.iter().any(|(definition, _)| definition.name() == name);
    let empty: Vec<_> = definitions
        .iter()
        .filter(|definition| !holds(definition.name()) && !unknown(definition.name()))
        .collect();
    let effects = empty
        .iter()
        .filter(|definition| !definition.deleting)
        .map(|definition| Effect::Delete { target: definition.target.clone() });
    let never = cx.work(effects)?;
    let going = empty.iter().filter(|definition| definition.deleting).count();
    if going > 0 && !cx.expired() {
        return Err(cx.wait(format!("for {going} definitions to go")));
    }
    let stays = definitions.len() - empty.len() + never.len() + going;
    Ok(vec![if stays == 0 {
        "all definitions are gone".to_owned()
    } else {
        format!("{stays} definitions stay")
    }])
}
