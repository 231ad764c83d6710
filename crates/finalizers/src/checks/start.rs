//! Checks before a run starts.

use jiff::Timestamp;
use mooring_workflow::{CheckResult, Outcome};

use super::ids::{CLUSTER_IDENTITY, OBJECTS_KNOWN, missing};
use super::operator_gone;
use crate::cluster::view::{OperatorView, Query, known};
use crate::operator::settings::Settings;

/// Unknown is never pass; `--best-effort` overrides objects that cannot be read.
pub(crate) fn evaluate(
    view: &OperatorView,
    settings: &Settings,
    cluster: &str,
    now: Timestamp,
) -> Vec<CheckResult> {
    let identity = if cluster.is_empty() {
        let why = "the uid of the namespace kube-system could not be read (needs the verb get on namespaces)";
        CheckResult::new(CLUSTER_IDENTITY, Outcome::Fail, why)
    } else {
        CheckResult::new(CLUSTER_IDENTITY, Outcome::Pass, format!("uid of kube-system: {cluster}"))
    };
    let mut unknown: Vec<String> = missing(&Query::Crds, view.crds.as_ref()).into_iter().collect();
    unknown.extend(known(view.crds.as_ref()).iter().filter_map(|crd| {
        let query = Query::Objects(Box::new(crd.clone()));
        missing(&query, view.objects.get(crd.name()))
    }));
    let mut objects =
        CheckResult::new(OBJECTS_KNOWN, Outcome::Pass, "all CRDs and custom resources were read");
    if !unknown.is_empty() {
        objects.outcome = Outcome::Unknown;
        objects.evidence = unknown;
        objects.overridden = settings.best_effort.then(|| "--best-effort".to_owned());
    }
    vec![operator_gone::operator_gone(view, settings, now), objects, identity]
}

/// Returns other failed reads, which are skipped and reported at the end.
pub(crate) fn unread(view: &OperatorView) -> Vec<String> {
    let mut unread: Vec<String> = view
        .bindings
        .iter()
        .filter_map(|(name, reading)| missing(&Query::Binding(name.clone()), Some(reading)))
        .collect();
    unread.extend(missing(&Query::Release, view.release.as_ref()));
    unread.extend(missing(&Query::ReleaseObject, view.made.as_ref()));
    unread.extend(missing(&Query::Namespace, view.namespace.as_ref()));
    unread
}

#[cfg(test)]
mod tests {
    use mooring_workflow::Reading;

    use super::*;

    #[test]
    fn failed_reads_are_reported_with_their_reasons() {
        let view = OperatorView {
            bindings: [("b".to_owned(), Reading::Denied("binding".to_owned()))].into(),
            release: Some(Reading::Failed("release".to_owned())),
            made: Some(Reading::Throttled("manifest".to_owned())),
            namespace: Some(Reading::Failed("namespace".to_owned())),
            ..OperatorView::default()
        };
        let unread = unread(&view);
        assert_eq!(unread.len(), 4, "{unread:?}");
        for (line, reason) in unread.iter().zip(["binding", "release", "manifest", "namespace"]) {
            assert!(line.contains(reason), "{reason}: {line}");
        }
    }

    #[test]
    fn absent_object_is_not_a_failed_read() {
        let view = OperatorView {
            bindings: [("b".to_owned(), Reading::NotFound)].into(),
            release: Some(Reading::Known(Vec::new())),
            namespace: Some(Reading::NotFound),
            ..OperatorView::default()
        };
        assert_eq!(unread(&view), Vec::<String>::new());
    }
}
