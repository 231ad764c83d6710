//! From what was seen to a plan.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Value, json};

use super::around::{Around, Dependent};
use super::guards::{guards, unread};
use super::planned::{PlannedObject, PlannedStep};
use super::targets::targets;
use crate::canonical;
use crate::finalizers::profile::Profile;
use crate::finalizers::seen::{Seen, known};
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

/// The plan for what was seen; `seen` must have an answer to every question of the profile.
#[must_use]
pub fn build(seen: &Seen, settings: &Settings, around: &Around) -> Plan {
    let profile = &settings.profile;
    let objects: Vec<PlannedObject> = known(seen.definitions.as_ref())
        .iter()
        .filter(|definition| profile.has_group(&definition.group))
        .filter_map(|definition| seen.objects.get(definition.name())?.known())
        .flatten()
        .map(|object| {
            let (strip, keep) =
                object.finalizers.iter().cloned().partition(|finalizer| profile.lists(finalizer));
            PlannedObject { object: object.clone(), strip, keep }
        })
        .collect();
    let uids: BTreeSet<String> = objects.iter().map(|one| one.object.target.uid.clone()).collect();
    let guards = guards(seen, settings);
    let unread = unread(seen);
    let mut notes = around.notes.clone();
    let mut targets = targets(seen, profile, &objects, &mut notes);
    notes.extend(unread.iter().cloned());
    // What could not be read may be there. An operator that runs and has nothing left to process is no work by itself.
    let certain = unread.is_empty() && guards.iter().all(|guard| guard.outcome != Outcome::Unknown);
    let nothing_to_do = certain
        && targets.keys().all(|step| *step == Step::ScaleDown)
        && !known(seen.definitions.as_ref()).iter().any(|one| profile.has_group(&one.group));
    if nothing_to_do {
        targets.clear();
    } else {
        targets.insert(Step::Verify, Vec::new());
    }
    let steps = targets.into_iter().enumerate().map(|(at, (name, targets))| PlannedStep {
        number: at + 1,
        name,
        what: name.what(),
        targets,
    });
    let mut plan = Plan {
        schema: "mooring.finalizers.plan/v1",
        hash: String::new(),
        cluster: around.cluster.clone(),
        profile: serde_json::to_value(profile).unwrap_or_default(),
        scale_down: settings.scale_down,
        nothing_to_do,
        guards,
        steps: steps.collect(),
        cascade: around.cascade(&uids),
        objects,
        notes,
    };
    plan.hash = canonical::hash(&matters(&plan, profile, seen));
    plan
}

/// What an approval is given for: which objects, by identity, and what becomes of them. Not what changes by itself
/// while nobody does anything, such as versions, and what goes along at second hand.
fn matters(plan: &Plan, profile: &Profile, seen: &Seen) -> Value {
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
    let mut uids: Vec<&str> = Vec::new();
    uids.extend(
        known(seen.definitions.as_ref())
            .iter()
            .filter(|one| profile.has_group(&one.group))
            .map(|one| one.target.uid.as_str()),
    );
    uids.extend(
        seen.bindings.values().filter_map(Reading::known).map(|one| one.target.uid.as_str()),
    );
    uids.extend(known(seen.release.as_ref()).iter().map(|one| one.target.uid.as_str()));
    uids.extend(
        known(seen.made.as_ref())
            .iter()
            .filter(|one| one.goes())
            .map(|one| one.target.uid.as_str()),
    );
    uids.extend(
        seen.namespace.iter().filter_map(Reading::known).map(|one| one.target.uid.as_str()),
    );
    let guards: Vec<Value> =
        plan.guards.iter().map(|guard| json!([guard.name, guard.outcome])).collect();
    json!({
        "cluster": plan.cluster, "profile": plan.profile, "scaleDown": plan.scale_down,
        "objects": objects, "along": along, "uids": uids, "guards": guards,
    })
}
