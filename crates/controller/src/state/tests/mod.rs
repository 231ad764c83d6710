mod events;
mod overdue;
mod rewrites;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use mooring_nodes::DocsUrl;
use mooring_nodes::claim::Claim;
use mooring_nodes::claim::scope::Scope;
use mooring_nodes::claim::vm_id::Interner;
use mooring_nodes::record::FailureRecord;
use mooring_nodes::verdict::{ConditionReason, messages};
use serde_json::{Value, json};

use super::condition_write::HeldVerdict;
use super::inputs::clear_unconfirmed;
use super::reads::EVENT_TTL;
use super::tracked::{TrackedClaim, Work};
use super::{Action, Input, QueueLengths, State, Sweep};
use crate::observation::karpenter::ProvisioningError;
use crate::observation::{Observation, VmObservation};
use crate::schedule::QueuePriority;
use crate::settings::Settings;

const VM_IMAGE: &str = "/subscriptions/s/galleries/AKSUbuntu/images/i/versions/1.0.0";
const COMMUNITY_IMAGE: &str = "/CommunityGalleries/AKSUbuntu/images/i/versions/1.0.0";

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000).unwrap() + SignedDuration::from_secs(seconds)
}

/// A NodeClaim that was created and launched at 0, with its name as uid.
fn claim(name: &str, change: impl FnOnce(&mut Value)) -> Claim {
    let mut object = json!({
        "metadata": {"name": name, "uid": name, "resourceVersion": "1", "creationTimestamp": at(0),
            "labels": {"karpenter.sh/nodepool": "default"}},
        "spec": {"nodeClassRef": {"group": "karpenter.azure.com", "name": "default"}},
        "status": {
            "imageID": VM_IMAGE,
            "providerID": format!("azure:///subscriptions/s/resourceGroups/g/virtualMachines/aks-{name}"),
            "conditions": [{"type": "Launched", "status": "True", "lastTransitionTime": at(0)}],
        },
    });
    change(&mut object);
    let json = object.to_string();
    Claim::from_json(json.as_bytes(), "CSEProvisioned", &mut Interner::default()).unwrap()
}

fn register(object: &mut Value) {
    let condition = json!({"type": "Registered", "status": "True", "lastTransitionTime": at(70)});
    object["status"]["conditions"].as_array_mut().unwrap().push(condition);
}

fn standby() -> State {
    let scope = Scope { subscription: "s".into(), node_resource_group: "g".into(), cluster: None };
    State::new(Settings { scope, ..Settings::default() }, at(0))
}

fn leader() -> State {
    let mut state = standby();
    state.handle(Input::Leads(true), at(0));
    state
}

fn add(state: &mut State, claim: Claim, seconds: i64) -> Vec<Action> {
    state.handle(Input::Claim(Box::new(claim)), at(seconds))
}

fn observed(name: &str, observation: Observation) -> Input {
    Input::Observed { uid: Arc::from(name), observation }
}

fn failed_vm() -> Observation {
    let message = "Enable failed: failed to execute command: command terminated with exit status=50\n[stdout]\n{ \"ExitCode\": \"50\" }";
    let view = json!({"properties": {"provisioningState": "Failed", "instanceView": {"extensions": [{
        "name": "cse-agent-karpenter", "type": "Microsoft.Azure.Extensions.CustomScript",
        "statuses": [{"code": "ProvisioningState/failed/0", "message": message}]}]}}});
    Observation::Vm(VmObservation::of(&serde_json::from_value(view).unwrap()))
}

fn event(uid: &str, name: &str, seconds: i64) -> Input {
    let text = "Failed to register: creating VM CSE for VM \"aks-x\"".to_owned();
    Input::GivenUp(ProvisioningError { uid: uid.into(), name: name.into(), at: at(seconds), text })
}

fn entry(uid: &str, cause: &str, seconds: i64) -> FailureRecord {
    serde_json::from_value(json!({
        "id": uid, "at": at(seconds), "uid": uid, "nodeClaim": uid, "pool": "default", "node": "aks-c",
        "reason": "CSEFailed", "message": "m", "note": "n", "key": "k", "cause": cause, "summary": "m",
        "image": "i",
    }))
    .unwrap()
}

fn reads(actions: &[Action]) -> usize {
    actions.iter().filter(|action| matches!(action, Action::Read(_))).count()
}

#[test]
fn result_of_an_earlier_term_is_ignored() {
    let mut state = standby();
    add(&mut state, claim("a", |_| {}), 1);
    assert!(!state.leads());
    for input in [
        observed("a", failed_vm()),
        Input::Deferred(vec![Action::Record(Box::new(entry("a", "X", 1)))]),
    ] {
        assert!(state.handle(input, at(70)).is_empty());
    }
    assert_eq!(state.claims["a"].reason(), None);
    state.handle(Input::Leads(true), at(71));
    assert!(state.leads());
    let actions = state.handle(observed("a", failed_vm()), at(72));
    assert!(actions.iter().any(|action| matches!(action, Action::Record(_))), "{actions:?}");
}

