//! What must hold before a run begins.

use jiff::Timestamp;
use mooring_workflow::{CheckResult, Outcome};

use super::ids::{CLUSTER_IDENTITY, OBJECTS_KNOWN, missing};
use super::operator_gone;
use crate::settings::Settings;
use crate::view::{OperatorView, Query, known};

/// What must hold. Unknown is never pass; for objects that cannot be read, `--best-effort` goes on all the same.
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
    let mut unknown: Vec<String> =
        missing(&Query::Definitions, view.definitions.as_ref()).into_iter().collect();
    unknown.extend(known(view.definitions.as_ref()).iter().filter_map(|definition| {
        let query = Query::Objects(Box::new(definition.clone()));
        missing(&query, view.objects.get(definition.name()))
    }));
    let mut objects =
        CheckResult::new(OBJECTS_KNOWN, Outcome::Pass, "all definitions and objects could be read");
    if !unknown.is_empty() {
        objects.outcome = Outcome::Unknown;
        objects.evidence = unknown;
        objects.overridden = settings.best_effort.then(|| "--best-effort".to_owned());
    }
    vec![operator_gone::operator_gone(view, settings, now), objects, identity]
}

/// What else could not be read. It is left alone and told at the end.
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
