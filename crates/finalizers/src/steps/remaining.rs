//! Objects that remain at the end, with reasons.

use super::context::{Context, NOT_PLANNED, Unknown};
use super::installation::removable;
use super::objects::spared_key;
use crate::checks::foreign;
use crate::cluster::observation::{CRDS, LiveObject};
use crate::cluster::view::Query;
use crate::operator::target::Target;
use crate::removal::effect::{Effect, why_not};
use crate::removal::workflow::{Leftover, RemovalRun as _};
use mooring_workflow::Reading;

/// Returns the remaining objects from the final reads. Failed reads count as remaining.
pub(super) fn remaining(cx: &Context<'_>) -> Result<Vec<Leftover>, Unknown> {
    let mut left = Vec::new();
    let objects = cx.objects()?;
    left.extend(objects.known.iter().map(|object| of_object(cx, object)));
    for (crd, why) in &objects.unknown {
        left.push(unknown(crd.name(), "*", why.clone()));
    }
    match cx.crds()? {
        Err(why) => left.push(unknown(CRDS, "*", why)),
        Ok(crds) => {
            for crd in crds {
                let mine = |left: &&Leftover| left.resource == crd.name();
                let why = refusal(cx, &crd.target).unwrap_or_else(|| {
                    match left.iter().filter(mine).count() {
                        0 if crd.deleting => "deletion is still in progress".to_owned(),
                        0 => "it was recreated".to_owned(),
                        _ => "it still has objects".to_owned(),
                    }
                });
                left.push(whole(&crd.target, why));
            }
        }
    }
    for name in &cx.profile().cluster_role_bindings {
        match cx.read(cx.view.bindings.get(name), Query::Binding(name.clone()))? {
            Ok(None) => {}
            Ok(Some(binding)) => left.push(of_target(cx, &binding.target)),
            Err(why) => {
                left.push(unknown("clusterrolebindings.rbac.authorization.k8s.io", name, why));
            }
        }
    }
    of_release(cx, &mut left)?;
    if let Some(name) = &cx.profile().namespace {
        match cx.read(cx.view.namespace.as_ref(), Query::Namespace)? {
            Ok(None) => {}
            Ok(Some(namespace)) => {
                let held = namespace.held_by.join("; ");
                let why = match refusal(cx, &namespace.target) {
                    Some(why) => why,
                    None if !namespace.deleting => kept_because(cx),
                    None if held.is_empty() => "deletion is still in progress".to_owned(),
                    None => format!("deletion is blocked: {held}"),
                };
                left.push(whole(&namespace.target, why));
            }
            Err(why) => left.push(unknown("namespaces", name, why)),
        }
    }
    Ok(left)
}

/// Returns why the run did not delete the namespace.
fn kept_because(cx: &Context<'_>) -> String {
    let is_unknown = cx.view.release.as_ref().is_some_and(|reading| reading.error().is_some())
        || cx.view.made.as_ref().is_some_and(|reading| reading.error().is_some());
    let contents = match cx.view.contents.as_ref() {
        _ if is_unknown => None,
        Some(Reading::Known(contents)) => foreign(contents, cx.terms.named()),
        Some(reading) => reading.error().map(|why| format!("its contents {why}")),
        None => None,
    };
    contents.map_or_else(
        || "not deleted because its release is unknown".to_owned(),
        |why| format!("not deleted because {why}"),
    )
}

fn of_release(cx: &Context<'_>, left: &mut Vec<Leftover>) -> Result<(), Unknown> {
    let Some(release) = &cx.profile().release else { return Ok(()) };
    let revisions = match cx.read(cx.view.release.as_ref(), Query::Release)? {
        Ok(revisions) => revisions.map(Vec::as_slice).unwrap_or_default(),
        Err(why) => {
            let name = format!("sh.helm.release.v1.{}.*", release.name);
            let namespace = release.namespace.clone();
            left.push(Leftover { namespace, ..unknown("secrets", &name, why) });
            return Ok(());
        }
    };
    let made = match cx.read(cx.view.made.as_ref(), Query::ReleaseObject)? {
        Ok(made) => made.map(Vec::as_slice).unwrap_or_default(),
        Err(why) => {
            left.push(unknown("*", &format!("resources of release {}", release.name), why));
            &[]
        }
    };
    left.extend(removable(cx, made).map(|one| of_target(cx, &one.target)));
    for revision in revisions {
        let why = refusal(cx, &revision.target)
            .unwrap_or_else(|| "it lists what remains of its release".to_owned());
        left.push(whole(&revision.target, why));
    }
    Ok(())
}

