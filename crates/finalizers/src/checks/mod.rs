//! All checks of a removal: those before a run starts, in the order of [`evaluate`], and those right before an effect.
//!
//! | check right before an effect | when | overridden by |
//! |---|---|---|
//! | `operator-stopped` | before every step that deletes or removes finalizers (`steps`) | its Leases by `--override operator-gone=REASON` |
//! | `target-planned` | always, by uid (`Terms::covers`) | nothing |
//! | `contents-planned` | the namespace is deleted (`steps`) | nothing |

mod operator_gone;

use std::collections::BTreeSet;

use jiff::Timestamp;
use mooring_workflow::{CheckResult, Outcome};

use crate::cluster::{OperatorView, Unread, unknown};
use crate::contents::{Contents, Standing};
use crate::objects::Object;
use crate::profile::Settings;
pub use operator_gone::OPERATOR_GONE;
use operator_gone::operator_gone;

/// Overridden by `--best-effort` if it is unknown.
pub const OBJECTS_KNOWN: &str = "objects-known";
/// Overridden by the names of objects, and by `--best-effort` if it is unknown.
pub const NAMESPACE_CONTENTS: &str = "namespace-contents";
/// Never overridden.
pub const CLUSTER_IDENTITY: &str = "cluster-identity";

/// Evaluates the checks before a run starts. `cluster` is the uid of the namespace kube-system, empty if it could not be read,
/// and `named` are the uids that the plan changes. Unknown is never a pass.
pub(crate) fn evaluate(
    view: &OperatorView,
    settings: &Settings,
    cluster: &str,
    named: &BTreeSet<String>,
    now: Timestamp,
) -> Vec<CheckResult> {
    let mut results = vec![
        operator_gone(view, settings, now),
        objects_known(view),
        namespace_contents(view, settings, named),
        cluster_identity(cluster),
    ];
    for result in &mut results {
        let may_skip = [OBJECTS_KNOWN, NAMESPACE_CONTENTS].contains(&result.name.as_str());
        if may_skip && result.outcome == Outcome::Unknown && settings.best_effort {
            result.overridden = Some("--best-effort".to_owned());
        }
    }
    results
}

fn result(name: &str, outcome: Outcome, evidence: Vec<String>) -> CheckResult {
    CheckResult { evidence, ..CheckResult::new(name, outcome, "") }
}

fn objects_known(view: &OperatorView) -> CheckResult {
    let failures = view.objects().iter().filter_map(|(_, read)| read.as_ref().err());
    // A CRD that serves no version is noted, and its objects are reported at the end.
    let failures = failures.filter(|why| **why != Unread::NotServed).map(Unread::to_string);
    let unread: Vec<String> = unknown(&view.crds).into_iter().chain(failures).collect();
    if unread.is_empty() {
        let read = "all CRDs and custom resources were read";
        return CheckResult::new(OBJECTS_KNOWN, Outcome::Pass, read);
    }
    result(OBJECTS_KNOWN, Outcome::Unknown, unread)
}

fn cluster_identity(cluster: &str) -> CheckResult {
    if cluster.is_empty() {
        let why = "the uid of the namespace kube-system could not be read (needs the verb get on namespaces)";
        return CheckResult::new(CLUSTER_IDENTITY, Outcome::Fail, why);
    }
    CheckResult::new(CLUSTER_IDENTITY, Outcome::Pass, format!("uid of kube-system: {cluster}"))
}

fn contents(view: &OperatorView) -> Option<&Contents> {
    view.contents.get()?.as_ref().ok()?.as_ref()
}

