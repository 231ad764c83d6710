//! The check `operator-gone`: each sign of a running operator blocks, and so do failed reads.

use jiff::SignedDuration;
use mooring_finalizers::checks::OPERATOR_GONE;
use mooring_finalizers::commands::{CommandResult, StartError};
use mooring_finalizers::plan::Plan;
use mooring_finalizers::profile::Profile;
use mooring_finalizers::profile::Settings;
use mooring_workflow::approval::Approval;
use mooring_workflow::{CheckResult, Outcome};
use serde_json::{Value, json};

use crate::harness::{Harness, approved, call, planned};

fn check(plan: &Plan) -> &CheckResult {
    let found = plan.checks.iter().find(|check| check.name == OPERATOR_GONE);
    found.unwrap()
}

/// A group with one object, and no sign of its operator.
async fn bare(case: &str) -> (Harness, String) {
    let mut harness = Harness::model(case);
    let group = format!("{case}.example.com");
    harness.group.clone_from(&group);
    harness.settings = Settings::new(Profile::of_group(&group).checked().unwrap());
    let root = harness.define(&group, "things", true, &[("v1", true, true)]).await;
    let path = harness.object(&root, "things", Some("default"), "x", &[&harness.listed()]).await;
    let gone = planned(&harness.remover()).await;
    assert_eq!(check(&gone).outcome, Outcome::Pass, "{:?}", gone.checks);
    assert_eq!(check(&gone).evidence.len(), 6, "every piece is shown: {:?}", gone.checks);
    (harness, path)
}

async fn outcome(harness: &Harness) -> (Outcome, String) {
    let plan = planned(&harness.remover()).await;
    let check = check(&plan);
    (check.outcome, check.evidence.join("; "))
}

async fn pass_time(hours: i64) {
    tokio::time::sleep(std::time::Duration::from_secs(hours.unsigned_abs() * 3600 + 1)).await;
}

/// How long each sign counts is a table in `checks/operator_gone.rs`.
#[tokio::test(start_paused = true)]
async fn lease_write_and_event_of_the_operator_block() {
    let (harness, path) = bare("lively").await;
    let now = harness.model.as_ref().unwrap().now();
    let blocks = async |sign: &str| {
        let (found, why) = outcome(&harness).await;
        assert!(found == Outcome::Fail && why.contains(sign), "{sign}: {why}");
        pass_time(24).await;
        assert_eq!(outcome(&harness).await.0, Outcome::Pass, "{sign}");
    };
    let list = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
    harness.create(list, json!({
        "metadata": {"name": "lively-leader-election"},
        "spec": {"holderIdentity": "pod_1", "leaseDurationSeconds": 15, "renewTime": format!("{now:.6}")},
    })).await;
    blocks("Lease kube-system/lively-leader-election was renewed just now").await;
    let patch = |value: u32| json!({"spec": {"size": value}});
    harness.call("PATCH", &format!("{path}?fieldManager=kubectl-edit"), patch(4)).await;
    assert_eq!(outcome(&harness).await.0, Outcome::Pass);
    harness.call("PATCH", &format!("{path}?fieldManager=lively-controller"), patch(5)).await;
    blocks("field manager lively-controller wrote things.lively.example.com default/x").await;
    let now = harness.model.as_ref().unwrap().now();
    let event = |name: &str, component: &str| {
        json!({
            "metadata": {"name": name, "namespace": "default"},
            "involvedObject": {"apiVersion": "lively.example.com/v1", "kind": "Thing", "name": "x", "namespace": "default"},
            "reason": "Reconciled", "message": "m", "type": "Normal", "source": {"component": component},
            "lastTimestamp": format!("{now:.0}"), "firstTimestamp": format!("{now:.0}"), "count": 1,
        })
    };
    harness.create("/api/v1/namespaces/default/events", event("a", "mooring")).await;
    assert_eq!(outcome(&harness).await.0, Outcome::Pass);
    harness.create("/api/v1/namespaces/default/events", event("b", "thing-controller")).await;
    blocks("thing-controller reported an event").await;
    let forgotten = json!({"metadata": {"managedFields": []}, "spec": {"size": 6}});
    harness.call("PATCH", &path, forgotten).await;
    let (found, why) = outcome(&harness).await;
    assert_eq!(found, Outcome::Unknown, "nobody can tell who wrote it: {why}");
}

