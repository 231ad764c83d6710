//! Acceptance tests of the former tool, and more, on the model under virtual time.

use jiff::SignedDuration;
use mooring_finalizers::commands::{CommandResult, StartError};
use mooring_finalizers::workflow::RemovalVerdict;
use mooring_simulator::faults::{CallSelector, Fault, FaultRule};
use mooring_workflow::Finish;
use mooring_workflow::Reason;
use mooring_workflow::RunOutcome;
use serde_json::{Value, json};

use crate::cases::why;
use crate::harness::{Harness, approved, crd, planned};

pub(crate) fn fault(harness: &Harness, method: &str, path: &str, status: u16, times: Option<u32>) {
    let when = CallSelector {
        method: Some(method.into()),
        path: Some(path.into()),
        ..CallSelector::default()
    };
    let then = Fault::Status { status, code: None, retry_after: None };
    add_fault(harness, when, then, 1.0, times);
}

/// A fault of some writes.
fn fault_of_writes(harness: &Harness, then: Fault, probability: f64, times: u32) {
    let path = Some("/apis/*".into());
    let when = CallSelector { writes: Some(true), path, ..CallSelector::default() };
    add_fault(harness, when, then, probability, Some(times));
}

fn add_fault(
    harness: &Harness,
    when: CallSelector,
    then: Fault,
    probability: f64,
    times: Option<u32>,
) {
    let (from_seconds, until_seconds, skip) = (0, None, 0);
    let rule = FaultRule { when, then, probability, from_seconds, until_seconds, skip, times };
    harness.model.as_ref().unwrap().with(|model, _| model.add_fault(rule));
}

