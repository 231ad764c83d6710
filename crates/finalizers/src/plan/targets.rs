//! Planned objects, and known targets of each step.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::cluster::observation::LiveObject;
use crate::cluster::unreadable::NOT_SERVED;
use crate::cluster::view::{OperatorView, known};
use crate::operator::profile::{Profile, ReleaseResources};
use crate::operator::settings::Settings;
use crate::operator::target::Target;
use crate::removal::step::Step;
use mooring_workflow::Reading;
use mooring_workflow::plural::counted;

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
    pub object: LiveObject,
    /// Finalizers to remove once it is being deleted.
    #[serde(rename = "removedFinalizers")]
    pub strip: Vec<String>,
    /// Finalizers that are kept, and with them the object.
    #[serde(rename = "keptFinalizers")]
    pub keep: Vec<String>,
}

type Targets = BTreeMap<Step, Vec<String>>;

/// Returns all objects that a run may change, by path.
pub(super) fn covered(
    view: &OperatorView,
    settings: &Settings,
    objects: &[PlannedObject],
) -> Vec<Target> {
    let profile = &settings.profile;
    let mut all: Vec<&Target> = objects.iter().map(|one| &one.object.target).collect();
    let crds = known(view.crds.get()).iter();
    all.extend(crds.filter(|one| profile.has_group(&one.group)).map(|one| &one.target));
    all.extend(view.bindings.entries().filter_map(|(_, one)| one.known()).map(|one| &one.target));
    all.extend(known(view.release.get()).iter().map(|one| &one.target));
    if deletes_resources(profile) {
        let made = known(view.made.get()).iter();
        all.extend(made.filter(|one| one.goes()).map(|one| &one.target));
    }
    all.extend(view.namespace.get().and_then(Reading::known).map(|one| &one.target));
    if settings.scale_down {
        let namespace = &profile.namespace;
        let scaled = known(view.controllers.get()).iter().filter(|one| {
            let own = namespace.is_none() || *namespace == one.target.namespace;
            one.runs() && one.is_scalable() && own
        });
        all.extend(scaled.map(|one| &one.target));
    }
    all.sort_by_key(|target| (&target.path, &target.uid));
    all.into_iter().cloned().collect()
}

fn deletes_resources(profile: &Profile) -> bool {
    let release = profile.release.as_ref();
    release.is_some_and(|release| release.resources == ReleaseResources::Delete)
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
    for controller in known(view.controllers.get()).iter().filter(|controller| controller.runs()) {
        if !objects.is_empty() {
            add(Step::WaitForTeardown, controller.target.to_string());
        }
        add(Step::ScaleDown, controller.target.to_string());
    }
    for crd in known(view.crds.get()) {
        match &crd.version {
            _ if !profile.has_group(&crd.group) => {}
            Some(_) => add(Step::DeleteCrds, crd.name().to_owned()),
            None => notes.push(format!("{}: {NOT_SERVED}", crd.name())),
        }
    }
    for binding in view.bindings.entries().filter_map(|(_, one)| one.known()) {
        add(Step::DeleteBindings, format!("{} ({})", binding.target, binding.grants));
    }
    release(view, profile, &mut add, notes);
    if let Some(namespace) = view.namespace.get().and_then(Reading::known) {
        let name = &namespace.target.name;
        add(Step::DeleteNamespace, namespace.target.to_string());
        notes.extend(
            namespace.held_by.iter().map(|held| format!("namespace {name} is blocked: {held}")),
        );
    }
    targets
}

fn release(
    view: &OperatorView,
    profile: &Profile,
    add: &mut impl FnMut(Step, String),
    notes: &mut Vec<String>,
) {
    let revisions = known(view.release.get());
    let deletes = deletes_resources(profile);
    for one in known(view.made.get()) {
        if deletes && one.goes() {
            add(Step::DeleteRelease, one.target.to_string());
        } else if !one.belongs || !deletes {
            notes.push(format!("{} is in the manifest of the release and is kept", one.target));
        }
    }
    for revision in revisions {
        let chart = revision.chart.as_deref().unwrap_or("its payload cannot be read");
        let (target, number, status) = (&revision.target, revision.revision, &revision.status);
        add(Step::DeleteRelease, format!("{target} (revision {number}, {status}, {chart})"));
    }
}
