//! The check `operator-gone`: no sign of a running operator, inside or outside the cluster.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use super::ids::OPERATOR_GONE;
use crate::cluster::evidence::OperatorWrites;
use crate::cluster::managed::{Managed, managed};
use crate::cluster::observation::{LiveObject, OperatorWorkload};
use crate::cluster::unreadable::{
    READ_CONTROLLERS, READ_CRDS, READ_EVENTS, READ_LEASES, READ_WEBHOOKS, missing,
};
use crate::cluster::view::{OperatorView, known};
use crate::operator::settings::Settings;
use mooring_workflow::screens::ago;
use mooring_workflow::{CheckResult, Outcome, Reading};

/// Maximum age of a renewal of a held Lease. Leaders renew every few seconds.
const MAX_LEASE_AGE: SignedDuration = SignedDuration::from_mins(5);
/// Maximum age of a write or event. Idle operators resync about every ten hours.
const MAX_SIGN_AGE: SignedDuration = SignedDuration::from_hours(24);

struct Piece {
    outcome: Outcome,
    text: String,
}

impl Piece {
    fn new(outcome: Outcome, text: impl Into<String>) -> Self {
        Self { outcome, text: text.into() }
    }
}

/// Every piece of evidence must pass; failed reads are unknown, and block.
pub(super) fn operator_gone(
    view: &OperatorView,
    settings: &Settings,
    now: Timestamp,
) -> CheckResult {
    let workloads = workloads(view, settings);
    let runs = known(view.controllers.get()).iter().any(OperatorWorkload::runs);
    // Signs of a workload that will be scaled down end with it.
    let explained = runs && settings.scale_down && workloads.outcome == Outcome::Pass;
    let mut pieces = if explained {
        Vec::new()
    } else {
        vec![leases(view, now), writes(view, now), events(view, now), webhooks(view)]
    };
    // A running workload cannot be overridden: it stops every run at its finalizers.
    let overridable = workloads.outcome == Outcome::Pass;
    pieces.insert(0, workloads);
    pieces.push(managed_groups(view, settings));
    let worst = pieces.iter().map(|piece| piece.outcome).max();
    let outcome = worst.unwrap_or(Outcome::Pass);
    let shown = |piece: &&Piece| outcome == Outcome::Pass || piece.outcome != Outcome::Pass;
    let evidence = pieces.iter().filter(shown).map(|piece| piece.text.clone()).collect();
    let reason = settings.overrides.get(OPERATOR_GONE).filter(|_| outcome != Outcome::Pass);
    CheckResult {
        evidence,
        overridden: reason.filter(|_| overridable).cloned(),
        ..CheckResult::new(OPERATOR_GONE, outcome, "")
    }
}

fn workloads(view: &OperatorView, settings: &Settings) -> Piece {
    if let Some(why) = missing(READ_CONTROLLERS, view.controllers.get()) {
        return Piece::new(Outcome::Unknown, why);
    }
    let running: Vec<_> = known(view.controllers.get()).iter().filter(|one| one.runs()).collect();
    let names: Vec<String> = running.iter().map(|one| one.target.to_string()).collect();
    let names = names.join(", ");
    let namespace = &settings.profile.namespace;
    let scalable = running.iter().all(|one| {
        one.is_scalable() && (namespace.is_none() || *namespace == one.target.namespace)
    });
    if running.is_empty() {
        Piece::new(Outcome::Pass, "no running controller handles these finalizers")
    } else if settings.scale_down && scalable {
        Piece::new(Outcome::Pass, format!("it is running and will be scaled down: {names}"))
    } else if settings.scale_down {
        Piece::new(
            Outcome::Fail,
            format!(
                "it is running as a DaemonSet or outside its namespace, and cannot be scaled down: {names}"
            ),
        )
    } else {
        Piece::new(Outcome::Fail, format!("it is still running: {names}"))
    }
}

fn leases(view: &OperatorView, now: Timestamp) -> Piece {
    if let Some(why) = missing(READ_LEASES, view.leases.get()) {
        return Piece::new(Outcome::Unknown, why);
    }
    let newest = known(view.leases.get()).iter().max_by_key(|lease| lease.renewed);
    match newest.filter(|lease| now.duration_since(lease.renewed) < MAX_LEASE_AGE) {
        Some(lease) => {
            let ago = ago(lease.renewed, now);
            Piece::new(Outcome::Fail, format!("Lease {} was renewed {ago}", lease.name))
        }
        None => Piece::new(Outcome::Pass, "no Lease of the operator renewed within 5m"),
    }
}

fn objects(view: &OperatorView) -> impl Iterator<Item = &LiveObject> {
    view.objects.entries().filter_map(|(_, objects)| objects.known()).flatten()
}

