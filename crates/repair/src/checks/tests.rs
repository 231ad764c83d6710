//! Preconditions and evidence of checks, for a run that is about to change something.

use std::cell::OnceCell;

use jiff::{SignedDuration, Timestamp};
use mooring_workflow::reading::Named;
use mooring_workflow::{CheckResult, Outcome, Reading};
use serde_json::json;

use super::table::{evaluate, evidence, preconditions};
use super::wedge;
use crate::common;
use crate::names::*;
use crate::observation::{
    ActivityEvent, ClusterView, Instance, ManagedCluster, Nic, Pool, ScaleSet,
};
use crate::operation::OperationScope;
use crate::plan::Step;
use crate::settings::Settings;
use crate::workflow::effects::Effect;
use crate::workflow::{Entry, Run, temporary};

const NOW: Timestamp = Timestamp::UNIX_EPOCH;
const SET: &str = "aks-p-vmss";

fn settings() -> Settings {
    Settings::new(common::target("p"))
}

/// Returns a run of pool `p` that has done all steps before `step`.
fn run_at(step: Option<Step>) -> Run {
    let mut run = Run::begin("run", common::session(&settings()), NOW);
    for done in Step::ALL.iter().filter(|done| step.is_none_or(|step| **done < step)) {
        run.change(NOW, &Entry::StepDone { step: *done, evidence: Vec::new() }).unwrap();
    }
    run
}

fn pools(is_autoscaled: bool) -> Reading<Vec<Pool>> {
    let properties = json!({"provisioningState": "Failed", "enableAutoScaling": is_autoscaled});
    let pool = json!({"id": "/c/agentPools/p", "name": "p", "properties": properties});
    Reading::Known(vec![Pool::read(&pool).unwrap()])
}

fn scale_sets() -> Reading<Vec<ScaleSet>> {
    let set = json!({"id": "v", "name": SET, "tags": {"aks-managed-poolName": "p"}});
    Reading::Known(vec![ScaleSet::read(&set).unwrap()])
}

#[test]
fn preconditions_of_each_effect() {
    let (before, after) = (run_at(Some(Step::DrainPool)), run_at(Some(Step::CordonTemporary)));
    let name = |name: &str| (name.to_owned(), String::new());
    let put = |pool: &str| Effect::PutPool { pool: pool.into(), body: json!({}), only: None };
    let abort = Effect::AbortOperation {
        scope: OperationScope::Cluster,
        operation: "o".into(),
        judged: None,
    };
    let (node, uid) = name("n");
    let cordon = Effect::Cordon { node: node.clone(), uid: uid.clone() };
    let uncordon = Effect::Uncordon { node, uid: uid.clone() };
    let (namespace, pod) = name("default");
    let evict = Effect::Evict { namespace: namespace.clone(), pod: pod.clone(), uid: uid.clone() };
    let delete_pod = Effect::DeletePod { namespace, pod, uid, reason: "r".into() };
    let delete = Effect::DeletePool { pool: "p".into(), if_match: None };
    let tag = Effect::TagCluster { name: "t".into(), value: "v".into() };

    let unchanged = [POOL_UNCHANGED, POOL_STATE, REPLACEMENT_READY];
    let removal = [POOL_UNCHANGED, POOL_STATE, REPLACEMENT_READY, FAILING_WRITES];
    let creation = [POOL_UNCHANGED, POOL_STATE, FAILING_WRITES];
    for (effect, expected) in [
        (&abort, &[WEDGED][..]),
        (&put(&temporary(&before)), &creation),
        (&put("p"), &[]),
        (&cordon, &removal),
        (&delete, &removal),
        (&evict, &unchanged),
        (&delete_pod, &unchanged),
        (&uncordon, &[]),
        (&tag, &[]),
    ] {
        assert_eq!(preconditions(effect, &before), expected, "{effect:?}");
    }
    for effect in [&cordon, &delete, &evict, &delete_pod] {
        assert_eq!(
            preconditions(effect, &after),
            [POOL_RECREATED, REPLACEMENT_READY],
            "{effect:?}"
        );
    }
}

