//! Builds a plan from a view.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

use super::dependents::{Dependent, Dependents};
use super::targets::{PlannedObject, PlannedStep, covered, targets};
use crate::checks::{self, OBJECTS_KNOWN, unread};
use crate::cluster::contents::Content;
use crate::cluster::view::{OperatorView, known};
use crate::operator::profile::Profile;
use crate::operator::settings::Settings;
use crate::operator::target::Target;
use crate::removal::step::Step;
use mooring_workflow::approval::{ApprovalToken, hash_document};
use mooring_workflow::{CheckResult, Outcome};

/// A plan as it is shown and published.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// Value of `--plan-hash`: expiry and hash.
    #[serde(skip)]
    pub approval: ApprovalToken,
    /// Uid of the namespace kube-system; empty if it could not be read.
    #[serde(skip)]
    pub cluster: String,
    pub profile: Profile,
    pub scale_down: bool,
    /// Skips what cannot be read.
    pub best_effort: bool,
    /// Overridden checks with reasons.
    #[serde(serialize_with = "crate::documents::overrides")]
    pub overrides: BTreeMap<String, String>,
    pub nothing_to_do: bool,
    #[serde(serialize_with = "crate::documents::published")]
    pub checks: Vec<CheckResult>,
    /// Steps that have something to do.
    pub steps: Vec<PlannedStep>,
    pub objects: Vec<PlannedObject>,
    /// All objects that may be changed.
    pub targets: Vec<Target>,
    /// Objects that are deleted with the namespace.
    pub contents: Vec<Content>,
    /// Objects that are garbage-collected with their owners.
    pub cascade: Vec<Dependent>,
    /// Obstacles, what stays behind, and what could not be read.
    pub notes: Vec<String>,
    /// What could not be read and blocks nothing.
    #[serde(skip)]
    pub unread: Vec<String>,
}

impl Plan {
    /// Returns true if something could not be read. What the operator overrides counts as known.
    pub fn is_partial(&self) -> bool {
        let is_unknown =
            |check: &CheckResult| check.outcome == Outcome::Unknown && !check.allows_run();
        !self.unread.is_empty() || self.checks.iter().any(is_unknown)
    }
}

/// Creates a plan that can be started until `expires`; `view` must be complete.
pub fn build(
    view: &OperatorView,
    settings: &Settings,
    around: &Dependents,
    expires: Timestamp,
    now: Timestamp,
) -> Plan {
    let profile = &settings.profile;
    let objects: Vec<PlannedObject> = known(view.crds.get())
        .iter()
        .filter(|crd| profile.has_group(&crd.group))
        .filter_map(|crd| view.objects.get(crd.name())?.known())
        .flatten()
        .map(|object| {
            let (strip, keep) =
                object.finalizers.iter().cloned().partition(|finalizer| profile.lists(finalizer));
            PlannedObject { object: object.clone(), strip, keep }
        })
        .collect();
    let uids: BTreeSet<String> = objects.iter().map(|one| one.object.target.uid.clone()).collect();
    let targets_of = covered(view, settings, &objects);
    let named: BTreeSet<String> = targets_of.iter().map(|one| one.uid.clone()).collect();
    let checks = checks::evaluate(view, settings, &around.cluster, &named, now);
    let contents = checks::deleted_with_namespace(view, settings, &named);
    let unread = unread(view);
    let mut notes = around.notes.clone();
    let mut by_step = targets(view, profile, &objects, &mut notes);
    // Unreadable objects may exist. A running operator without objects is not work.
    let unknown =
        |check: &CheckResult| check.name == OBJECTS_KNOWN && check.outcome == Outcome::Unknown;
    let certain = unread.is_empty() && !checks.iter().any(unknown);
    let nothing_to_do = certain
        && by_step.keys().all(|step| *step == Step::ScaleDown)
        && !known(view.crds.get()).iter().any(|one| profile.has_group(&one.group));
    if nothing_to_do {
        by_step.clear();
    } else {
        by_step.insert(Step::Verify, Vec::new());
    }
    let steps = by_step.into_iter().map(|(name, targets)| PlannedStep {
        number: name.number(),
        name,
        what: name.what(),
        targets,
    });
    let document = Document {
        tool: TOOL,
        expires,
        cluster: &around.cluster,
        profile,
        scale_down: settings.scale_down,
        best_effort: settings.best_effort,
        overrides: &settings.overrides,
        checks: checks.iter().filter(|one| one.outcome != Outcome::Pass).map(outcome).collect(),
        objects: objects.iter().map(finalizers).collect(),
        targets: targets_of,
        contents: contents.iter().filter(|one| !is_made(one, &contents)).map(content).collect(),
        cascade: around.cascade(&uids).iter().filter(|one| one.direct).map(identity).collect(),
    };
    let hash = hash_document(&document);
    let unread = [around.unread.clone(), unread].concat();
    Plan {
        approval: ApprovalToken { expires, hash },
        cluster: around.cluster.clone(),
        profile: profile.clone(),
        scale_down: settings.scale_down,
        best_effort: settings.best_effort,
        overrides: settings.overrides.clone(),
        nothing_to_do,
        targets: document.targets,
        contents,
        checks,
        steps: steps.collect(),
        cascade: around.cascade(&uids),
        objects,
        notes: [&notes[..], &unread].concat(),
        unread,
    }
}

const TOOL: &str = concat!("mooring ", env!("CARGO_PKG_VERSION"));

/// The approved document. Resource versions, evidence, indirect dependents, the deadline and the location of the journal are
/// not part of it.
#[derive(Serialize)]
struct Document<'a> {
    tool: &'static str,
    expires: Timestamp,
    cluster: &'a str,
    profile: &'a Profile,
    scale_down: bool,
    best_effort: bool,
    overrides: &'a BTreeMap<String, String>,
    /// Checks that do not pass.
    checks: Vec<Value>,
    /// Removed and kept finalizers of each object.
    objects: Vec<Value>,
    targets: Vec<Target>,
    /// Objects of the namespace, without those that another of them controls: pods come and go.
    contents: Vec<Value>,
    cascade: Vec<Value>,
}

fn outcome(check: &CheckResult) -> Value {
    json!([check.name, check.outcome, check.overridden])
}

fn finalizers(one: &PlannedObject) -> Value {
    json!([one.object.target.path, one.object.target.uid, one.strip, one.keep])
}

fn is_made(one: &Content, contents: &[Content]) -> bool {
    one.controller.as_ref().is_some_and(|uid| contents.iter().any(|other| other.target.uid == *uid))
}

fn content(one: &Content) -> Value {
    json!([one.target.path, one.target.uid])
}

fn identity(one: &Dependent) -> Value {
    json!([one.resource, one.namespace, one.name])
}
