//! Reads of each step, as far as the view shows them.

use super::context::Context;
use super::installation::next_backup;
use super::objects::next_whole;
use crate::cluster::observation::OperatorWorkload;
use crate::cluster::view::{OperatorView, Query, known};
use crate::operator::profile::Profile;
use crate::removal::step::Step;
use mooring_workflow::Reading;

pub(super) fn of_step(cx: &Context<'_>) -> Vec<Query> {
    let (view, profile) = (cx.view, cx.profile());
    match cx.run.step() {
        None => {
            let contents = profile.namespace.is_some().then_some(Query::Contents);
            [objects(view, profile), installation(profile), contents.into_iter().collect()].concat()
        }
        Some(Step::DeleteObjects | Step::DeleteCrds) => {
            [objects(view, profile), signs(cx)].concat()
        }
        Some(Step::WaitForTeardown) => {
            let mut reads = vec![Query::Controllers];
            if known(view.controllers.as_ref()).iter().any(OperatorWorkload::runs) {
                reads.extend(objects(view, profile));
            }
            reads
        }
        Some(Step::ScaleDown) => vec![Query::Controllers],
        Some(Step::RemoveFinalizers) => finalizers(cx),
        Some(Step::DeleteBindings) => [bindings(profile), signs(cx)].concat(),
        Some(Step::DeleteRelease) => [release(profile), signs(cx)].concat(),
        Some(Step::DeleteNamespace) if profile.namespace.is_some() => namespace(cx),
        Some(Step::DeleteNamespace | Step::Verify) => Vec::new(),
    }
}

/// Returns all reads of a profile and of the signs of its operator, except whole objects.
pub(crate) fn everything(view: &OperatorView, profile: &Profile) -> Vec<Query> {
    let signs = vec![Query::Controllers, Query::Leases, Query::Events, Query::Webhooks];
    let contents = profile.namespace.is_some().then_some(Query::Contents);
    [objects(view, profile), signs, installation(profile), contents.into_iter().collect()].concat()
}

fn objects(view: &OperatorView, profile: &Profile) -> Vec<Query> {
    if profile.groups.is_empty() {
        return Vec::new();
    }
    let served = known(view.crds.as_ref())
        .iter()
        .filter(|one| profile.has_group(&one.group) && one.version.is_some());
    let lists = served.map(|one| Query::Objects(Box::new(one.clone())));
    [Query::Crds].into_iter().chain(lists).collect()
}

/// Whole objects are large: the next one is read once nothing else is due.
fn finalizers(cx: &Context<'_>) -> Vec<Query> {
    let mut reads = objects(cx.view, cx.profile());
    let Ok(objects) = cx.objects() else { return reads };
    if objects.known.is_empty() {
        return reads;
    }
    reads.extend(signs(cx));
    if cx.ensure_operator_stopped().is_ok() {
        reads.extend(next_whole(cx, &objects));
    }
    reads
}

/// Returns the reads of [`Context::ensure_operator_stopped`].
fn signs(cx: &Context<'_>) -> Vec<Query> {
    let leases = (!cx.terms.ignores_operator()).then_some(Query::Leases);
    [Query::Controllers].into_iter().chain(leases).collect()
}

/// The contents are read last, right before the namespace is deleted, and then the next one without a backup.
fn namespace(cx: &Context<'_>) -> Vec<Query> {
    let mut reads = release(cx.profile());
    reads.push(Query::Namespace);
    let found = cx.view.namespace.as_ref().and_then(Reading::known);
    if found.is_some_and(|namespace| !namespace.deleting) {
        reads.extend(signs(cx));
        reads.push(Query::Contents);
        reads.extend(next_backup(cx).map(|target| Query::Whole(target.path.clone())));
    }
    reads
}

fn installation(profile: &Profile) -> Vec<Query> {
    let namespace = profile.namespace.is_some().then_some(Query::Namespace);
    [bindings(profile), release(profile), namespace.into_iter().collect()].concat()
}

fn bindings(profile: &Profile) -> Vec<Query> {
    profile.cluster_role_bindings.iter().cloned().map(Query::Binding).collect()
}

fn release(profile: &Profile) -> Vec<Query> {
    let release = profile.release.as_ref();
    release.map_or_else(Vec::new, |_| vec![Query::Release, Query::ReleaseObject])
}