/// The evidence of an overridden check that passes is its result, not the override.
#[test]
fn evidence_names_overrides_of_checks_that_do_not_pass() {
    let mut settings = settings();
    let names = [MISSING_NODES, FAILING_WRITES, CLUSTER_STATE, OTHER_POOLS, POOL_STATE];
    for name in names {
        settings.apply_override(name, "known");
    }
    let cluster = json!({"id": "/c", "properties": {"provisioningState": "Succeeded"}});
    let view = ClusterView {
        cluster: Reading::Known(ManagedCluster::read(&cluster).unwrap()).into(),
        pools: pools(false).into(),
        scale_sets: scale_sets().into(),
        instances: Named::of(SET, Reading::Known(Vec::new())),
        nics: Named::of(SET, Reading::Known(Vec::new())),
        events: Reading::Known(Vec::new()).into(),
        nodes: Reading::Known(Vec::new()).into(),
        ..ClusterView::default()
    };
    let checks = evaluate(&view, &settings, NOW);
    let evidence: Vec<String> = checks.iter().map(evidence).collect();
    assert_eq!(evidence.len(), names.len(), "{evidence:?}");
    let overridden = |name: &str| evidence.contains(&format!("{name} overridden: known"));
    assert!(overridden(FAILING_WRITES), "{evidence:?}");
    assert!(!overridden(CLUSTER_STATE), "{evidence:?}");
    let passed = format!("{CLUSTER_STATE}: ");
    assert!(evidence.iter().any(|text| text.starts_with(&passed)), "{evidence:?}");
}

/// A write may succeed while live state still shows the wedge.
#[test]
fn success_ends_a_wedge_only_without_a_sign_since() {
    let at = |minutes| (NOW + SignedDuration::from_mins(minutes)).to_string();
    for (addresses, recovers) in [(json!([]), false), (json!([{}]), true)] {
        let event = json!({
            "resourceId": "v", "status": {"value": "Succeeded"}, "eventTimestamp": at(10),
            "operationName": {"value": "Microsoft.Compute/virtualMachineScaleSets/write"},
        });
        let instance = json!({"id": "i", "properties": {"timeCreated": at(20)}});
        let nic = json!({"name": "n", "properties": {"virtualMachine": {"id": "i"},
            "ipConfigurations": addresses}});
        let view = ClusterView {
            pools: pools(false).into(),
            events: Reading::Known(vec![ActivityEvent::read(&event).unwrap()]).into(),
            scale_sets: scale_sets().into(),
            instances: Named::of(SET, Reading::Known(vec![Instance::read(&instance).unwrap()])),
            nics: Named::of(SET, Reading::Known(vec![Nic::read(&nic).unwrap()])),
            ..ClusterView::default()
        };
        let now = NOW + SignedDuration::from_mins(60);
        assert_eq!(wedge::recovered(&view, &settings(), now).is_some(), recovers);
    }
}

/// A write that the log did not show before the abort may be up to 20 minutes old.
#[test]
fn result_before_an_abort_is_kept_unless_a_write_succeeded() {
    let (before, now) = (NOW + SignedDuration::from_mins(60), NOW + SignedDuration::from_mins(65));
    let succeeded = |seconds: i64| {
        let event = json!({
            "correlationId": "c", "resourceId": "v", "status": {"value": "Succeeded"},
            "operationName": {"value": "Microsoft.Compute/virtualMachineScaleSets/write"},
            "eventTimestamp": (NOW + SignedDuration::from_secs(seconds)).to_string(),
        });
        Some(Reading::Known(vec![ActivityEvent::read(&event).unwrap()]))
    };
    let none = || Some(Reading::Known(Vec::new()));
    let denied = Some(Reading::Denied("AuthorizationFailed".to_owned()));
    for (events, scale_sets, expected) in [
        (none(), Some(scale_sets()), Outcome::Pass),
        (denied, Some(scale_sets()), Outcome::Fail),
        (None, Some(scale_sets()), Outcome::Fail),
        (none(), None, Outcome::Fail),
        (succeeded(40 * 60), Some(scale_sets()), Outcome::Pass),
        (succeeded(40 * 60 + 1), Some(scale_sets()), Outcome::Fail),
    ] {
        let cell = |events: Option<_>| events.map(OnceCell::from).unwrap_or_default();
        let sets = scale_sets.map(OnceCell::from).unwrap_or_default();
        let view = ClusterView {
            pools: pools(false).into(),
            events: cell(events),
            scale_sets: sets,
            ..ClusterView::default()
        };
        let mut results = [CheckResult::new(FAILING_WRITES, Outcome::Fail, "too few")];
        wedge::keep(&mut results, &view, &settings(), before, now);
        assert_eq!(results[0].outcome, expected, "{view:?}");
        let is_kept = results[0].evidence[0].starts_with("result from right before");
        assert_eq!(is_kept, expected == Outcome::Pass, "{:?}", results[0].evidence);
    }
}
