//! Custom resources, their finalizers and their CRDs.

use std::collections::BTreeSet;

use super::context::{Context, Halt, Objects, Progress, Unknown};
use crate::cluster::observation::LiveObject;
use crate::cluster::unreadable::unreadable;
use crate::cluster::view::Query;
use crate::removal::backup::SavedObject;
use crate::removal::effect::Effect;
use crate::removal::workflow::{Decision, Fact};
use mooring_workflow::Reading;

fn deletions(objects: &Objects<'_>) -> Vec<Effect> {
    let living = objects.known.iter().filter(|object| !object.deleting);
    living.map(|object| Effect::Delete { target: object.target.clone() }).collect()
}

fn evidence(what: &str, count: usize, stays: usize) -> Vec<String> {
    let mut evidence = vec![format!("{count} {what}")];
    if stays > 0 {
        evidence.push(format!("{stays} could not be deleted"));
    }
    evidence
}

pub(super) fn delete(cx: &Context<'_>) -> Progress {
    let objects = cx.objects()?;
    let never = cx.work(deletions(&objects))?;
    Ok(evidence("objects are deleted or being deleted", deleted(cx), never.len()))
}

fn deleted(cx: &Context<'_>) -> usize {
    let attempts = cx.run.attempts.values();
    attempts.filter(|attempt| matches!(attempt.effect, Effect::Delete { .. })).count()
}

/// Waits for the teardown of a running operator.
pub(super) fn wait_for_teardown(cx: &Context<'_>) -> Progress {
    let controllers = cx.controllers()?.unwrap_or_default();
    if !controllers.iter().any(|controller| controller.runs()) {
        return Ok(vec!["no running operator".to_owned()]);
    }
    let objects = cx.objects()?;
    if objects.known.is_empty() {
        return Ok(vec!["the operator removed all objects".to_owned()]);
    }
    // Recreated objects are deleted once it has stopped.
    let going = objects.known.iter().any(|object| object.deleting);
    if !going || cx.lasted(cx.terms.settings.limits.teardown()) {
        return Ok(vec![format!("the operator left {} objects", objects.known.len())]);
    }
    Err(cx.wait(format!("for the operator to remove {} objects", objects.known.len())))
}

pub(super) fn strip(cx: &Context<'_>) -> Progress {
    let objects = cx.objects()?;
    if objects.known.is_empty() {
        return Ok(vec!["no object remains".to_owned()]);
    }
    cx.ensure_operator_stopped()?;
    let (mut later, mut stuck) = (None, BTreeSet::new());
    let mut attempt = |effects: Vec<Effect>| match cx.work(effects) {
        Err(halt @ Halt::Decision(Decision::Apply(_))) => Err(halt),
        // A wait does not delay other objects.
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
    attempt(deletions(&objects))?;
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
    let hopeless = |object: &&&LiveObject| {
        stuck.contains(&object.target.uid)
            || cx.run.facts.spared.contains_key(&spared_key(object))
            || refused_for_good(cx, object)
    };
    let hoped = objects.known.iter().filter(|object| !hopeless(object)).count();
    if hoped == 0 || cx.expired() {
        return Ok(vec![format!("{} objects remain", objects.known.len())]);
    }
    Err(cx.wait(format!("for {hoped} objects to be deleted")))
}

enum Removal {
    Wanted(Box<Effect>),
    Unread(Query),
    /// Done since the last read.
    Handled,
    None,
}

pub(super) fn spared_key(object: &LiveObject) -> String {
    format!("{} {}", object.target.path, object.target.uid)
}

fn strip_key(object: &LiveObject) -> String {
    format!("strip {} {}", object.target, object.target.uid)
}

fn refused_for_good(cx: &Context<'_>, object: &LiveObject) -> bool {
    use mooring_workflow::{EffectResult, Refusal};
    cx.run.attempts.get(&strip_key(object)).is_some_and(|attempt| {
        attempt.result.as_ref().and_then(EffectResult::refusal) == Some(Refusal::Final)
            && !cx.run.is_before_session(attempt)
    })
}

/// Returns the removal of an object's listed finalizers, from its current state.
fn removal(cx: &Context<'_>, object: &LiveObject) -> Result<Removal, Halt> {
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
        // Deleted since, or the next read shows it.
        Some(Reading::NotFound | Reading::Failed(_)) => return Ok(Removal::None),
        Some(denied) => {
            let why = unreadable(&Query::Whole(path.clone()), denied);
            return Err(spare(object, why));
        }
    };
    // Replaced or changed since: the next read shows it.
    let Some(now) = object.renewed(whole).filter(|now| now.deleting) else {
        return Ok(Removal::None);
    };
    let (removed, kept): (Vec<String>, Vec<String>) =
        now.finalizers.iter().cloned().partition(listed);
    if removed.is_empty() {
        return Ok(Removal::None);
    }
    match SavedObject::backup(whole) {
        Ok(backup) => Ok(Removal::Wanted(Box::new(Effect::Strip {
            target: now.target,
            version: now.version,
            removed,
            kept,
            backup,
        }))),
        Err(bytes) => {
            Err(spare(object, format!("its backup ({bytes} bytes) does not fit into a ConfigMap")))
        }
    }
}

fn spare(object: &LiveObject, why: String) -> Halt {
    Decision::Record(Box::new(Fact::Spared { key: spared_key(object), why })).into()
}

/// Returns the next whole object to read, if nothing else is due.
pub(super) fn next_whole(cx: &Context<'_>, objects: &Objects<'_>) -> Option<Query> {
    if deletions(objects).iter().any(|effect| cx.is_due(effect)) {
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

/// Deletes CRDs that are known to have no objects: others would hang in deletion, and block everything that lists resources.
pub(super) fn delete_crds(cx: &Context<'_>) -> Progress {
    let crds = match cx.crds()? {
        Ok(crds) => crds,
        Err(why) => return Ok(vec![format!("CRDs were kept: {why}")]),
    };
    if crds.is_empty() {
        return Ok(vec!["no CRD remains".to_owned()]);
    }
    let objects = cx.objects()?;
    let holds = |name: &str| objects.known.iter().any(|object| object.target.resource == name);
    let unknown = |name: &str| objects.unknown.iter().any(|(crd, _)| crd.name() == name);
    let empty: Vec<_> =
        crds.iter().filter(|crd| !holds(crd.name()) && !unknown(crd.name())).collect();
    let effects = empty
        .iter()
        .filter(|crd| !crd.deleting)
        .map(|crd| Effect::Delete { target: crd.target.clone() });
    let never = cx.work(effects)?;
    let going = empty.iter().filter(|crd| crd.deleting).count();
    if going > 0 && !cx.expired() {
        return Err(cx.wait(format!("for {going} CRDs to be deleted")));
    }
    let stays = crds.len() - empty.len() + never.len() + going;
    Ok(vec![if stays == 0 {
        "all CRDs were deleted".to_owned()
    } else {
        format!("{stays} CRDs remain")
    }])
}