fn writes(view: &OperatorView, now: Timestamp) -> Piece {
    let newest = objects(view)
        .filter_map(|object| match &object.writes {
            OperatorWrites::Known(Some(write)) => Some((object, write)),
            _ => None,
        })
        .max_by_key(|(_, write)| write.at);
    if let Some((object, write)) =
        newest.filter(|(_, write)| now.duration_since(write.at) < MAX_SIGN_AGE)
    {
        let (manager, ago) = (&write.manager, ago(write.at, now));
        let text = format!("field manager {manager} wrote {} {ago}", object.target);
        return Piece::new(Outcome::Fail, text);
    }
    if let Some(object) = objects(view).find(|object| object.writes == OperatorWrites::Unknown) {
        let text = format!("{} has no managedFields with the time of its writes", object.target);
        return Piece::new(Outcome::Unknown, text);
    }
    Piece::new(Outcome::Pass, "no write by a field manager of the operator within 24h")
}

fn events(view: &OperatorView, now: Timestamp) -> Piece {
    if let Some(why) = missing(READ_EVENTS, view.events.get()) {
        return Piece::new(Outcome::Unknown, why);
    }
    let newest = known(view.events.get()).iter().max_by_key(|event| event.at);
    match newest.filter(|event| now.duration_since(event.at) < MAX_SIGN_AGE) {
        Some(event) => {
            let ago = ago(event.at, now);
            Piece::new(Outcome::Fail, format!("{} reported an event {ago}", event.component))
        }
        None => Piece::new(Outcome::Pass, "no event of the operator within 24h"),
    }
}

fn webhooks(view: &OperatorView) -> Piece {
    if let Some(why) = missing(READ_WEBHOOKS, view.webhooks.get()) {
        return Piece::new(Outcome::Unknown, why);
    }
    let all = known(view.webhooks.get());
    if let Some(hook) = all.iter().find(|hook| hook.answers == Reading::Known(true)) {
        return Piece::new(
            Outcome::Fail,
            format!("{} has a Service with ready endpoints", hook.name),
        );
    }
    let unknown = all.iter().find_map(|hook| Some((hook, hook.answers.missing()?)));
    match unknown {
        Some((hook, why)) => Piece::new(
            Outcome::Unknown,
            format!("cannot read the endpoints of {}: {why}", hook.name),
        ),
        None => Piece::new(Outcome::Pass, "no webhook for its groups has ready endpoints"),
    }
}

/// Controllers outside the cluster leave no other sign while idle.
fn managed_groups(view: &OperatorView, settings: &Settings) -> Piece {
    let profile = &settings.profile;
    let mut groups: BTreeSet<&String> = known(view.crds.get())
        .iter()
        .map(|crd| &crd.group)
        .filter(|group| profile.has_group(group))
        .collect();
    if missing(READ_CRDS, view.crds.get()).is_some() {
        groups.extend(&profile.groups);
    }
    let live = |group: &str| {
        objects(view).filter(|object| !object.deleting).any(|object| {
            object.target.resource.split_once('.').is_some_and(|(_, own)| own == group)
        })
    };
    for group in groups {
        match managed(group) {
            Some(Managed::AddOn(name)) => {
                let text = format!(
                    "{group} belongs to {name}, which AKS or another service may run outside the cluster"
                );
                return Piece::new(Outcome::Fail, text);
            }
            Some(Managed::Elsewhere(name)) if live(group) => {
                let text = format!(
                    "{group} has live objects, and controllers of {name} may run outside the cluster"
                );
                return Piece::new(Outcome::Fail, text);
            }
            _ => {}
        }
    }
    Piece::new(Outcome::Pass, "no group of a managed add-on")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use mooring_workflow::reading::Named;

    use super::*;
    use crate::cluster::evidence::{Lease, OperatorEvent};
    use crate::operator::profile::Profile;

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    fn controller(replicas: i64) -> OperatorWorkload {
        let object = json!({
            "metadata": {"name": "o", "namespace": "n", "uid": "u", "resourceVersion": "1"},
            "spec": {"replicas": replicas}, "status": {"replicas": replicas},
        });
        OperatorWorkload::read("deployments.apps", &object).unwrap()
    }

    /// Returns the outcome with the age of the last renewal and of the last event in seconds.
    fn outcome(replicas: i64, scale_down: bool, renewed: i64, event: i64) -> (Outcome, String) {
        let ago = |seconds| NOW - SignedDuration::from_secs(seconds);
        let lease = Lease { name: "n/o".to_owned(), renewed: ago(renewed) };
        let event = OperatorEvent { component: "o".to_owned(), at: ago(event) };
        let view = OperatorView {
            crds: Reading::Known(Vec::new()).into(),
            controllers: Reading::Known(vec![controller(replicas)]).into(),
            leases: Reading::Known(vec![lease]).into(),
            events: Reading::Known(vec![event]).into(),
            webhooks: Reading::Known(Vec::new()).into(),
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
            let object = LiveObject::read("widgets.example.com", root, &object).unwrap();
            let objects = Named::of("widgets", Reading::Known(vec![object]));
            let piece = writes(&OperatorView { objects, ..OperatorView::default() }, NOW);
            assert_eq!(piece.outcome, expected, "{}", piece.text);
        }
    }
}
