//! Content of `mooring.finalizers.plan/v1`. The command adds schema, time, cluster and sources.

use jiff::Timestamp;
use mooring_workflow::published::{Next, PublishedCheck, SourceName};
use mooring_workflow::status::OverrideStatus;
use serde::Serialize;

use crate::operator::profile::Profile;
use crate::operator::target::Target;
use crate::plan::{Plan, PlannedStep};

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PublishedPlan {
    /// Value of `--plan-hash`.
    pub hash: String,
    pub expires_at: Timestamp,
    pub profile: Profile,
    pub scale_down: bool,
    pub best_effort: bool,
    pub overrides: Vec<OverrideStatus>,
    pub nothing_to_do: bool,
    pub checks: Vec<PublishedCheck>,
    pub steps: Vec<PlannedStep>,
    pub objects: Vec<PublishedObject>,
    /// All objects that may be changed.
    pub targets: Vec<PublishedTarget>,
    /// Objects that are deleted with the namespace.
    pub contents: Vec<PublishedTarget>,
    /// Objects that are garbage-collected with their owners.
    pub cascade: Vec<PublishedDependent>,
    pub notes: Vec<String>,
    pub next: Vec<Next>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PublishedTarget {
    pub resource: String,
    pub namespace: Option<String>,
    pub name: String,
    pub uid: String,
    pub path: String,
}

impl From<&Target> for PublishedTarget {
    fn from(target: &Target) -> Self {
        let Target { resource, namespace, name, uid, path } = target.clone();
        Self { resource, namespace, name, uid, path }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PublishedObject {
    #[serde(flatten)]
    pub target: PublishedTarget,
    pub is_deleting: bool,
    /// Finalizers to remove once it is being deleted.
    pub removed_finalizers: Vec<String>,
    /// Finalizers that are kept, and with them the object.
    pub kept_finalizers: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PublishedDependent {
    pub resource: String,
    pub namespace: Option<String>,
    pub name: String,
    pub uid: String,
    /// An owner is one of the deleted objects, not only of their dependents.
    pub is_direct: bool,
}

impl PublishedPlan {
    pub fn new(plan: &Plan, next: Vec<Next>) -> Self {
        let overrides = plan.overrides.iter().map(|(check, comment)| OverrideStatus {
            check: check.clone(),
            comment: comment.clone(),
        });
        let objects = plan.objects.iter().map(|one| PublishedObject {
            target: (&one.object.target).into(),
            is_deleting: one.object.deleting,
            removed_finalizers: one.strip.clone(),
            kept_finalizers: one.keep.clone(),
        });
        let cascade = plan.cascade.iter().map(|one| PublishedDependent {
            resource: one.resource.clone(),
            namespace: one.namespace.clone(),
            name: one.name.clone(),
            uid: one.uid.clone(),
            is_direct: one.direct,
        });
        Self {
            hash: plan.approval.to_string(),
            expires_at: plan.approval.expires,
            profile: plan.profile.clone(),
            scale_down: plan.scale_down,
            best_effort: plan.best_effort,
            overrides: overrides.collect(),
            nothing_to_do: plan.nothing_to_do,
            checks: checks(plan),
            steps: plan.steps.clone(),
            objects: objects.collect(),
            targets: plan.targets.iter().map(PublishedTarget::from).collect(),
            contents: plan.contents.iter().map(|one| PublishedTarget::from(&one.target)).collect(),
            cascade: cascade.collect(),
            notes: [&plan.notes[..], &plan.unread].concat(),
            next,
        }
    }
}

/// Returns the checks of a plan as they are published.
pub fn checks(plan: &Plan) -> Vec<PublishedCheck> {
    let published = |check| PublishedCheck::new(check, true, Some(SourceName::Cluster));
    plan.checks.iter().map(published).collect()
}
