use serde_json::json;

use super::*;
use crate::claim::vm_id::Interner;
use crate::claim::{Claim, ClaimMode};

const VM: VmState = VmState {
    power: Power::Running,
    agent: AgentState::Ready,
    lacks_extension: true,
    runs_extension: false,
};

#[test]
fn most_specific_proven_cause_is_chosen() {
    use NodeState as Node;
    use RequestState as Request;
    let stopped = VmState { power: Power::Stopped, ..VM };
    let silent = VmState { agent: AgentState::Silent, ..VM };
    let running = VmState { lacks_extension: false, runs_extension: true, ..VM };
    let unseen = VmState { power: Power::Unknown, agent: AgentState::Unknown, ..VM };
    for (mode, vm, node, request, expected) in [
        (ClaimMode::Scriptless, Some(VM), Node::Absent, Request::Absent, "NoCSR"),
        (ClaimMode::Scriptless, Some(VM), Node::Absent, Request::Unknown, "NoNode"),
        (ClaimMode::Scriptless, Some(VM), Node::Unknown, Request::Unknown, "NoNode"),
        (ClaimMode::Scriptless, Some(VM), Node::Unknown, Request::Absent, "NoNode"),
        (ClaimMode::Scriptless, Some(VM), Node::Absent, Request::Pending, "CSRPending"),
        (ClaimMode::Scriptless, Some(VM), Node::Absent, Request::Denied, "CSRDenied"),
        (ClaimMode::Scriptless, Some(VM), Node::Absent, Request::Approved, "NoNodeAfterCSR"),
        (
            ClaimMode::Scriptless,
            Some(VM),
            Node::NoProviderId,
            Request::Approved,
            "NodeWithoutProviderID",
        ),
        (ClaimMode::Scriptless, Some(VM), Node::NotReady, Request::Approved, "NodeNeverReady"),
        (ClaimMode::Scriptless, Some(VM), Node::Ready, Request::Approved, "NodeNotMatched"),
        (ClaimMode::Scriptless, Some(stopped), Node::Absent, Request::Absent, "VMNotRunning"),
        (ClaimMode::Scriptless, Some(silent), Node::Absent, Request::Absent, "AgentSilent"),
        (ClaimMode::Scriptless, Some(unseen), Node::Absent, Request::Absent, "NoEvidence"),
        (ClaimMode::Scriptless, None, Node::Absent, Request::Absent, "NoEvidence"),
        (
            ClaimMode::Scriptless,
            None,
            Node::NoProviderId,
            Request::Unknown,
            "NodeWithoutProviderID",
        ),
        (ClaimMode::Vm, Some(VM), Node::Absent, Request::Absent, "CSENotCreated"),
        (ClaimMode::Vm, Some(stopped), Node::Absent, Request::Absent, "VMNotRunning"),
        (ClaimMode::Vm, Some(running), Node::Absent, Request::Absent, "StillRunning"),
        (ClaimMode::Machine, Some(VM), Node::Absent, Request::Absent, "NoCSR"),
    ] {
        let cause = RegistrationCause::of(
            Some(mode),
            AzureReading::of(vm, false),
            ClusterState { node, request },
        );
        assert_eq!(cause.as_str(), expected, "{mode:?} {vm:?} {node:?} {request:?}");
    }
}

#[test]
fn confidence_is_low_without_evidence_and_high_with_proof() {
    for (cause, expected) in [
        (RegistrationCause::NothingSeen, "low"),
        (RegistrationCause::ReadRefused, "low"),
        (RegistrationCause::NoNode, "low"),
        (RegistrationCause::NoRequest, "medium"),
        (RegistrationCause::VmNotRunning, "high"),
        (RegistrationCause::NodeWithoutProviderId, "high"),
    ] {
        assert_eq!(cause.confidence(), expected, "{cause:?}");
    }
}

