//! The check `operator-gone`: two proofs in one reading, that nothing could run the operator, inside or outside the cluster,
//! and that it shows no sign of life.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use mooring_workflow::screens::ago;
use mooring_workflow::{CheckResult, Outcome};

use crate::cluster::{OperatorView, all, unknown};
use crate::objects::{Object, Workload};
use crate::profile::Settings;
use crate::signs::{Managed, OperatorWrites, managed};

/// Overridden by a reason, except for a running workload.
pub const OPERATOR_GONE: &str = "operator-gone";
/// Maximum age of a renewal of a held Lease. Leaders renew every few seconds.
const MAX_LEASE_AGE: SignedDuration = SignedDuration::from_mins(5);
/// Maximum age of a write or event. Idle operators resync about every ten hours.
const MAX_SIGN_AGE: SignedDuration = SignedDuration::from_hours(24);

/// A line of evidence.
type Line = (Outcome, String);

fn pass(text: &str) -> Line {
    (Outcome::Pass, text.to_owned())
}

/// Every line of evidence must pass; failed reads are unknown, and block.
pub(super) fn operator_gone(
    view: &OperatorView,
    settings: &Settings,
    now: Timestamp,
) -> CheckResult {
    let workloads = workloads(view, settings);
    // A running workload cannot be overridden: it stops every run at its finalizers.
    let is_overridable = workloads.0 == Outcome::Pass;
    // Signs of a workload that will be scaled down end with it.
    let is_explained =
        is_overridable && settings.scale_down && all(&view.workloads).iter().any(Workload::runs);
    let mut lines = vec![workloads, managed_groups(view, settings)];
    if !is_explained {
        lines.push(webhooks(view));
        lines.extend(signs_of_life(view, now));
    }
    let outcome = lines.iter().map(|line| line.0).max().unwrap_or(Outcome::Unknown);
    let shown =
        lines.into_iter().filter(|line| outcome == Outcome::Pass || line.0 != Outcome::Pass);
    let reason = settings.overrides.get(OPERATOR_GONE).filter(|_| outcome != Outcome::Pass);
    CheckResult {
        overridden: reason.filter(|_| is_overridable).cloned(),
        evidence: shown.map(|line| line.1).collect(),
        ..CheckResult::new(OPERATOR_GONE, outcome, "")
    }
}

fn workloads(view: &OperatorView, settings: &Settings) -> Line {
    if let Some(why) = unknown(&view.workloads) {
        return (Outcome::Unknown, why);
    }
    let running = || all(&view.workloads).iter().filter(|one| one.runs());
    let names = running().map(|one| one.target.to_string()).collect::<Vec<_>>().join(", ");
    let is_scalable = running().all(|one| one.is_scalable_by(settings));
    let (outcome, what) = match () {
        () if names.is_empty() => {
            return pass("no running controller handles these finalizers");
        }
        () if !settings.scale_down => (Outcome::Fail, "still running"),
        () if is_scalable => (Outcome::Pass, "running and will be scaled down"),
        () => {
            let what = "running as a DaemonSet or outside its namespace, and cannot be scaled down";
            (Outcome::Fail, what)
        }
    };
    (outcome, format!("it is {what}: {names}"))
}

fn webhooks(view: &OperatorView) -> Line {
    if let Some(why) = unknown(&view.webhooks) {
        return (Outcome::Unknown, why);
    }
    let hooks = all(&view.webhooks);
    if let Some(hook) = hooks.iter().find(|hook| hook.answers == Ok(true)) {
        return (Outcome::Fail, format!("{} has a Service with ready endpoints", hook.name));
    }
    match hooks.iter().find_map(|hook| Some((&hook.name, hook.answers.as_ref().err()?))) {
        Some((name, why)) => {
            (Outcome::Unknown, format!("cannot read the endpoints of {name}: {why}"))
        }
        None => pass("no webhook for its groups has ready endpoints"),
    }
}

/// Controllers outside the cluster leave no other sign while idle.
fn managed_groups(view: &OperatorView, settings: &Settings) -> Line {
    let profile = &settings.profile;
    let crds = all(&view.crds).iter().map(|crd| &crd.group);
    let mut groups: BTreeSet<&String> = crds.filter(|group| profile.has_group(group)).collect();
    if unknown(&view.crds).is_some() {
        groups.extend(&profile.groups);
    }
    let is_live = |group: &str| {
        view.known_objects().any(|object| !object.deleting && object.target.group() == group)
    };
    for group in groups {
        let text = match managed(group) {
            Some(Managed::AddOn(name)) => format!(
                "{group} belongs to {name}, which AKS or another service may run outside the cluster"
            ),
            Some(Managed::Elsewhere(name)) if is_live(group) => format!(
                "{group} has live objects, and controllers of {name} may run outside the cluster"
            ),
            _ => continue,
        };
        return (Outcome::Fail, text);
    }
    pass("no group of a managed add-on")
}

