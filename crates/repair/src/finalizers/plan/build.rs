//! From what was seen to a plan.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Value, json};

use super::around::{Around, Dependent};
use crate::canonical;
use crate::finalizers::machine::{NOT_SERVED, unreadable};
use crate::finalizers::observation::Object;
use crate::finalizers::profile::ReleaseResources;
use crate::finalizers::seen::{Query, Seen};
use crate::finalizers::settings::Settings;
use crate::finalizers::step::Step;
use crate::guards::{Guard, Outcome};
use crate::observation::Reading;

/// What would be done.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plan {
    /// `mooring.finalizers.plan/v1`
    pub schema: &'static str,
    /// Over everything that matters: an approved plan is this one, or it is not carried out.
    pub hash: String,
    /// Which cluster, by the uid of its kube-system namespace.
    pub cluster: String,
    /// Which operator.
    pub profile: Value,
    /// Whether an operator that runs is scaled down.
    pub scale_down: bool,
    /// Whether there is nothing to do at all.
    pub nothing_to_do: bool,
    /// What must hold before anything is done.
    pub guards: Vec<Guard>,
    /// In order, without those that have nothing to do.
    pub steps: Vec<PlannedStep>,
    /// The custom resources.
    pub objects: Vec<PlannedObject>,
    /// What goes along, since it belongs to what is deleted.
    pub cascade: Vec<Dependent>,
    /// What a person should know.
    pub notes: Vec<String>,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlannedStep {
    /// Its place, from 1.
    pub number: usize,
    /// Its name.
    pub name: Step,
    /// What it does.
    pub what: &'static str,
    /// What it is done to, as far as it is known now.
    pub targets: Vec<String>,
}

/// One custom resource.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlannedObject {
    /// The object.
    #[serde(flatten)]
    pub object: Object,
    /// Finalizers that would be removed once it is being deleted.
    pub strip: Vec<String>,
    /// Finalizers that stay, and with them the object.
    pub keep: Vec<String>,
}

/// The plan for what was seen; `seen` must have an answer to every question of the profile.
#[must_use]
pub fn build(seen: &Seen, settings: &Settings, around: &Around) -> Plan {
    let profile = &settings.profile;
    let known =
        |reading: Option<&Reading<Vec<_>>>| -> Vec<crate::finalizers::observation::Definition> {
            reading.and_then(Reading::known).cloned().unwrap_or_default()
        };
    let definitions: Vec<_> = known(seen.definitions.as_ref())
        .into_iter()
        .filter(|definition| profile.has_group(&definition.group))
        .collect();
    let objects: Vec<PlannedObject> = definitions
        .iter()
        .filter_map(|definition| seen.objects.get(definition.name())?.known())
        .flatten()
        .map(|object| {
            let (strip, keep) =
                object.finalizers.iter().cloned().partition(|finalizer| profile.lists(finalizer));
            PlannedObject { object: object.clone(), strip, keep }
        })
        .collect();
    let running: Vec<_> = seen
        .controllers
        .iter()
        .filter_map(Reading::known)
        .flatten()
        .filter(|controller| controller.runs())
        .collect();
    let mut notes = around.notes.clone();
    for definition in definitions.iter().filter(|definition| definition.version.is_none()) {
        notes.push(format!("{}: {NOT_SERVED}", definition.name()));
    }
    let held = objects.iter().filter(|object| !object.keep.is_empty()).count();
    if held > 0 {
        notes.push(format!("{held} objects have finalizers that the profile does not list; they stay until somebody else removes those"));
    }
    let uids: BTreeSet<String> = objects.iter().map(|one| one.object.target.uid.clone()).collect();
    let cascade = around.cascade(&uids);

    let mut targets: BTreeMap<Step, Vec<String>> = BTreeMap::new();
    let mut add = |step: Step, target: String| targets.entry(step).or_default().push(target);
    for object in &objects {
        let target = &object.object.target;
        if !object.object.deleting {
            add(Step::DeleteObjects, target.to_string());
        }
        if !object.strip.is_empty() {
            add(Step::StripFinalizers, format!("{target}: {}", object.strip.join(", ")));
        }
    }
    for controller in &running {
        if !objects.is_empty() {
            add(Step::AwaitTeardown, controller.target.to_string());
        }
        add(Step::ScaleDown, controller.target.to_string());
    }
    for definition in definitions.iter().filter(|definition| definition.version.is_some()) {
        add(Step::DeleteDefinitions, definition.name().to_owned());
    }
    for binding in seen.bindings.values().filter_map(Reading::known) {
        add(Step::DeleteBindings, format!("{} ({})", binding.target, binding.grants));
    }
    let revisions =
        seen.release.as_ref().and_then(Reading::known).map(Vec::as_slice).unwrap_or_default();
    let made = seen.made.as_ref().and_then(Reading::known).map(Vec::as_slice).unwrap_or_default();
    let deletes_made = profile
        .release
        .as_ref()
        .is_some_and(|release| release.resources == ReleaseResources::Delete);
    if !revisions.is_empty() {
        for one in made {
            if deletes_made && one.ours {
                add(Step::DeleteRelease, one.target.to_string());
            } else {
                notes.push(format!("{} is in the release's manifest and stays", one.target));
            }
        }
    }
    for revision in revisions {
        let chart = revision.chart.as_deref().unwrap_or("its payload cannot be read");
        add(
            Step::DeleteRelease,
            format!(
                "{} (revision {}, {}, {chart})",
                revision.target, revision.revision, revision.status
            ),
        );
    }
    let namespace = seen.namespace.as_ref().and_then(Reading::known);
    if let Some(namespace) = namespace {
        add(Step::DeleteNamespace, namespace.target.to_string());
        notes.extend(
            namespace
                .held_by
                .iter()
                .map(|held| format!("namespace {} is held: {held}", namespace.target.name)),
        );
    }
    let guards = guards(
        seen,
        settings,
        &running.iter().map(|one| one.target.to_string()).collect::<Vec<_>>(),
    );
    let uncertain =
        guards.iter().any(|guard| guard.outcome != Outcome::Pass && guard.name != "operator-gone");
    // An operator that runs and has nothing left to process is no work by itself.
    let nothing_to_do =
        targets.keys().all(|step| *step == Step::ScaleDown) && definitions.is_empty() && !uncertain;
    if nothing_to_do {
        targets.clear();
    } else {
        targets.insert(Step::Verify, Vec::new());
    }
    let steps: Vec<PlannedStep> = targets
        .into_iter()
        .enumerate()
        .map(|(at, (name, targets))| PlannedStep {
            number: at + 1,
            name,
            what: name.what(),
            targets,
        })
        .collect();
    let mut plan = Plan {
        schema: "mooring.finalizers.plan/v1",
        hash: String::new(),
        cluster: around.cluster.clone(),
        profile: serde_json::to_value(profile).unwrap_or_default(),
        scale_down: settings.scale_down,
        nothing_to_do,
        guards,
        steps,
        objects,
        cascade,
        notes,
    };
    plan.hash = canonical::hash(&matters(&plan, seen));
    plan
}

