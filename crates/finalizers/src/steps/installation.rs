//! The operator, its bindings, its release and its namespace.

use super::context::{Context, Halt, Progress, Unknown, stop};
use crate::checks::foreign;
use crate::cluster::contents::{Contents, Standing};
use crate::cluster::helm::{ReleaseObject, Revision};
use crate::cluster::observation::OperatorWorkload;
use crate::cluster::view::Query;
use crate::operator::profile::ReleaseResources;
use crate::operator::target::Target;
use crate::removal::backup::SavedObject;
use crate::removal::effect::Effect;
use crate::removal::workflow::{Decision, Fact, Reason};
use mooring_workflow::Reading;
use mooring_workflow::plural::counted;

/// Scales the operator to zero if requested.
pub(super) fn scale_down(cx: &Context<'_>) -> Progress {
    let controllers = match cx.controllers()? {
        Ok(controllers) => controllers,
        Err(why) => return Ok(vec![format!("unknown: {why}")]),
    };
    let running: Vec<_> = controllers.into_iter().filter(|controller| controller.runs()).collect();
    if running.is_empty() {
        return Ok(vec!["no running operator".to_owned()]);
    }
    if !cx.terms.settings.scale_down {
        let message = format!("the operator is running ({})", running[0].target);
        return Err(stop(Reason::OperatorRuns, message));
    }
    let covered = |one: &&&OperatorWorkload| one.is_scalable() && cx.terms.covers(&one.target);
    if let Some(other) = running.iter().find(|one| !covered(one)) {
        let message =
            format!("the operator is running ({}) and cannot be scaled down there", other.target);
        return Err(stop(Reason::OperatorRuns, message));
    }
    let wanted = running.iter().filter(|controller| controller.wanted > 0);
    let effects = wanted.map(|controller| Effect::ScaleDown {
        target: controller.target.clone(),
        replicas: controller.wanted,
    });
    let never = cx.work(effects)?;
    if let Some((target, why)) = never.first() {
        let message = format!("{target} cannot be scaled down: {why}");
        return Err(stop(Reason::OperatorRuns, message));
    }
    if cx.expired() {
        let message = format!("the pods of {} do not terminate", running[0].target);
        return Err(stop(Reason::OperatorRuns, message));
    }
    Err(cx.wait("for the operator's pods to terminate".to_owned()))
}

pub(super) fn bindings(cx: &Context<'_>) -> Progress {
    let mut effects = Vec::new();
    let mut unknown = 0;
    for name in &cx.profile().cluster_role_bindings {
        match cx.read(cx.view.bindings.get(name), Query::Binding(name.clone()))? {
            Ok(found) => effects
                .extend(found.map(|binding| Effect::Delete { target: binding.target.clone() })),
            Err(_) => unknown += 1,
        }
    }
    let never = cx.work(effects)?;
    let stays = never.len() + unknown;
    Ok(vec![if stays == 0 {
        "no ClusterRoleBinding remains".to_owned()
    } else {
        format!("{stays} ClusterRoleBindings remain")
    }])
}

/// Returns the objects of the release that are deleted.
pub(super) fn removable<'a>(
    cx: &Context<'_>,
    made: &'a [ReleaseObject],
) -> impl Iterator<Item = &'a ReleaseObject> + use<'a> {
    let release = cx.profile().release.as_ref();
    let wanted = release.is_some_and(|release| release.resources == ReleaseResources::Delete);
    made.iter().filter(move |one| wanted && one.goes())
}

pub(super) fn release(cx: &Context<'_>) -> Progress {
    if cx.profile().release.is_none() {
        return Ok(vec!["the profile has no release".to_owned()]);
    }
    let revisions = match cx.read(cx.view.release.as_ref(), Query::Release)? {
        Ok(revisions) => revisions.map(Vec::as_slice).unwrap_or_default(),
        Err(why) => return Ok(vec![format!("the release is unknown: {why}")]),
    };
    if revisions.is_empty() {
        return Ok(vec!["no release remains".to_owned()]);
    }
    let made = match cx.read(cx.view.made.as_ref(), Query::ReleaseObject)? {
        Ok(made) => made.map(Vec::as_slice).unwrap_or_default(),
        Err(why) => return Ok(vec![format!("the resources of the release are unknown: {why}")]),
    };
    let living = removable(cx, made).filter(|one| !one.deleting);
    let effects = living.map(|one| Effect::Delete { target: one.target.clone() });
    let never = cx.work(effects)?;
    let going = removable(cx, made).filter(|one| one.deleting).count();
    if going > 0 && !cx.expired() {
        return Err(cx.wait(format!("for {going} resources of the release to be deleted")));
    }
    // The latest record lists what remains, so it is kept.
    let keep = usize::from(!never.is_empty() || going > 0);
    let mut oldest_first: Vec<&Revision> = revisions.iter().collect();
    oldest_first.sort_by_key(|revision| revision.revision);
    oldest_first.truncate(revisions.len() - keep);
    let effects =
        oldest_first.iter().map(|revision| Effect::Delete { target: revision.target.clone() });
    let stays = cx.work(effects)?.len() + keep;
    Ok(vec![if stays == 0 {
        "no release remains".to_owned()
    } else {
        format!("remaining: {} of the release", counted(stays, "record"))
    }])
}