#[test]
fn deleted_claim_is_kept_until_it_is_explained() {
    let mut state = leader();
    for name in ["a", "b"] {
        add(&mut state, claim(name, |_| {}), 1);
    }
    assert_eq!(state.existing_claims(), None, "no list is complete");
    state.handle(Input::Listed(["a", "b"].map(Arc::from).into()), at(1));
    state.handle(Input::ClaimDeleted(Arc::from("a")), at(2));
    let existing = state.existing_claims().unwrap_or_default();
    let existing: Vec<&str> = existing.iter().map(|claim| &*claim.name).collect();
    assert_eq!(existing, ["b"]);
    let expected = QueueLengths { claims: 2, pending: 2, waiting: 0, nodes_without_provider_id: 0 };
    assert_eq!(state.lengths(), expected);
    // An event may report it for ten minutes.
    state.handle(Input::Tick, at(2 + EVENT_TTL.as_secs()));
    assert_eq!(state.lengths().claims, 2);
    state.handle(Input::Tick, at(3 + EVENT_TTL.as_secs()));
    assert_eq!(state.lengths().claims, 1);
}

#[test]
fn deleted_claims_above_the_limit_are_dropped_and_counted() {
    let mut state = standby();
    for number in 0..=1000 {
        assert_eq!(state.dropped().deleted, 0);
        let name = format!("c{number}");
        add(&mut state, claim(&name, |_| {}), 1);
        state.handle(Input::ClaimDeleted(Arc::from(name)), at(number / 10));
    }
    assert_eq!((state.dropped().deleted, state.lengths().claims), (1, 1000));
    assert!(!state.claims.contains_key("c0"), "the oldest");
}

#[test]
fn memory_of_a_claim_is_its_place_and_its_texts() {
    let mut state = standby();
    for number in 10..30 {
        add(&mut state, claim(&format!("c{number}"), |_| {}), 1);
    }
    let place = size_of::<(Arc<str>, TrackedClaim)>() + 1;
    let own = state.claims["c10"].claim.footprint() + 32;
    assert_eq!(state.claims.capacity(), 28, "of 32 places");
    assert_eq!(state.bytes_per_claim(), (32 * place + 20 * own) / 20);
    let tracked = state.claims.get_mut("c10").unwrap();
    assert_eq!(tracked.heap(), own);
    tracked.work();
    assert_eq!(tracked.heap(), own + size_of::<Work>() + 16);
    assert_eq!(standby().bytes_per_claim(), 0);
}

#[test]
fn recorded_failures_are_bounded_by_time() {
    let mut state = standby();
    for number in 0..8190 {
        state.count_recorded(&entry(&format!("u{number}"), "X", number % 2));
    }
    for uid in ["new-1", "new-2"] {
        state.count_recorded(&entry(uid, "X", 3600));
    }
    assert_eq!(state.recorded.len(), 8192);
    state.count_recorded(&entry("new-3", "X", 3600));
    // Those of an hour ago are forgotten.
    assert_eq!(state.recorded.len(), 4095 + 3);
    assert!(state.recorded.values().all(|recorded| recorded.at > at(0)));
}

#[test]
fn registration_refutes_what_the_clock_or_an_event_reported() {
    use ConditionReason::{
        CseFailureUnconfirmed, CseStatusUnavailable, NoCseExtension, NodeNotRegistered,
    };
    for (image, held, reason, message) in [
        (VM_IMAGE, NodeNotRegistered, CseStatusUnavailable, messages::REGISTERED),
        (COMMUNITY_IMAGE, NodeNotRegistered, NoCseExtension, messages::NO_EXTENSION),
        (VM_IMAGE, CseFailureUnconfirmed, CseStatusUnavailable, messages::REGISTERED),
        (COMMUNITY_IMAGE, CseFailureUnconfirmed, CseStatusUnavailable, messages::REGISTERED),
        (VM_IMAGE, ConditionReason::CseFailed, ConditionReason::CseFailed, "m"),
    ] {
        for registered in [true, false] {
            let mut tracked = TrackedClaim::new(claim("a", |object| {
                object["status"]["imageID"] = json!(image);
                if registered {
                    register(object);
                }
            }));
            let before =
                HeldVerdict { was_written: true, ..HeldVerdict::unwritten(held, "m", None) };
            tracked.held = Some(before.clone());
            clear_unconfirmed(&mut tracked);
            let after = tracked.held.unwrap();
            if registered {
                assert_eq!((after.reason, &*after.message), (reason, message), "{image} {held}");
            } else {
                assert_eq!(after, before);
            }
        }
    }
}

#[test]
fn condition_and_record_of_a_failure_link_to_the_page_of_its_cause() {
    let docs = DocsUrl::parse("https://docs.example/mooring").unwrap();
    for (docs, end) in [
        (docs, "details. https://docs.example/mooring/codes/50.html"),
        (DocsUrl::default(), "See VM extension logs for details."),
    ] {
        let mut state = leader();
        state.settings.docs = docs;
        add(&mut state, claim("a", |_| ()), 10);
        let actions = state.handle(observed("a", failed_vm()), at(20));
        let mut written = actions.iter().filter_map(|action| match action {
            Action::Patch { body, .. } => Some(body.to_string()),
            Action::Record(entry) => Some(format!("{}\"", entry.message)),
            _ => None,
        });
        assert!(written.all(|text| text.contains(&format!("{end}\""))), "{actions:?}");
        assert!(actions.iter().any(|action| matches!(action, Action::Patch { .. })), "{actions:?}");
    }
}

