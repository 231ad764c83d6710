//! A removal as data: built once from what was read, hashed once, and shown, published and executed as it is.

mod targets;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use jiff::Timestamp;
use mooring_workflow::approval::{ApprovalToken, hash_document};
use mooring_workflow::flowchart::flowchart;
use mooring_workflow::{CheckResult, Outcome};
use serde::Serialize;
use serde_json::{Value, json};

use crate::checks::{self, OBJECTS_KNOWN, OPERATOR_GONE, unread};
use crate::cluster::OperatorView;
pub use crate::dependents::Dependent;
use crate::dependents::Dependents;
use crate::objects::{Object, Target};
use crate::profile::{Profile, Settings};
use crate::step::Step;
pub use targets::{PlannedObject, PlannedStep};
use targets::{covered, targets};

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
    pub contents: Vec<Target>,
    /// Objects that are garbage-collected with their owners.
    pub cascade: Vec<Dependent>,
    /// Obstacles, what stays behind, and what could not be read.
    pub notes: Vec<String>,
    /// What could not be read and blocks nothing.
    #[serde(skip)]
    pub unread: Vec<String>,
}

/// Creates a plan that can be started until `expires`; `view` must be complete.
pub(crate) fn build(
    view: &OperatorView,
    settings: &Settings,
    around: &Dependents,
    expires: Timestamp,
    now: Timestamp,
) -> Plan {
    let profile = &settings.profile;
    let planned = |object: &Object| {
        let finalizers = object.finalizers.iter().cloned();
        let (strip, keep) = finalizers.partition(|finalizer| profile.lists(finalizer));
        PlannedObject { object: object.clone(), strip, keep }
    };
    let objects: Vec<PlannedObject> = view.known_objects().map(planned).collect();
    let changed = covered(view, settings, &objects);
    let named: BTreeSet<String> = changed.iter().map(|one| one.uid.clone()).collect();
    let checks = checks::evaluate(view, settings, &around.cluster, &named, now);
    let contents = checks::deleted_with_namespace(view, settings, &named);
    let mut unread = unread(view);
    let mut notes = around.notes.clone();
    let mut by_step = targets(view, profile, &objects, &mut notes);
    // Unreadable objects may exist. A running operator without objects is not work.
    let is_unknown =
        |check: &CheckResult| check.name == OBJECTS_KNOWN && check.outcome == Outcome::Unknown;
    let nothing_to_do = unread.is_empty()
        && !checks.iter().any(is_unknown)
        && by_step.keys().all(|step| *step == Step::ScaleDown)
        && view.objects().is_empty();
    if nothing_to_do {
        by_step.clear();
    } else {
        by_step.insert(Step::Verify, Vec::new());
    }
    unread.splice(..0, around.unread.iter().cloned());
    notes.extend(unread.iter().cloned());
    let deleted = objects.iter().map(|one| one.object.target.uid.clone()).collect();
    let cascade = around.cascade(&deleted);
    let uids: BTreeSet<&str> = contents.iter().map(|one| one.target.uid.as_str()).collect();
    // What another of them controls is left out: pods come and go.
    let is_made = |one: &&&Object| one.controller.as_deref().is_some_and(|uid| uids.contains(uid));
    let made = contents.iter().filter(|one| !is_made(one));
    let failing = checks.iter().filter(|check| check.outcome != Outcome::Pass);
    let direct = cascade.iter().filter(|one| one.direct);
    // Resource versions, evidence, indirect dependents, the deadline and the location of the journal are not approved.
    let hash = hash_document(&json!({
        "tool": TOOL,
        "expires": expires,
        "cluster": around.cluster,
        "profile": profile,
        "scale_down": settings.scale_down,
        "best_effort": settings.best_effort,
        "overrides": settings.overrides,
        "checks": list(failing, |one| json!([one.name, one.outcome, one.overridden])),
        "objects": list(&objects, |PlannedObject { object: Object { target, .. }, strip, keep }| {
            json!([target.path, target.uid, strip, keep])
        }),
        "targets": changed,
        "contents": list(made, |one| json!([one.target.path, one.target.uid])),
        "cascade": list(direct, |one| json!([one.resource, one.namespace, one.name])),
    }));
    let step = |(name, targets): (Step, Vec<String>)| PlannedStep {
        number: name.number(),
        name,
        what: name.what(),
        targets,
    };
    Plan {
        approval: ApprovalToken { expires, hash },
        cluster: around.cluster.clone(),
        profile: profile.clone(),
        scale_down: settings.scale_down,
        best_effort: settings.best_effort,
        overrides: settings.overrides.clone(),
        nothing_to_do,
        targets: changed,
        contents: contents.into_iter().map(|one| one.target.clone()).collect(),
        checks,
        steps: by_step.into_iter().map(step).collect(),
        cascade,
        objects,
        notes,
        unread,
    }
}

const TOOL: &str = concat!("mooring ", env!("CARGO_PKG_VERSION"));

fn list<T>(all: impl IntoIterator<Item = T>, member: impl Fn(T) -> Value) -> Vec<Value> {
    all.into_iter().map(member).collect()
}

impl Plan {
    /// Returns what could not be read. What the operator overrides counts as known.
    pub fn unknown(&self) -> Vec<String> {
        let is_unknown =
            |check: &&CheckResult| check.outcome == Outcome::Unknown && !check.allows_run();
        let checks = self.checks.iter().filter(is_unknown);
        let checks = checks.map(|check| format!("{}: {}", check.name, check.detail()));
        self.unread.iter().cloned().chain(checks).collect()
    }

    /// Returns the first check that blocks a run.
    pub fn blocking(&self) -> Option<&CheckResult> {
        self.checks.iter().find(|check| !check.allows_run())
    }

    /// Returns the steps as a diagram, with the dependents by resource.
    pub fn mermaid(&self) -> String {
        let mut text = flowchart(self.steps.iter().map(|step| {
            let targets = match step.targets.len() {
                0 => String::new(),
                count => format!("<br/>{count} targets"),
            };
            format!("{}<br/>{}{targets}", step.name.name(), step.what)
        }));
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for one in &self.cascade {
            *counts.entry(&one.resource).or_default() += 1;
        }
        for (at, (resource, count)) in counts.into_iter().enumerate() {
            let _ =
                writeln!(text, "    s1 -. garbage-collected .-> c{at}([\"{count} {resource}\"])");
        }
        text
    }
}

/// Settings of the command line, and objects of the approved plan: all that a run may do. Nothing comes from a journal.
#[derive(Debug, Clone)]
pub struct Terms {
    pub settings: Settings,
    /// All objects that the plan changes. An object that was recreated since has another uid.
    covered: BTreeSet<Target>,
    /// Uids of all objects that the plan deletes, also with their namespace.
    named: BTreeSet<String>,
}

impl Terms {
    #[must_use]
    pub fn new(settings: Settings, plan: &Plan) -> Self {
        let named = plan.contents.iter().chain(&plan.targets).map(|one| one.uid.clone());
        Self { settings, covered: plan.targets.iter().cloned().collect(), named: named.collect() }
    }

    /// Returns true if the plan has this object, by path and uid.
    pub fn covers(&self, target: &Target) -> bool {
        self.covered.contains(target)
    }

    /// Uids of all objects that the plan names.
    pub(crate) fn named(&self) -> &BTreeSet<String> {
        &self.named
    }

    /// Returns true if `operator-gone` is overridden.
    pub(crate) fn ignores_operator(&self) -> bool {
        self.settings.overrides.contains_key(OPERATOR_GONE)
    }
}