/// What an approval is given for: which objects, by identity, and what becomes of them. Not what changes by itself
/// while nobody does anything, such as versions, and what goes along at second hand.
fn matters(plan: &Plan, seen: &Seen) -> Value {
    let objects: Vec<Value> = plan
        .objects
        .iter()
        .map(|one| json!([one.object.target.path, one.object.target.uid, one.strip, one.keep]))
        .collect();
    let along: Vec<Value> = plan
        .cascade
        .iter()
        .filter(|one| one.direct)
        .map(|one| json!([one.resource, one.namespace, one.name]))
        .collect();
    let uids: Vec<&str> = [
        seen.definitions
            .iter()
            .filter_map(Reading::known)
            .flatten()
            .filter(|one| {
                plan.steps.iter().any(|step| step.targets.iter().any(|target| target == one.name()))
            })
            .map(|one| one.target.uid.as_str())
            .collect::<Vec<_>>(),
        seen.bindings
            .values()
            .filter_map(Reading::known)
            .map(|one| one.target.uid.as_str())
            .collect(),
        seen.release
            .iter()
            .filter_map(Reading::known)
            .flatten()
            .map(|one| one.target.uid.as_str())
            .collect(),
        seen.made
            .iter()
            .filter_map(Reading::known)
            .flatten()
            .filter(|one| one.ours)
            .map(|one| one.target.uid.as_str())
            .collect(),
        seen.namespace
            .iter()
            .filter_map(Reading::known)
            .map(|one| one.target.uid.as_str())
            .collect(),
    ]
    .concat();
    let guards: Vec<Value> =
        plan.guards.iter().map(|guard| json!([guard.name, guard.outcome])).collect();
    json!({
        "cluster": plan.cluster, "profile": plan.profile, "scaleDown": plan.scale_down,
        "objects": objects, "along": along, "uids": uids, "guards": guards,
    })
}

/// What must hold. Unknown is never pass; for what merely cannot be read, `--best-effort` goes on all the same.
fn guards(seen: &Seen, settings: &Settings, running: &[String]) -> Vec<Guard> {
    let mut guards = vec![match &seen.controllers {
        Some(reading @ (Reading::Denied(_) | Reading::Failed(_))) => {
            Guard::new("operator-gone", Outcome::Unknown, unreadable(&Query::Controllers, reading))
        }
        _ if running.is_empty() => Guard::new(
            "operator-gone",
            Outcome::Pass,
            "nobody is there who would process the finalizers",
        ),
        _ if settings.scale_down => Guard::new(
            "operator-gone",
            Outcome::Pass,
            format!("it runs and will be scaled down: {}", running.join(", ")),
        ),
        _ => Guard::new(
            "operator-gone",
            Outcome::Fail,
            format!("it still runs: {}", running.join(", ")),
        ),
    }];
    let mut unknown = Vec::new();
    if let Some(reading @ (Reading::Denied(_) | Reading::Failed(_))) = &seen.definitions {
        unknown.push(unreadable(&Query::Definitions, reading));
    }
    for definition in seen.definitions.iter().filter_map(Reading::known).flatten() {
        if let Some(reading @ (Reading::Denied(_) | Reading::Failed(_))) =
            seen.objects.get(definition.name())
        {
            unknown.push(unreadable(&Query::Objects(Box::new(definition.clone())), reading));
        }
    }
    let mut readable = if unknown.is_empty() {
        Guard::new("objects-known", Outcome::Pass, "all definitions and objects could be read")
    } else {
        Guard { evidence: unknown, ..Guard::new("objects-known", Outcome::Unknown, "") }
    };
    if settings.best_effort && readable.outcome == Outcome::Unknown {
        readable.overridden = Some("--best-effort".to_owned());
    }
    guards.push(readable);
    guards
}