#[test]
fn event_before_its_claim_is_kept_for_ten_minutes() {
    let ttl = EVENT_TTL.as_secs();
    for (name, seconds, taken) in
        [("a", 1, true), ("b", 1, false), ("a", ttl, true), ("a", ttl + 1, false)]
    {
        let mut state = leader();
        state.handle(event("a", name, 0), at(0));
        state.handle(event("other", "other", 0), at(0));
        add(&mut state, claim("a", |_| {}), seconds);
        let kept = state.claims["a"].work.as_ref().is_some_and(|work| work.event.is_some());
        assert_eq!(kept, taken, "{name} {seconds}");
        assert_eq!(state.early_events.len(), 1, "of another NodeClaim");
    }
}

#[test]
fn pause_requested_by_azure_is_bounded() {
    let mut state = leader();
    add(&mut state, claim("a", |_| {}), 0);
    for (pause, seconds) in [(Some(90), 90), (Some(10_000), 600), (None, 0)] {
        let retry_after = pause.map(Duration::from_secs);
        state.handle(observed("a", Observation::Throttled { retry_after }), at(70));
        let history = state.claims["a"].history();
        assert_eq!((history.retry_after_seconds, history.last), (seconds, None));
    }
    state.handle(observed("a", Observation::Missing), at(80));
    assert_eq!(state.claims["a"].history().last, Some(at(80)));
}

/// A NodeClaim that never launched has no VM to read.
#[test]
fn event_about_an_unlaunched_claim_counts_when_it_is_deleted() {
    let unlaunched = |object: &mut Value| object["status"] = json!({});
    let mut state = leader();
    add(&mut state, claim("a", unlaunched), 1);
    state.handle(event("a", "a", 2), at(2));
    assert_eq!(state.claims["a"].reason(), None, "not confirmed by the API server");
    let deleted = |object: &mut Value| {
        unlaunched(object);
        object["metadata"]["deletionTimestamp"] = json!(at(3));
    };
    add(&mut state, claim("a", deleted), 3);
    assert_eq!(state.claims["a"].reason(), Some(ConditionReason::CseFailureUnconfirmed));
    // Without an event there is nothing to report.
    let mut state = leader();
    add(&mut state, claim("a", deleted), 3);
    assert_eq!(state.claims["a"].reason(), None);
}

#[test]
fn event_is_not_evidence_after_ten_minutes() {
    let ttl = EVENT_TTL.as_secs();
    for (seconds, expected) in
        [(ttl, Some(ConditionReason::CseFailureUnconfirmed)), (ttl + 1, None)]
    {
        let mut state = leader();
        let unlaunched = |object: &mut Value| object["status"] = json!({});
        add(&mut state, claim("a", unlaunched), 0);
        state.handle(event("a", "a", 0), at(0));
        let deleted = |object: &mut Value| {
            unlaunched(object);
            object["metadata"]["deletionTimestamp"] = json!(at(seconds));
        };
        add(&mut state, claim("a", deleted), seconds);
        assert_eq!(state.claims["a"].reason(), expected, "{seconds}");
    }
}

#[test]
fn list_is_requested_once_in_30_seconds_while_many_start() {
    let mut state = leader();
    state.settings.sweep_above = 1;
    add(&mut state, claim("a", |_| {}), 0);
    let sweeps = |actions: &[Action]| -> Vec<Sweep> {
        let sweep = |action: &Action| match action {
            Action::Sweep(sweep) => Some(sweep.clone()),
            _ => None,
        };
        actions.iter().filter_map(sweep).collect()
    };
    assert_eq!((state.is_sweeping(), state.next_sweep(at(0))), (false, None));
    let actions = add(&mut state, claim("b", |_| {}), 0);
    let list = Sweep::Extensions { subscription: "s".into(), group: "g".into() };
    assert_eq!(sweeps(&actions), std::slice::from_ref(&list), "one for all");
    assert_eq!(state.next_sweep(at(1)), Some(at(30)));
    assert_eq!(sweeps(&state.handle(Input::Tick, at(29))), []);
    assert_eq!(sweeps(&state.handle(Input::Tick, at(30))), [list]);
    // Scheduled reads wait for the list.
    assert_eq!(reads(&state.handle(Input::Tick, at(100))), 0);
    let rows = HashMap::from([("aks-b".to_owned(), crate::observation::ProvisioningState::Failed)]);
    let result = super::SweepResult::Extensions { group: "G".into(), rows };
    let actions = state.handle(Input::SweepResult(result), at(101));
    let read = actions.iter().find_map(|action| match action {
        Action::Read(read) => Some((&*read.uid, read.priority)),
        _ => None,
    });
    assert_eq!((read, reads(&actions)), (Some(("b", QueuePriority::Sweep)), 1));
}
