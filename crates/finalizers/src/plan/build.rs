//! Builds a plan from a view.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

use super::dependents::{Dependent, Dependents};
use super::planned::{PlannedObject, PlannedStep};
use super::targets::{covered, targets};
use crate::checks::{self, OBJECTS_KNOWN, unread};
use crate::profile::Profile;
use crate::settings::Settings;
use crate::step::Step;
use crate::target::Target;
use crate::view::{OperatorView, known};
use mooring_workflow::approval::{ApprovalToken, PlanHash, hash_document};
use mooring_workflow::{CheckResult, Outcome};

/// What would be done.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plan {
    /// `mooring.finalizers.plan/v2`
    pub schema: &'static str,
    /// What approves it, as `--plan-hash` takes it: when it expires, and the hash.
    #[serde(rename = "hash")]
    pub approval: ApprovalToken,
    /// Over everything that matters: an approved plan is this one, or it is not carried out.
    #[serde(skip)]
    pub hash: PlanHash,
    /// The version of Mooring that made it.
    pub tool: &'static str,
    /// Which cluster, by the uid of its kube-system namespace; empty if that could not be read.
    pub cluster: String,
    pub profile: Profile,
    /// Whether an operator that runs is scaled down.
    pub scale_down: bool,
    /// Whether what cannot be read is left alone.
    pub best_effort: bool,
    /// Checks that are overridden, with reasons.
    pub overrides: BTreeMap<String, String>,
    /// Whether there is nothing to do at all.
    pub nothing_to_do: bool,
    /// What must hold before anything is done.
    pub guards: Vec<CheckResult>,
    /// In order, without those that have nothing to do.
    pub steps: Vec<PlannedStep>,
    pub objects: Vec<PlannedObject>,
    /// Everything that may be deleted, stripped or scaled down; nothing else is.
    pub targets: Vec<Target>,
    /// What goes along, since it belongs to what is deleted.
    pub cascade: Vec<Dependent>,
    /// What a person should know.
    pub notes: Vec<String>,
}

/// The plan for what was seen; `view` must have an answer to every question of the profile. A run of it may begin until
/// `expires`.
pub fn build(
    view: &OperatorView,
    settings: &Settings,
    around: &Dependents,
    expires: Timestamp,
    now: Timestamp,
) -> Plan {
    let profile = &settings.profile;
    let objects: Vec<PlannedObject> = known(view.definitions.as_ref())
        .iter()
        .filter(|definition| profile.has_group(&definition.group))
        .filter_map(|definition| view.objects.get(definition.name())?.known())
        .flatten()
        .map(|object| {
            let (strip, keep) =
                object.finalizers.iter().cloned().partition(|finalizer| profile.lists(finalizer));
            PlannedObject { object: object.clone(), strip, keep }
        })
        .collect();
    let uids: BTreeSet<String> = objects.iter().map(|one| one.object.target.uid.clone()).collect();
    let guards = checks::evaluate(view, settings, &around.cluster, now);
    let unread = unread(view);
    let mut notes = around.notes.clone();
    let mut by_step = targets(view, profile, &objects, &mut notes);
    notes.extend(unread.iter().cloned());
    // What could not be read may be there. An operator that runs and has nothing left to process is no work by itself.
    let unknown =
        |guard: &CheckResult| guard.name == OBJECTS_KNOWN && guard.outcome == Outcome::Unknown;
    let certain = unread.is_empty() && !guards.iter().any(unknown);
    let nothing_to_do = certain
        && by_step.keys().all(|step| *step == Step::ScaleDown)
        && !known(view.definitions.as_ref()).iter().any(|one| profile.has_group(&one.group));
    if nothing_to_do {
        by_step.clear();
    } else {
        by_step.insert(Step::Verify, Vec::new());
    }
    let steps = by_step.into_iter().enumerate().map(|(at, (name, targets))| PlannedStep {
        number: at + 1,
        name,
        what: name.what(),
        targets,
    });
    let document = Document {
        schema: SCHEMA,
        tool: TOOL,
        expires,
        cluster: &around.cluster,
        profile,
        scale_down: settings.scale_down,
        best_effort: settings.best_effort,
        overrides: &settings.overrides,
        checks: guards.iter().filter(|one| one.outcome != Outcome::Pass).map(outcome).collect(),
        objects: objects.iter().map(finalizers).collect(),
        targets: covered(view, settings, &objects),
        cascade: around.cascade(&uids).iter().filter(|one| one.direct).map(identity).collect(),
    };
    let hash = hash_document(&document);
    Plan {
        schema: SCHEMA,
        approval: ApprovalToken { expires, hash: hash.clone() },
        hash,
        tool: TOOL,
        cluster: around.cluster.clone(),
        profile: profile.clone(),
        scale_down: settings.scale_down,
        best_effort: settings.best_effort,
        overrides: settings.overrides.clone(),
        nothing_to_do,
        targets: document.targets,
        guards,
        steps: steps.collect(),
        cascade: around.cascade(&uids),
        objects,
        notes,
    }
}

const SCHEMA: &str = "mooring.finalizers.plan/v2";
const TOOL: &str = concat!("mooring ", env!("CARGO_PKG_VERSION"));

/// What an approval is given for. Not in it: what changes by itself while nothing is done, such as versions and the words
/// of evidence; what goes along at second hand; the deadline of a session; where the journal is.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    tool: &'static str,
    expires: Timestamp,
    cluster: &'a str,
    profile: &'a Profile,
    scale_down: bool,
    best_effort: bool,
    overrides: &'a BTreeMap<String, String>,
    /// Those that do not pass.
    checks: Vec<Value>,
    /// The finalizers of each object that are removed, and that stay.
    objects: Vec<Value>,
    targets: Vec<Target>,
    cascade: Vec<Value>,
}

fn outcome(guard: &CheckResult) -> Value {
    json!([guard.name, guard.outcome, guard.overridden])
}

fn finalizers(one: &PlannedObject) -> Value {
    json!([one.object.target.path, one.object.target.uid, one.strip, one.keep])
}

fn identity(one: &Dependent) -> Value {
    json!([one.resource, one.namespace, one.name])
}