fn finished(ending: &CommandResult, clean: bool) {
    assert!(
        matches!(ending, CommandResult::Stopped(RunOutcome::Finished(found)) if (*found == Finish::Complete) == clean),
        "{ending:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn object_deleted_before_the_patch_is_not_an_error() {
    let harness = Harness::model("patch_404");
    harness.retired().await;
    fault(&harness, "PATCH", "/apis/*/clusterthings/one", 404, Some(1));
    let (ending, report) = harness.apply().await;
    finished(&ending, true);
    assert_eq!(report.result, RemovalVerdict::Acted);
}

#[tokio::test(start_paused = true)]
async fn object_changed_before_the_patch_is_read_again() {
    let harness = Harness::model("patch_409");
    let objects = harness.retired().await;
    fault(&harness, "PATCH", "/apis/*/clusterthings/one", 409, Some(2));
    let (ending, _) = harness.apply().await;
    finished(&ending, true);
    let run = harness.run().await.unwrap();
    let strips = |key: &&String| key.starts_with("strip") && key.contains(" one ");
    let tries = run.attempts.iter().filter(|(key, _)| strips(key)).map(|(_, tried)| tried.count);
    assert_eq!(tries.collect::<Vec<_>>(), [3]);
    assert!(harness.is_gone(&objects[0]).await);
}

#[tokio::test(start_paused = true)]
async fn lost_response_is_resolved_by_reading() {
    for then in [Fault::TimeoutAfter, Fault::TimeoutBefore, Fault::DropAfter, Fault::DropBefore] {
        let harness = Harness::model("lost");
        harness.retired().await;
        fault_of_writes(&harness, then.clone(), 0.4, 6);
        let (ending, report) = harness.apply().await;
        assert!(
            matches!(ending, CommandResult::Stopped(RunOutcome::Finished(Finish::Complete))),
            "{then:?}: {ending:?} {report:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn busy_server_is_retried() {
    for status in [429, 500, 503] {
        let harness = Harness::model("busy");
        harness.retired().await;
        let then = Fault::Status { status, code: None, retry_after: None };
        fault_of_writes(&harness, then, 0.5, 10);
        let (ending, _) = harness.apply().await;
        finished(&ending, true);
    }
}

#[tokio::test(start_paused = true)]
async fn other_resources_are_removed_without_crds() {
    let harness = Harness::model("no_definitions");
    harness.namespace(&harness.namespace).await;
    harness.binding().await;
    harness.release().await;
    let (ending, report) = harness.apply().await;
    finished(&ending, true);
    assert_eq!(report.result, RemovalVerdict::Acted);
    assert!(harness.is_gone(&format!("/api/v1/namespaces/{}", harness.namespace)).await);
}

#[tokio::test(start_paused = true)]
async fn failed_discovery_is_unknown_and_best_effort_continues() {
    let mut harness = Harness::model("discovery");
    let objects = harness.retired().await;
    fault(&harness, "GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", 403, None);
    let remover = harness.remover();
    let plan = planned(&remover).await;
    let ending = remover.apply(&plan, &approved(&plan), Box::new(|_, _, _| {})).await;
    let CommandResult::Refused(StartError::Unknown { why, .. }) = ending else {
        panic!("{ending:?}")
    };
    assert!(why.contains("missing permission list on customresourcedefinitions"), "{why}");
    harness.settings.best_effort = true;
    let (ending, report) = harness.apply().await;
    finished(&ending, false);
    why_unknown(&report);
    assert!(!harness.is_gone(&objects[0]).await, "what is not known is not touched");
    assert!(harness.is_gone(&format!("/api/v1/namespaces/{}-gone", harness.namespace)).await);
    let binding =
        format!("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/{}", harness.namespace);
    assert!(harness.is_gone(&binding).await, "the operator's part runs all the same");
}

fn why_unknown(report: &crate::harness::Report) {
    let reason = why(report, "customresourcedefinitions.apiextensions.k8s.io", "*");
    assert!(reason.contains("access denied"), "{reason}");
}

#[tokio::test(start_paused = true)]
async fn unlisted_objects_are_never_counted_as_none() {
    let mut harness = Harness::model("count_unknown");
    harness.settings.best_effort = true;
    let objects = harness.retired().await;
    fault(&harness, "GET", "/apis/*/clusterthings", 403, None);
    let (ending, report) = harness.apply().await;
    finished(&ending, false);
    let resource = format!("clusterthings.{}", harness.group);
    assert_eq!(
        why(&report, &resource, "*"),
        format!("access denied: missing permission list on {resource}")
    );
    assert!(!harness.is_gone(&crd(&resource)).await, "its crd stays");
    assert!(
        harness.is_gone(&objects[2]).await,
        "what is unknown of one hides nothing of the others"
    );
    assert!(harness.is_gone(&crd(&format!("things.sub.{}", harness.group))).await);
}

#[tokio::test(start_paused = true)]
async fn deleted_crd_is_fine_and_a_remaining_one_is_reported() {
    let harness = Harness::model("definition_404");
    harness.retired().await;
    let path = crd(&format!("clusterthings.{}", harness.group));
    fault(&harness, "DELETE", &path, 409, None);
    let (ending, report) = harness.apply().await;
    finished(&ending, false);
    let crds = "customresourcedefinitions.apiextensions.k8s.io";
    let reason = why(&report, crds, &format!("clusterthings.{}", harness.group));
    assert!(reason.contains("Conflict"), "{reason}");
    harness.model.as_ref().unwrap().with(|model, _| model.clear_faults());
    let (ending, _) = harness.apply().await;
    finished(&ending, true);
}

#[tokio::test(start_paused = true)]
async fn missing_namespace_or_binding_is_fine() {
    let harness = Harness::model("absent");
    let root = harness.define(&harness.group, "things", true, &[("v1", true, true)]).await;
    harness.object(&root, "things", Some("default"), "x", &[&harness.listed()]).await;
    let (ending, report) = harness.apply().await;
    finished(&ending, true);
    assert_eq!(report.left, []);
    assert!(!report.steps.is_empty(), "{report:?}");
}

#[tokio::test(start_paused = true)]
async fn unreadable_release_keeps_its_namespace() {
    let mut harness = Harness::model("release_403");
    harness.settings.best_effort = true;
    harness.retired().await;
    fault(&harness, "GET", "/api/v1/namespaces/*/secrets", 403, None);
    let (ending, report) = harness.apply().await;
    finished(&ending, false);
    assert_eq!(
        why(&report, "secrets", "sh.helm.release.v1.op.*"),
        "access denied: missing permission list on secrets"
    );
    assert_eq!(
        why(&report, "namespaces", &harness.namespace),
        "not deleted because its release is unknown"
    );
}

#[tokio::test(start_paused = true)]
async fn expired_deadline_changes_nothing_and_can_be_resumed() {
    let mut harness = Harness::model("deadline_zero");
    let objects = harness.retired().await;
    let usual = harness.settings.limits.overall;
    harness.settings.limits.overall = SignedDuration::ZERO;
    let (ending, report) = harness.apply().await;
    assert!(
        matches!(
            ending,
            CommandResult::Stopped(RunOutcome::Resumable { reason: Reason::Deadline, .. })
        ),
        "{ending:?}"
    );
    assert_eq!((report.result, report.effects.len()), (RemovalVerdict::Interrupted, 0));
    let (_, found) = harness.get(&objects[0]).await;
    assert!(found["metadata"]["deletionTimestamp"].is_null());
    harness.settings.limits.overall = usual;
    let (ending, _) = harness.resume().await;
    finished(&ending, true);
}

#[tokio::test(start_paused = true)]
async fn object_with_a_too_large_backup_is_skipped_and_reported() {
    let harness = Harness::model("huge");
    let root = harness.define(&harness.group, "things", true, &[("v1", true, true)]).await;
    let mut text = String::new();
    let mut link = "seed".to_owned();
    while text.len() < 1_300_000 {
        link = mooring_workflow::canonical::hash_bytes(link.as_bytes());
        text.push_str(&link);
    }
    let list = format!("{root}/namespaces/default/things");
    harness.create(&list, json!({
        "apiVersion": format!("{}/v1", harness.group), "kind": "Thing",
        "metadata": {"name": "huge", "finalizers": [harness.listed()]}, "spec": {"text": text},
    })).await;
    let (ending, report) = harness.apply().await;
    finished(&ending, false);
    let reason = why(&report, &format!("things.{}", harness.group), "huge");
    assert!(reason.contains("does not fit into a ConfigMap"), "{reason}");
    let (_, found) = harness.get(&format!("{list}/huge")).await;
    assert_eq!(found["metadata"]["finalizers"], json!([harness.listed()]), "no backup, no removal");
}

#[tokio::test(start_paused = true)]
async fn second_process_stops_at_the_lock_or_unfinished_run() {
    let mut harness = Harness::model("lock");
    harness.retired().await;
    harness.settings.limits.overall = SignedDuration::ZERO;
    let (_, _) = harness.apply().await;
    let remover = harness.remover();
    let plan = planned(&remover).await;
    let again = remover.apply(&plan, &approved(&plan), Box::new(|_, _, _| {})).await;
    assert!(matches!(again, CommandResult::Refused(StartError::Unfinished(_))), "{again:?}");
    let name = harness.settings.profile.config_map();
    let path = format!("/api/v1/namespaces/mooring-system/configmaps/{name}");
    let (_, map) = harness.get(&path).await;
    let now = harness.model.as_ref().unwrap().now();
    let lease = format!("/apis/coordination.k8s.io/v1/namespaces/mooring-system/leases/{name}");
    let spec = json!({"holderIdentity": "elsewhere_1_h", "renewTime": format!("{now:.6}"), "leaseDurationSeconds": 30});
    harness.call("PATCH", &lease, json!({ "spec": spec })).await;
    let held = remover.apply(&plan, &approved(&plan), Box::new(|_, _, _| {})).await;
    assert!(matches!(held, CommandResult::Held(_)), "{held:?}");
    assert!(map["data"]["run"].as_str().unwrap().contains("mooring.finalizers.document/v1"));
}

#[tokio::test(start_paused = true)]
async fn obstacles_are_noted_in_the_plan() {
    let harness = Harness::model("in_the_way");
    harness.retired().await;
    harness.create("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", json!({
        "metadata": {"name": "check"},
        "webhooks": [{"name": "g.example.com", "failurePolicy": "Fail", "rules": [{"apiGroups": [harness.group]}],
            "clientConfig": {"service": {"namespace": harness.namespace, "name": "s"}}}],
    })).await;
    harness.model.as_ref().unwrap().with(|model, now| {
        model.create(json!({
            "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": "v1.metrics.example.com"},
            "spec": {"group": "metrics.example.com", "version": "v1"},
            "status": {"conditions": [{"type": "Available", "status": "False", "reason": "MissingEndpoints"}]},
        }), now).unwrap();
    });
    let plan = planned(&harness.remover()).await;
    let notes = plan.notes.join("\n");
    assert!(notes.contains("check") && notes.contains("delete the webhook first"), "{notes}");
    assert!(notes.contains("v1.metrics.example.com is unavailable (MissingEndpoints)"), "{notes}");
    let diagram = plan.mermaid();
    assert!(
        diagram.starts_with("flowchart TD") && diagram.contains("remove-finalizers"),
        "{diagram}"
    );
}

mod slow {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn many_objects_need_few_lists() {
        let harness = Harness::model("many_objects");
        let root = harness.define(&harness.group, "things", true, &[("v1", true, true)]).await;
        for number in 0..520 {
            harness
                .object(
                    &root,
                    "things",
                    Some("default"),
                    &format!("o{number}"),
                    &[&harness.listed()],
                )
                .await;
        }
        let (ending, report) = harness.apply().await;
        finished(&ending, true);
        // The document of a run keeps those of the last 1,000 changes.
        assert_eq!(report.effects.len(), 500);
        assert!(!report.steps.is_empty(), "{report:?}");
        let trace = harness.model.as_ref().unwrap().with(|model, _| model.trace());
        let lists = trace.lines().filter(|line| line.contains("/things?limit=")).count();
        assert!(lists < 60, "{lists}");
        assert!(trace.contains("&continue="), "lists are paged");
    }
}

/// Without a profile, what blocks a namespace is found by its state.
#[tokio::test(start_paused = true)]
async fn groups_with_stuck_objects_are_found_without_a_profile() {
    let harness = Harness::model("stuck_groups");
    let objects = harness.retired().await;
    assert_eq!(harness.remover().stuck_groups().await, []);
    for object in &objects[2..] {
        harness.call("DELETE", object, Value::Null).await;
    }
    let sub = format!("sub.{}", harness.group);
    assert_eq!(harness.remover().stuck_groups().await, [(sub, 2)]);
}