#[tokio::test(start_paused = true)]
async fn writes_by_mooring_do_not_block_the_next_plan() {
    let (harness, _) = bare("twice").await;
    let root = "/apis/twice.example.com/v1";
    let held = harness
        .object(root, "things", Some("default"), "held", &["example.com/hold", &harness.listed()])
        .await;
    harness.apply().await;
    let (_, found) = harness.get(&held).await;
    assert_eq!(found["metadata"]["finalizers"], json!(["example.com/hold"]));
    assert_eq!(outcome(&harness).await.0, Outcome::Pass);
}

#[tokio::test(start_paused = true)]
async fn webhook_with_ready_endpoints_or_a_url_blocks() {
    let (harness, _) = bare("hooked").await;
    let list = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    let hook = |name: &str, client: Value| {
        json!({"metadata": {"name": name}, "webhooks": [{
            "name": "h.example.com", "rules": [{"apiGroups": [harness.group]}], "clientConfig": client,
            "sideEffects": "None", "admissionReviewVersions": ["v1"],
        }]})
    };
    let service = json!({"service": {"namespace": "default", "name": "hooks"}});
    harness.create(list, hook("by-service", service)).await;
    assert_eq!(outcome(&harness).await.0, Outcome::Pass, "a service without endpoints");
    let slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
    let slice = |name: &str, service: &str, ready: bool| {
        json!({
            "metadata": {"name": name, "labels": {"kubernetes.io/service-name": service}},
            "addressType": "IPv4", "endpoints": [{"addresses": ["10.0.0.1"], "conditions": {"ready": ready}}],
        })
    };
    harness.create(slices, slice("a", "hooks", false)).await;
    harness.create(slices, slice("b", "other", true)).await;
    assert_eq!(outcome(&harness).await.0, Outcome::Pass);
    harness.create(slices, slice("c", "hooks", true)).await;
    let (found, why) = outcome(&harness).await;
    assert_eq!(found, Outcome::Fail);
    assert!(
        why.contains("webhook configuration by-service has a Service with ready endpoints"),
        "{why}"
    );
    harness.call("DELETE", &format!("{slices}/c"), Value::Null).await;
    harness.create(list, hook("by-url", json!({"url": "https://hooks.example.com"}))).await;
    let (found, why) = outcome(&harness).await;
    assert_eq!(found, Outcome::Unknown);
    assert!(why.contains("by-url") && why.contains("URL"), "{why}");
}

#[tokio::test(start_paused = true)]
async fn daemon_set_counts_as_running_and_cannot_be_scaled() {
    let (mut harness, _) = bare("daemon").await;
    harness.model.as_ref().unwrap().with(|model, now| {
        let ready = json!({"conditions": [{"type": "Ready", "status": "True"}]});
        model.create(json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": ready}), now).unwrap();
        model.create(json!({
            "apiVersion": "apps/v1", "kind": "DaemonSet",
            "metadata": {"name": "daemon-agent", "namespace": "default"},
            "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {
                "metadata": {"labels": {"a": "b"}},
                "spec": {"containers": [{"name": "c", "image": "example.invalid/c"}]}}},
        }), now).unwrap();
    });
    let (found, why) = outcome(&harness).await;
    assert!(
        found == Outcome::Fail && why.contains("daemonsets.apps default/daemon-agent"),
        "{why}"
    );
    harness.settings.scale_down = true;
    let (found, why) = outcome(&harness).await;
    assert!(found == Outcome::Fail && why.contains("cannot be scaled down"), "{why}");
    // A running workload cannot be overridden.
    harness.settings.overrides.insert(OPERATOR_GONE.into(), "I know better".into());
    let plan = planned(&harness.remover()).await;
    assert!(!check(&plan).allows_run(), "{:?}", plan.checks);
}