#[test]
fn unreadable_vm_has_its_own_cause() {
    let cause = |vm, denied| {
        let azure = AzureReading::of(vm, denied);
        RegistrationCause::of(None, azure, ClusterState::default()).as_str()
    };
    assert_eq!((cause(None, true), cause(None, false)), ("ReadRefused", "NoEvidence"));
    assert_eq!(cause(Some(VM), true), "NoNode", "what was seen before counts");
}

fn claim(registered: &str, since: &str, deleted: Option<&str>) -> Claim {
    let mut object = json!({
        "metadata": {"name": "c", "uid": "u", "creationTimestamp": "2026-11-15T08:00:00Z"},
        "spec": {"nodeClassRef": {"group": "karpenter.azure.com", "name": "default"}},
        "status": {"conditions": [{"type": "Registered", "status": registered, "lastTransitionTime": since}]},
    });
    if let Some(deleted) = deleted {
        object["metadata"]["deletionTimestamp"] = json!(deleted);
    }
    Claim::from_json(object.to_string().as_bytes(), "CSEProvisioned", &mut Interner::default())
        .unwrap()
}

#[test]
fn overdue_is_decided_by_the_clock_alone() {
    let created = "2026-11-15T08:00:00Z";
    for (registered, since, deleted, now, expected) in [
        // Deleted by a user, by the time limit, and by a Karpenter that is a little early.
        ("Unknown", created, Some("2026-11-15T08:03:00Z"), "2026-11-15T08:03:01Z", None),
        (
            "Unknown",
            created,
            Some("2026-11-15T08:15:00Z"),
            "2026-11-15T08:15:01Z",
            Some((15, false, false)),
        ),
        (
            "Unknown",
            created,
            Some("2026-11-15T08:14:30Z"),
            "2026-11-15T08:15:01Z",
            Some((15, false, false)),
        ),
        ("Unknown", created, Some("2026-11-15T08:14:29Z"), "2026-11-15T09:15:01Z", None),
        // Existing.
        ("Unknown", created, None, "2026-11-15T08:15:59Z", None),
        ("Unknown", created, None, "2026-11-15T08:16:00Z", Some((16, true, false))),
        ("Unknown", created, None, "2026-11-15T08:20:00Z", Some((20, true, true))),
        // Registered, regardless of the delay.
        (
            "True",
            "2026-11-15T08:14:59Z",
            Some("2026-11-15T09:00:00Z"),
            "2026-11-15T09:00:00Z",
            None,
        ),
        // More than one Node: the time counts from then.
        (
            "False",
            "2026-11-15T08:14:00Z",
            Some("2026-11-15T08:16:00Z"),
            "2026-11-15T08:16:01Z",
            None,
        ),
        ("False", "2026-11-15T08:14:00Z", None, "2026-11-15T08:29:00Z", None),
        (
            "False",
            "2026-11-15T08:14:00Z",
            Some("2026-11-15T08:29:00Z"),
            "2026-11-15T08:29:01Z",
            Some((15, false, false)),
        ),
    ] {
        let claim = claim(registered, since, deleted);
        let found = overdue(&claim, None, now.parse().unwrap());
        let found = found.map(|found| (found.minutes, found.is_alive, found.is_idle));
        assert_eq!(found, expected, "{registered} since {since}, deleted {deleted:?}, at {now}");
    }
    let placeholder = "2026-11-15T08:15:03Z".parse().unwrap();
    let found = overdue(&claim("Unknown", created, None), Some(placeholder), placeholder);
    assert!(found.is_some_and(|found| !found.is_alive), "an object that was removed was given up");
    // However late that is noticed.
    let noticed: jiff::Timestamp = "2026-11-15T11:00:00Z".parse().unwrap();
    for (deleted, failed) in [(None, "08:15:00"), (Some("2026-11-15T08:15:04Z"), "08:15:04")] {
        let found = overdue(&claim("Unknown", created, deleted), None, noticed).unwrap();
        assert_eq!(found.at.to_string(), format!("2026-11-15T{failed}Z"));
    }
}
