//! The checks before a run starts. Unknown is never a pass.

use jiff::Timestamp;
use mooring_workflow::{CheckResult, Outcome};

use super::ids::{CLUSTER_IDENTITY, OBJECTS_KNOWN, missing};
use super::operator_gone::operator_gone;
use crate::cluster::view::{OperatorView, Query, known};
use crate::operator::settings::Settings;

/// Evaluates the checks before a run starts, in display order. `cluster` is the uid of the namespace kube-system; empty if it
/// could not be read.
pub(crate) fn evaluate(
    view: &OperatorView,
    settings: &Settings,
    cluster: &str,
    now: Timestamp,
) -> Vec<CheckResult> {
    vec![
        operator_gone(view, settings, now),
        objects_known(view, settings.best_effort),
        cluster_identity(cluster),
    ]
}

fn objects_known(view: &OperatorView, best_effort: bool) -> CheckResult {
    let crds = missing(&Query::Crds, view.crds.as_ref());
    let objects = known(view.crds.as_ref()).iter().filter_map(|crd| {
        let query = Query::Objects(Box::new(crd.clone()));
        missing(&query, view.objects.get(crd.name()))
    });
    let unknown: Vec<String> = crds.into_iter().chain(objects).collect();
    if unknown.is_empty() {
        let read = "all CRDs and custom resources were read";
        return CheckResult::new(OBJECTS_KNOWN, Outcome::Pass, read);
    }
    CheckResult {
        evidence: unknown,
        overridden: best_effort.then(|| "--best-effort".to_owned()),
        ..CheckResult::new(OBJECTS_KNOWN, Outcome::Unknown, "")
    }
}

/// Never overridden.
fn cluster_identity(cluster: &str) -> CheckResult {
    if cluster.is_empty() {
        let why = "the uid of the namespace kube-system could not be read (needs the verb get on namespaces)";
        return CheckResult::new(CLUSTER_IDENTITY, Outcome::Fail, why);
    }
    CheckResult::new(CLUSTER_IDENTITY, Outcome::Pass, format!("uid of kube-system: {cluster}"))
}

#[cfg(test)]
mod tests {
    use mooring_workflow::Reading;

    use super::*;
    use crate::checks::OPERATOR_GONE;
    use crate::operator::profile::Profile;

    #[test]
    fn best_effort_overrides_unread_objects_only() {
        let mut settings = Settings::new(Profile::of_group("karpenter.sh"));
        let view = OperatorView {
            crds: Some(Reading::Denied("crds".to_owned())),
            ..OperatorView::default()
        };
        let overridden = |settings: &Settings| -> Vec<(String, bool)> {
            let results = evaluate(&view, settings, "", Timestamp::UNIX_EPOCH);
            results.into_iter().map(|one| (one.name, one.overridden.is_some())).collect()
        };
        let expected = |is_overridden| {
            [OPERATOR_GONE, OBJECTS_KNOWN, CLUSTER_IDENTITY]
                .map(|id| (id.to_owned(), is_overridden && id == OBJECTS_KNOWN))
                .to_vec()
        };
        assert_eq!(overridden(&settings), expected(false));
        settings.best_effort = true;
        assert_eq!(overridden(&settings), expected(true));
    }
}
