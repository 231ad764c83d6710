//! The check `namespace-contents`: the namespace has nothing but what the plan names.

use std::collections::BTreeSet;

use super::ids::NAMESPACE_CONTENTS;
use crate::cluster::contents::{Content, Contents, Standing};
use crate::cluster::unreadable::{READ_CONTENTS, missing};
use crate::cluster::view::OperatorView;
use crate::operator::settings::Settings;
use mooring_workflow::{CheckResult, Outcome, Reading};

/// `named` are the uids of the plan.
pub(super) fn namespace_contents(
    view: &OperatorView,
    settings: &Settings,
    named: &BTreeSet<String>,
) -> CheckResult {
    let result = |outcome, evidence: Vec<String>| CheckResult {
        evidence,
        ..CheckResult::new(NAMESPACE_CONTENTS, outcome, "")
    };
    if settings.profile.namespace.is_none()
        || matches!(view.namespace.get(), Some(Reading::NotFound))
    {
        return result(Outcome::Pass, vec!["no namespace is deleted".to_owned()]);
    }
    if let Some(why) = missing(READ_CONTENTS, view.contents.get()) {
        return result(Outcome::Unknown, vec![why]);
    }
    let Some(contents) = view.contents.get().and_then(Reading::known) else {
        return result(Outcome::Unknown, vec!["the contents were not read".to_owned()]);
    };
    let standings = contents.standings(named, Some(&settings.profile));
    let others = standings.iter().filter(|(_, standing)| *standing == Standing::Foreign);
    let (overridden, foreign): (Vec<_>, Vec<_>) = others
        .map(|(one, _)| *one)
        .filter(|one| !one.deleting)
        .partition(|one| settings.overrides.contains_key(&one.name()));
    if !foreign.is_empty() {
        let about = |one: &Content| format!("{} would be deleted with the namespace", one.target);
        return result(Outcome::Fail, foreign.into_iter().map(about).collect());
    }
    if !contents.unread.is_empty() {
        return result(Outcome::Unknown, contents.unread.clone());
    }
    let about = |one: &Content| {
        let reason = &settings.overrides[&one.name()];
        format!("{} is deleted with the namespace ({reason})", one.target)
    };
    let all = format!("the plan names all {} objects", contents.objects.len());
    let also = overridden.into_iter().map(about);
    result(Outcome::Pass, std::iter::once(all).chain(also).collect())
}

/// Returns the objects that are deleted with the namespace, without those that Kubernetes writes into every one.
pub(crate) fn deleted_with_namespace(
    view: &OperatorView,
    settings: &Settings,
    named: &BTreeSet<String>,
) -> Vec<Content> {
    let Some(contents) = view.contents.get().and_then(Reading::known) else { return Vec::new() };
    let standings = contents.standings(named, Some(&settings.profile));
    let goes = |(one, standing): (&Content, Standing)| match standing {
        Standing::Named => Some(one.clone()),
        Standing::Foreign if settings.overrides.contains_key(&one.name()) => Some(one.clone()),
        Standing::Usual | Standing::Foreign => None,
    };
    standings.into_iter().filter_map(goes).collect()
}

/// Returns an object of the namespace that the approved plan does not name, or a kind that was not read.
pub(crate) fn foreign(contents: &Contents, named: &BTreeSet<String>) -> Option<String> {
    let standings = contents.standings(named, None);
    let mut others = standings
        .into_iter()
        .filter(|(one, standing)| *standing == Standing::Foreign && !one.deleting);
    let other = others.next().map(|(one, _)| format!("the plan does not name {}", one.target));
    other.or_else(|| contents.unread.first().cloned())
}
