//! Table of the checks before a run starts. Unknown is never a pass.

use jiff::Timestamp;
use mooring_workflow::{CheckResult, Outcome};

use std::collections::BTreeSet;

use super::contents::namespace_contents;
use super::ids::{CLUSTER_IDENTITY, NAMESPACE_CONTENTS, OBJECTS_KNOWN, OPERATOR_GONE};
use super::operator_gone::operator_gone;
use crate::cluster::unreadable::{READ_CRDS, missing};
use crate::cluster::view::{OperatorView, known};
use crate::operator::settings::Settings;

pub struct Check {
    pub id: &'static str,
    pub overridable: Overridable,
    evaluate: fn(&StartFacts<'_>) -> CheckResult,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overridable {
    /// By `--override ID=REASON` or the names of objects, except where the check says so.
    ByReason,
    /// By `--best-effort`, if the outcome is unknown.
    ByBestEffort,
    Never,
}

/// Facts of a run that is about to start.
pub(super) struct StartFacts<'a> {
    view: &'a OperatorView,
    settings: &'a Settings,
    /// Uid of the namespace kube-system; empty if it could not be read.
    cluster: &'a str,
    /// Uids of the objects that the plan changes.
    named: &'a BTreeSet<String>,
    now: Timestamp,
}

/// Checks in display order.
pub static CHECKS: [Check; 4] = [
    Check {
        id: OPERATOR_GONE,
        overridable: Overridable::ByReason,
        evaluate: |start| operator_gone(start.view, start.settings, start.now),
    },
    Check { id: OBJECTS_KNOWN, overridable: Overridable::ByBestEffort, evaluate: objects_known },
    Check {
        id: NAMESPACE_CONTENTS,
        overridable: Overridable::ByBestEffort,
        evaluate: |start| namespace_contents(start.view, start.settings, start.named),
    },
    Check { id: CLUSTER_IDENTITY, overridable: Overridable::Never, evaluate: cluster_identity },
];

pub(crate) fn evaluate(
    view: &OperatorView,
    settings: &Settings,
    cluster: &str,
    named: &BTreeSet<String>,
    now: Timestamp,
) -> Vec<CheckResult> {
    let start = StartFacts { view, settings, cluster, named, now };
    CHECKS.iter().map(|check| check.result(&start)).collect()
}

impl Check {
    fn result(&self, start: &StartFacts<'_>) -> CheckResult {
        let mut result = (self.evaluate)(start);
        if self.overridable == Overridable::ByBestEffort
            && result.outcome == Outcome::Unknown
            && start.settings.best_effort
        {
            result.overridden = Some("--best-effort".to_owned());
        }
        result
    }
}

fn objects_known(start: &StartFacts<'_>) -> CheckResult {
    let view = start.view;
    let crds = missing(READ_CRDS, view.crds.get());
    let objects = known(view.crds.get())
        .iter()
        .filter_map(|crd| missing(("list", crd.name()), view.objects.get(crd.name())));
    let unknown: Vec<String> = crds.into_iter().chain(objects).collect();
    if unknown.is_empty() {
        let read = "all CRDs and custom resources were read";
        return CheckResult::new(OBJECTS_KNOWN, Outcome::Pass, read);
    }
    CheckResult { evidence: unknown, ..CheckResult::new(OBJECTS_KNOWN, Outcome::Unknown, "") }
}

fn cluster_identity(start: &StartFacts<'_>) -> CheckResult {
    if start.cluster.is_empty() {
        let why = "the uid of the namespace kube-system could not be read (needs the verb get on namespaces)";
        return CheckResult::new(CLUSTER_IDENTITY, Outcome::Fail, why);
    }
    let uid = format!("uid of kube-system: {}", start.cluster);
    CheckResult::new(CLUSTER_IDENTITY, Outcome::Pass, uid)
}

#[cfg(test)]
mod tests {
    use mooring_workflow::Reading;

    use super::*;
    use crate::operator::profile::Profile;

    #[test]
    fn best_effort_overrides_unread_objects_only() {
        let mut settings = Settings::new(Profile::of_group("karpenter.sh"));
        let view = OperatorView {
            crds: Reading::Denied("crds".to_owned()).into(),
            ..OperatorView::default()
        };
        let overridden = |settings: &Settings| -> Vec<(String, bool)> {
            let results = evaluate(&view, settings, "", &BTreeSet::new(), Timestamp::UNIX_EPOCH);
            results.into_iter().map(|one| (one.name, one.overridden.is_some())).collect()
        };
        let expected = |is_overridden| {
            CHECKS
                .iter()
                .map(|check| (check.id.to_owned(), is_overridden && check.id == OBJECTS_KNOWN))
                .collect::<Vec<_>>()
        };
        assert_eq!(overridden(&settings), expected(false));
        settings.best_effort = true;
        assert_eq!(overridden(&settings), expected(true));
    }
}