#[tokio::test(start_paused = true)]
async fn failed_reads_block_also_with_best_effort() {
    let unreadable = [
        ("/apis/coordination.k8s.io/v1/leases", "leases.coordination.k8s.io"),
        ("/api/v1/events", "events"),
        ("/apis/apps/v1/daemonsets", "daemonsets.apps"),
        (
            "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
            "mutatingwebhookconfigurations",
        ),
    ];
    for (path, named) in unreadable {
        let (mut harness, object) = bare("blind").await;
        crate::acceptance::fault(&harness, "GET", path, 403, None);
        harness.settings.best_effort = true;
        let remover = harness.remover();
        let plan = planned(&remover).await;
        let ending = remover
            .apply(&plan, &Approval::Pipeline(plan.approval.hash.clone()), Box::new(|_, _, _| {}))
            .await;
        let CommandResult::Refused(StartError::Unknown { name, why }) = ending else {
            panic!("{path}: {ending:?}")
        };
        assert!(name == OPERATOR_GONE && why.contains(named), "{path}: {why}");
        let (_, found) = harness.get(&object).await;
        assert!(found["metadata"]["deletionTimestamp"].is_null(), "{path}");
    }
}

#[tokio::test(start_paused = true)]
async fn cluster_without_readable_identity_is_never_approved() {
    let (mut harness, _) = bare("nameless").await;
    crate::acceptance::fault(&harness, "GET", "/api/v1/namespaces/kube-system", 403, None);
    for best_effort in [false, true] {
        harness.settings.best_effort = best_effort;
        let remover = harness.remover();
        let plan = planned(&remover).await;
        for approval in [
            approved(&plan),
            Approval::Typed(plan.approval.hash.clone()),
            Approval::Pipeline(plan.approval.hash.clone()),
        ] {
            let ending = remover.apply(&plan, &approval, Box::new(|_, _, _| {})).await;
            let CommandResult::Refused(StartError::Refused { name, .. }) = ending else {
                panic!("{ending:?}")
            };
            assert_eq!(name, "cluster-identity");
        }
    }
}

/// Controllers outside the cluster leave no signs while idle.
#[tokio::test(start_paused = true)]
async fn managed_groups_need_an_override_that_the_hash_covers() {
    for (group, always) in [
        ("karpenter.sh", true),
        ("keda.sh", true),
        ("infrastructure.cluster.x-k8s.io", false),
        ("cert-manager.io", false),
    ] {
        let mut harness = Harness::model("managed");
        harness.settings = Settings::new(Profile::of_group(group).checked().unwrap());
        let root = harness.define(group, "things", true, &[("v1", true, true)]).await;
        let (found, why) = outcome(&harness).await;
        assert_eq!(found == Outcome::Fail, always, "{group}: {why}");
        let object = harness.object(&root, "things", Some("default"), "x", &[]).await;
        pass_time(48).await;
        let (found, why) = outcome(&harness).await;
        assert!(found == Outcome::Fail && why.contains(group), "{group}: {why}");
        let expires = harness.remover().expiry();
        let blocked = harness.remover().plan(expires).await.unwrap();
        let ending =
            harness.remover().apply(&blocked, &approved(&blocked), Box::new(|_, _, _| {})).await;
        assert!(matches!(ending, CommandResult::Refused(StartError::Refused { .. })), "{ending:?}");
        let with = |reason: &str| {
            let mut settings = harness.settings.clone();
            settings.overrides.insert(OPERATOR_GONE.into(), reason.into());
            harness.remover_by(harness.client("admin"), settings)
        };
        let one = with("moved").plan(expires).await.unwrap();
        let other = with("another reason").plan(expires).await.unwrap();
        assert!(
            one.approval.hash != blocked.approval.hash && one.approval.hash != other.approval.hash,
            "{group}"
        );
        let ending = with("moved").apply(&one, &approved(&other), Box::new(|_, _, _| {})).await;
        assert!(
            matches!(ending, CommandResult::Refused(StartError::PlanChanged { .. })),
            "{ending:?}"
        );
        let (status, _) = call(&harness.client("admin"), "GET", &object, &Value::Null).await;
        assert_eq!(status, 200);
        let (ending, _) = harness.apply_by(&with("moved")).await;
        assert!(matches!(ending, CommandResult::Stopped(_)), "{ending:?}");
        assert!(harness.is_gone(&object).await, "{group}");
    }
}