fn unknown(resource: &str, name: &str, why: String) -> Leftover {
    let (resource, name) = (resource.to_owned(), name.to_owned());
    Leftover { resource, namespace: None, name, why, finalizers: Vec::new() }
}

fn whole(target: &Target, why: String) -> Leftover {
    let namespace = target.namespace.clone();
    Leftover { namespace, ..unknown(&target.resource, &target.name, why) }
}

fn of_target(cx: &Context<'_>, target: &Target) -> Leftover {
    let why = refusal(cx, target).unwrap_or_else(|| match times_deleted(cx, target) {
        0 | 1 => "deletion is still in progress".to_owned(),
        times => came_back(times),
    });
    whole(target, why)
}

fn times_deleted(cx: &Context<'_>, target: &Target) -> usize {
    cx.run.deleted().get(target.path.as_str()).map_or(0, std::collections::BTreeSet::len)
}

fn came_back(times: usize) -> String {
    format!("recreated after {times} deletions; something is recreating it")
}

fn of_object(cx: &Context<'_>, object: &LiveObject) -> Leftover {
    let (listed, foreign): (Vec<&String>, Vec<&String>) =
        object.finalizers.iter().partition(|finalizer| cx.profile().lists(finalizer));
    let times = times_deleted(cx, &object.target);
    let why = if let Some(why) = cx.run.facts.spared.get(&spared_key(object)) {
        why.clone()
    } else if let Some(why) = refusal(cx, &object.target) {
        why
    } else if times > 1 {
        came_back(times)
    } else if !foreign.is_empty() {
        let owners: Vec<String> = foreign.iter().map(|finalizer| owner(cx, finalizer)).collect();
        format!("blocked by finalizers not listed in the profile: {}", owners.join("; "))
    } else if !object.deleting {
        "created after the others were deleted".to_owned()
    } else if listed.is_empty() {
        "deletion is still in progress".to_owned()
    } else {
        "timed out removing its finalizers".to_owned()
    };
    Leftover { finalizers: object.finalizers.clone(), ..whole(&object.target, why) }
}

/// Describes a finalizer and its possible owner.
fn owner(cx: &Context<'_>, finalizer: &str) -> String {
    let who = match finalizer {
        "foregroundDeletion" | "orphan" => {
            "the garbage collector of kube-controller-manager".to_owned()
        }
        other => match other.split_once('/') {
            None => "an unknown controller".to_owned(),
            Some((domain, _))
                if domain == "kubernetes.io"
                    || domain.ends_with(".kubernetes.io")
                    || domain.ends_with(".k8s.io") =>
            {
                "a controller of Kubernetes".to_owned()
            }
            Some((domain, _)) => {
                let all = cx.view.crds.as_ref().and_then(mooring_workflow::Reading::known);
                let served = all.into_iter().flatten().any(|one| one.group == domain);
                let installed = if served {
                    "whose API is installed here"
                } else {
                    "whose API is not installed here"
                };
                format!("the controller of {domain}, {installed}")
            }
        },
    };
    format!("{finalizer} ({who})")
}

/// Returns the reason why the last effect on this object failed, or why there was none.
fn refusal(cx: &Context<'_>, target: &Target) -> Option<String> {
    let is_removal = |effect: &Effect| {
        let own = effect.target();
        own.uid == target.uid
            && own.path == target.path
            && !matches!(effect, Effect::ScaleDown { .. })
    };
    let attempts = cx.run.attempts.values().filter(|attempt| is_removal(&attempt.effect));
    let last = attempts.max_by_key(|attempt| attempt.seq);
    let failed = last.and_then(|last| why_not(&last.effect, last.result.as_ref()?));
    failed.or_else(|| (!cx.terms.covers(target)).then(|| NOT_PLANNED.to_owned()))
}