/// The namespace has nothing but what the plan names.
fn namespace_contents(
    view: &OperatorView,
    settings: &Settings,
    named: &BTreeSet<String>,
) -> CheckResult {
    let result = |outcome, evidence| result(NAMESPACE_CONTENTS, outcome, evidence);
    if settings.profile.namespace.is_none() || matches!(view.namespace.get(), Some(Ok(None))) {
        return result(Outcome::Pass, vec!["no namespace is deleted".to_owned()]);
    }
    let Some(contents) = contents(view) else {
        let why = unknown(&view.contents).unwrap_or("the contents were not read".to_owned());
        return result(Outcome::Unknown, vec![why]);
    };
    let standings = contents.standings(named, Some(&settings.profile)).into_iter();
    let others =
        standings.filter(|(one, standing)| *standing == Standing::Foreign && !one.deleting);
    let reason = |one: &Object| settings.overrides.get(&one.target.short_name());
    let (overridden, foreign): (Vec<&Object>, Vec<&Object>) =
        others.map(|(one, _)| one).partition(|one| reason(one).is_some());
    if !foreign.is_empty() {
        let about = |one: &Object| format!("{} would be deleted with the namespace", one.target);
        return result(Outcome::Fail, foreign.into_iter().map(about).collect());
    }
    if !contents.unread.is_empty() {
        return result(Outcome::Unknown, contents.unread.clone());
    }
    let mut evidence = vec![format!("the plan names all {} objects", contents.objects.len())];
    evidence.extend(overridden.into_iter().filter_map(|one| {
        Some(format!("{} is deleted with the namespace ({})", one.target, reason(one)?))
    }));
    result(Outcome::Pass, evidence)
}

/// Returns the objects that are deleted with the namespace, without those that Kubernetes writes into every one.
pub(crate) fn deleted_with_namespace<'a>(
    view: &'a OperatorView,
    settings: &Settings,
    named: &BTreeSet<String>,
) -> Vec<&'a Object> {
    let Some(contents) = contents(view) else { return Vec::new() };
    let goes = |(one, standing): &(&Object, Standing)| match standing {
        Standing::Named => true,
        Standing::Foreign => settings.overrides.contains_key(&one.target.short_name()),
        Standing::Usual => false,
    };
    let standings = contents.standings(named, Some(&settings.profile)).into_iter();
    standings.filter(goes).map(|(one, _)| one).collect()
}

/// Returns other failed reads, which are skipped and reported at the end.
pub(crate) fn unread(view: &OperatorView) -> Vec<String> {
    let bindings = view.bindings().iter().filter_map(|(_, read)| read.as_ref().err());
    let mut unread: Vec<String> = bindings.map(Unread::to_string).collect();
    unread.extend(unknown(&view.revisions));
    unread.extend(unknown(&view.made));
    unread.extend(unknown(&view.namespace));
    unread
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;

    #[test]
    fn best_effort_overrides_unread_objects_only() {
        let mut settings = Settings::new(Profile::of_group("karpenter.sh"));
        let view = OperatorView {
            crds: Err(Unread::Denied("list", "crds".to_owned())).into(),
            ..OperatorView::default()
        };
        let overridden = |settings: &Settings| -> Vec<(String, bool)> {
            let results = evaluate(&view, settings, "", &BTreeSet::new(), Timestamp::UNIX_EPOCH);
            results.into_iter().map(|one| (one.name, one.overridden.is_some())).collect()
        };
        let expected = |is_overridden| {
            [OPERATOR_GONE, OBJECTS_KNOWN, NAMESPACE_CONTENTS, CLUSTER_IDENTITY]
                .map(|name| (name.to_owned(), is_overridden && name == OBJECTS_KNOWN))
        };
        assert_eq!(overridden(&settings), expected(false));
        settings.best_effort = true;
        assert_eq!(overridden(&settings), expected(true));
    }

    #[test]
    fn failed_reads_are_reported_and_absent_objects_are_not() {
        let failed = |what: &str| Unread::Failed("get", what.to_owned(), "busy".to_owned());
        let absent = OperatorView {
            revisions: Ok(Vec::new()).into(),
            made: Ok(Vec::new()).into(),
            namespace: Ok(None).into(),
            bindings: vec![("b".to_owned(), Ok(None))].into(),
            ..OperatorView::default()
        };
        assert_eq!(unread(&absent), Vec::<String>::new());
        let view = OperatorView {
            revisions: Err(failed("release")).into(),
            made: Err(failed("manifest")).into(),
            namespace: Err(failed("namespace")).into(),
            bindings: vec![("b".to_owned(), Err(failed("binding")))].into(),
            ..OperatorView::default()
        };
        let unread = unread(&view);
        assert_eq!(unread.len(), 4, "{unread:?}");
        for (line, reason) in unread.iter().zip(["binding", "release", "manifest", "namespace"]) {
            assert!(line.contains(reason), "{reason}: {line}");
        }
    }
}