/// Its Leases, its writes and its events.
fn signs_of_life(view: &OperatorView, now: Timestamp) -> [Line; 3] {
    let is_recent = |at: Timestamp, limit| now.duration_since(at) < limit;
    let lease = all(&view.leases).iter().max_by_key(|lease| lease.renewed);
    let lease = lease.filter(|lease| is_recent(lease.renewed, MAX_LEASE_AGE));
    let leases = match (unknown(&view.leases), lease) {
        (Some(why), _) => (Outcome::Unknown, why),
        (None, Some(lease)) => {
            let ago = ago(lease.renewed, now);
            (Outcome::Fail, format!("Lease {} was renewed {ago}", lease.name))
        }
        (None, None) => pass("no Lease of the operator renewed within 5m"),
    };
    let event = all(&view.events).iter().max_by_key(|event| event.at);
    let event = event.filter(|event| is_recent(event.at, MAX_SIGN_AGE));
    let events = match (unknown(&view.events), event) {
        (Some(why), _) => (Outcome::Unknown, why),
        (None, Some(event)) => {
            let ago = ago(event.at, now);
            (Outcome::Fail, format!("{} reported an event {ago}", event.component))
        }
        (None, None) => pass("no event of the operator within 24h"),
    };
    [leases, writes(view, now), events]
}

fn writes(view: &OperatorView, now: Timestamp) -> Line {
    let by_operator = view.known_objects().filter_map(|object| match &object.writes {
        OperatorWrites::By { manager, at } => Some((*at, manager, &object.target)),
        _ => None,
    });
    let newest = by_operator.max_by_key(|(at, ..)| *at);
    let recent = newest.filter(|(at, ..)| now.duration_since(*at) < MAX_SIGN_AGE);
    if let Some((at, manager, target)) = recent {
        let ago = ago(at, now);
        return (Outcome::Fail, format!("field manager {manager} wrote {target} {ago}"));
    }
    match view.known_objects().find(|object| object.writes == OperatorWrites::Unknown) {
        Some(Object { target, .. }) => {
            let text = format!("{target} has no managedFields with the time of its writes");
            (Outcome::Unknown, text)
        }
        None => pass("no write by a field manager of the operator within 24h"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::objects::Crd;
    use crate::profile::Profile;
    use crate::signs::{Lease, OperatorEvent};

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    fn controller(replicas: i64) -> Workload {
        let object = json!({
            "metadata": {"name": "o", "namespace": "n", "uid": "u", "resourceVersion": "1"},
            "spec": {"replicas": replicas}, "status": {"replicas": replicas},
        });
        Workload::read("deployments.apps", &object).unwrap()
    }

    /// Returns the outcome with the age of the last renewal and of the last event in seconds.
    fn outcome(replicas: i64, scale_down: bool, renewed: i64, event: i64) -> (Outcome, String) {
        let ago = |seconds| NOW - SignedDuration::from_secs(seconds);
        let lease = Lease { name: "n/o".to_owned(), renewed: ago(renewed) };
        let event = OperatorEvent { component: "o".to_owned(), at: ago(event) };
        let view = OperatorView {
            crds: Ok(Vec::new()).into(),
            workloads: Ok(vec![controller(replicas)]).into(),
            leases: Ok(vec![lease]).into(),
            events: Ok(vec![event]).into(),
            webhooks: Ok(Vec::new()).into(),
            ..OperatorView::default()
        };
        let settings = Settings { scale_down, ..Settings::new(Profile::of_group("example.com")) };
        let result = operator_gone(&view, &settings, NOW);
        (result.outcome, result.evidence.join("; "))
    }

    const LONG_AGO: i64 = 90_000;

    #[test]
    fn sign_of_an_operator_counts_unless_it_is_scaled_down() {
        for (replicas, scale_down, expected, text) in [
            (0, false, Outcome::Fail, "Lease n/o was renewed just now"),
            // Nothing runs here, so the holder of the Lease is elsewhere.
            (0, true, Outcome::Fail, "Lease n/o was renewed just now"),
            (1, false, Outcome::Fail, "it is still running"),
            (1, true, Outcome::Pass, "it is running and will be scaled down"),
        ] {
            let (found, evidence) = outcome(replicas, scale_down, 0, LONG_AGO);
            assert_eq!(found, expected, "{replicas} {scale_down}: {evidence}");
            assert!(evidence.contains(text), "{replicas} {scale_down}: {evidence}");
        }
    }

    #[test]
    fn renewal_counts_for_five_minutes_and_event_for_a_day() {
        for (renewed, event, expected) in [
            (300, 86_400, ""),
            (299, 86_400, "Lease n/o was renewed 4m ago"),
            (300, 86_399, "o reported an event 23h ago"),
        ] {
            let (found, evidence) = outcome(0, false, renewed, event);
            let is_gone = expected.is_empty();
            assert_eq!(found, if is_gone { Outcome::Pass } else { Outcome::Fail }, "{evidence}");
            assert!(evidence.contains(expected), "{evidence}");
        }
    }

    #[test]
    fn write_counts_for_a_day() {
        for (seconds, expected) in [(86_399, Outcome::Fail), (86_400, Outcome::Pass)] {
            let at = NOW - SignedDuration::from_secs(seconds);
            let fields = json!([{"manager": "o", "operation": "Update", "time": at.to_string()}]);
            let object = json!({"metadata": {
                "name": "a", "uid": "u", "resourceVersion": "1", "managedFields": fields,
            }});
            let root = "/apis/example.com/v1";
            let object = Object::read("widgets.example.com", root, &object).unwrap();
            let crd = Crd {
                target: object.target.clone(),
                group: "example.com".to_owned(),
                version: None,
                deleting: false,
            };
            let objects = vec![(crd, Ok(vec![object]))].into();
            let line = writes(&OperatorView { objects, ..OperatorView::default() }, NOW);
            assert_eq!(line.0, expected, "{}", line.1);
        }
    }
}
