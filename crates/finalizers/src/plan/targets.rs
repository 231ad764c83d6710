//! Planned objects, and known targets of each step.

use std::collections::BTreeMap;

use mooring_workflow::plural::counted;
use serde::Serialize;

use crate::cluster::{OperatorView, Unread, all};
use crate::objects::{Namespace, Object, Target, Workload};
use crate::profile::{Profile, Settings};
use crate::step::Step;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlannedStep {
    pub number: usize,
    pub name: Step,
    pub what: &'static str,
    pub targets: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlannedObject {
    #[serde(flatten)]
    pub object: Object,
    /// Finalizers to remove once it is being deleted.
    #[serde(rename = "removedFinalizers")]
    pub strip: Vec<String>,
    /// Finalizers that are kept, and with them the object.
    #[serde(rename = "keptFinalizers")]
    pub keep: Vec<String>,
}

type Targets = BTreeMap<Step, Vec<String>>;

fn namespace(view: &OperatorView) -> Option<&Namespace> {
    view.namespace.get()?.as_ref().ok()?.as_ref()
}

fn running(view: &OperatorView) -> impl Iterator<Item = &Workload> {
    all(&view.workloads).iter().filter(|one| one.runs())
}

/// Returns all objects that a run may change, by path.
pub(super) fn covered(
    view: &OperatorView,
    settings: &Settings,
    objects: &[PlannedObject],
) -> Vec<Target> {
    let mut targets: Vec<&Target> = objects.iter().map(|one| &one.object.target).collect();
    targets.extend(view.objects().iter().map(|(crd, _)| &crd.target));
    targets.extend(
        view.bindings().iter().filter_map(|(_, read)| Some(&read.as_ref().ok()?.as_ref()?.target)),
    );
    targets.extend(all(&view.revisions).iter().map(|one| &one.target));
    let made = all(&view.made).iter();
    let made = made.filter(|one| one.goes_with_release(&settings.profile));
    targets.extend(made.map(|one| &one.target));
    targets.extend(namespace(view).map(|one| &one.target));
    targets.extend(running(view).filter(|one| one.is_scalable_by(settings)).map(|one| &one.target));
    targets.sort_by_key(|target| (&target.path, &target.uid));
    targets.into_iter().cloned().collect()
}

pub(super) fn targets(
    view: &OperatorView,
    profile: &Profile,
    objects: &[PlannedObject],
    notes: &mut Vec<String>,
) -> Targets {
    let mut targets = Targets::new();
    let mut add = |step: Step, target: String| targets.entry(step).or_default().push(target);
    for object in objects {
        let target = &object.object.target;
        if !object.object.deleting {
            add(Step::DeleteObjects, target.to_string());
        }
        if !object.strip.is_empty() {
            add(Step::RemoveFinalizers, format!("{target}: {}", object.strip.join(", ")));
        }
    }
    let orphans = objects.iter().filter(|object| !object.strip.is_empty()).count();
    if orphans > 0 {
        notes.push(format!(
            "what the operator made outside the cluster for {} stays behind: only the operator could delete it",
            counted(orphans, "object")
        ));
    }
    let held = objects.iter().filter(|object| !object.keep.is_empty()).count();
    if held > 0 {
        notes
            .push(format!("{held} objects have finalizers not listed in the profile and are kept"));
    }
    for workload in running(view) {
        if !objects.is_empty() {
            add(Step::WaitForTeardown, workload.target.to_string());
        }
        add(Step::ScaleDown, workload.target.to_string());
    }
    for (crd, _) in view.objects() {
        match &crd.version {
            Some(_) => add(Step::DeleteCrds, crd.name().to_owned()),
            None => notes.push(format!("{}: {}", crd.name(), Unread::NotServed)),
        }
    }
    for binding in view.bindings().iter().filter_map(|(_, read)| read.as_ref().ok()?.as_ref()) {
        add(Step::DeleteBindings, format!("{} ({})", binding.target, binding.grants));
    }
    for one in all(&view.made) {
        if one.goes_with_release(profile) {
            add(Step::DeleteRelease, one.target.to_string());
        } else if !one.is_of_release(profile) || !profile.deletes_release() {
            notes.push(format!("{} is in the manifest of the release and is kept", one.target));
        }
    }
    for revision in all(&view.revisions) {
        let chart = revision.chart.as_deref().unwrap_or("its payload cannot be read");
        let (target, number, status) = (&revision.target, revision.revision, &revision.status);
        add(Step::DeleteRelease, format!("{target} (revision {number}, {status}, {chart})"));
    }
    if let Some(Namespace { target, held_by, .. }) = namespace(view) {
        add(Step::DeleteNamespace, target.to_string());
        let name = &target.name;
        notes.extend(held_by.iter().map(|held| format!("namespace {name} is blocked: {held}")));
    }
    targets
}