#[tokio::test(start_paused = true)]
async fn operator_that_starts_again_keeps_its_finalizers() {
    let (mut harness, path) = bare("returning").await;
    harness.settings.limits.overall = SignedDuration::from_mins(30);
    // It blocked the deletion of the object, and then holds a Lease.
    let client = harness.client("admin");
    let shell = harness.model.clone().unwrap();
    let _operator = crate::harness::AbortOnDrop(tokio::spawn(async move {
        let list = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
        loop {
            tokio::time::sleep(std::time::Duration::from_secs(1)).await;
            let ahead = shell.now() + SignedDuration::from_mins(1);
            let lease = json!({
                "metadata": {"name": "returning"},
                "spec": {"holderIdentity": "returning_1", "renewTime": format!("{ahead:.6}")},
            });
            call(&client, "POST", list, &lease).await;
        }
    }));
    let root = "/apis/returning.example.com/v1";
    harness.object(root, "things", Some("default"), "held", &["example.com/hold"]).await;
    let plan = planned(&harness.remover()).await;
    tokio::time::sleep(std::time::Duration::from_secs(3)).await;
    let remover = harness.remover();
    let ending = remover
        .apply(&plan, &Approval::Typed(plan.approval.hash.clone()), Box::new(|_, _, _| {}))
        .await;
    let CommandResult::Stopped(mooring_workflow::RunOutcome::Resumable { message, .. }) = ending
    else {
        panic!("{ending:?}")
    };
    assert!(message.contains("Lease kube-system/returning is being renewed"), "{message}");
    let (_, found) = harness.get(&path).await;
    assert_eq!(found["metadata"]["finalizers"], json!([harness.listed()]));
}

#[tokio::test(start_paused = true)]
async fn object_created_after_the_plan_is_kept() {
    let (harness, path) = bare("later").await;
    let remover = harness.remover();
    let plan = planned(&remover).await;
    let root = "/apis/later.example.com/v1";
    let late = harness.object(root, "things", Some("default"), "late", &[&harness.listed()]).await;
    remover.apply(&plan, &approved(&plan), Box::new(|_, _, _| {})).await;
    assert!(harness.is_gone(&path).await);
    let (status, found) = harness.get(&late).await;
    assert!(status == 200 && found["metadata"]["deletionTimestamp"].is_null(), "{found}");
    let report = crate::harness::Report::of(&remover.status().await.unwrap());
    let why = crate::cases::why(&report, "things.later.example.com", "late");
    assert!(why.contains("not part of the approved plan"), "{why}");
}

#[tokio::test(start_paused = true)]
async fn rejected_credentials_are_a_login_error() {
    let (harness, path) = bare("signin").await;
    // From the first request on, or in the middle of planning.
    for pattern in ["/*", "/apis/coordination.k8s.io/*", "/apis/apiregistration.k8s.io/*"] {
        crate::acceptance::fault(&harness, "GET", pattern, 401, None);
        let remover = harness.remover();
        assert!(remover.plan(remover.expiry()).await.is_err(), "{pattern}");
        harness.model.as_ref().unwrap().with(|model, _| model.clear_faults());
    }
    // A run stops with the reason.
    let remover = harness.remover();
    let plan = planned(&remover).await;
    crate::acceptance::fault(&harness, "DELETE", "/apis/*", 401, None);
    let ending = remover.apply(&plan, &approved(&plan), Box::new(|_, _, _| {})).await;
    let CommandResult::Stopped(mooring_workflow::RunOutcome::Resumable { message, .. }) = ending
    else {
        panic!("{ending:?}")
    };
    assert!(message.contains("401") && !message.contains("verb"), "{message}");
    let (_, found) = harness.get(&path).await;
    assert!(found["metadata"]["deletionTimestamp"].is_null());
}