/// Ensures that the operator is gone, that the namespace has nothing but what the plan names, and that the journal has a copy
/// of it.
fn contents_planned(cx: &Context<'_>) -> Result<Result<(), String>, Halt> {
    cx.ensure_operator_stopped()?;
    let contents = match cx.read(cx.view.contents.as_ref(), Query::Contents)? {
        Ok(contents) => contents,
        Err(why) => return Ok(Err(why)),
    };
    let Some(contents) = contents else { return Ok(Ok(())) };
    if let Some(why) = foreign(contents, cx.terms.named()) {
        // What the run deleted may take a while to be gone.
        return if cx.expired() { Ok(Err(why)) } else { Err(cx.wait(format!("because {why}"))) };
    }
    let Some(target) = next_backup(cx) else {
        // The copies took time: all of it is read again right before the deletion.
        return if cx.run.seq > cx.view_seq { Err(Decision::Refresh.into()) } else { Ok(Ok(())) };
    };
    let unread = || Unknown::NotRead(Query::Whole(target.path.clone()));
    let whole = cx.view.whole.get(&target.path).ok_or_else(unread)?;
    let same = |whole: &&serde_json::Value| whole["metadata"]["uid"] == target.uid.as_str();
    let backup = whole.known().filter(same).and_then(|whole| SavedObject::backup(whole).ok());
    let key = saved_key(target);
    Err(Decision::Record(Box::new(Fact::Saved { key, backup })).into())
}

fn saved_key(target: &Target) -> String {
    format!("{} {}", target.path, target.uid)
}

/// Returns the next object of the namespace without a copy. A copy of a Secret would be one of its data, and what another
/// object controls is made again from that.
pub(super) fn next_backup<'a>(cx: &Context<'a>) -> Option<&'a Target> {
    let contents: &Contents = cx.view.contents.as_ref().and_then(Reading::known)?;
    let standings = contents.standings(cx.terms.named(), None);
    let mut next = standings.into_iter().filter(|(one, standing)| {
        *standing == Standing::Named
            && !one.deleting
            && one.controller.is_none()
            && one.target.resource != "secrets"
            && !cx.run.facts.saved.contains(&saved_key(&one.target))
    });
    next.next().map(|(one, _)| &one.target)
}

pub(super) fn namespace(cx: &Context<'_>) -> Progress {
    if cx.profile().namespace.is_none() {
        return Ok(vec!["the profile has no namespace".to_owned()]);
    }
    // The namespace has the only record of the release's resources outside it.
    if cx.profile().release.is_some()
        && let Err(why) = cx.read(cx.view.release.as_ref(), Query::Release)?
    {
        return Ok(vec![format!("the namespace was kept because its release is unknown: {why}")]);
    }
    if cx.profile().release.is_some()
        && let Err(why) = cx.read(cx.view.made.as_ref(), Query::ReleaseObject)?
    {
        return Ok(vec![format!(
            "the namespace was kept because the resources of its release are unknown: {why}"
        )]);
    }
    let found = match cx.read(cx.view.namespace.as_ref(), Query::Namespace)? {
        Ok(None) => return Ok(vec!["the namespace was deleted".to_owned()]),
        Ok(Some(namespace)) => namespace,
        Err(why) => return Ok(vec![format!("the namespace is unknown: {why}")]),
    };
    if !found.deleting
        && let Err(why) = contents_planned(cx)?
    {
        return Ok(vec![format!("the namespace was kept: {why}")]);
    }
    let effect = Effect::Delete { target: found.target.clone() };
    let never = cx.work((!found.deleting).then_some(effect))?;
    if !never.is_empty() || cx.expired() {
        return Ok(vec!["the namespace was kept".to_owned()]);
    }
    let why = found.held_by.first().map(|held| format!(" ({held})")).unwrap_or_default();
    Err(cx.wait(format!("for the namespace to be deleted{why}")))
}
