//! Cases for the model and a real server.

use mooring_finalizers::backup::SavedObject;
use mooring_finalizers::checks::OPERATOR_GONE;
use mooring_finalizers::commands::{CommandResult, StartError};
use mooring_finalizers::documents::PublishedPlan;
use mooring_finalizers::effect::Effect;
use mooring_finalizers::step::Step;
use mooring_finalizers::workflow::RemovalVerdict;
use mooring_workflow::Finish;
use mooring_workflow::Outcome;
use mooring_workflow::RunOutcome;
use mooring_workflow::approval::Approval;
use mooring_workflow::approval::ApprovalToken;
use serde_json::{Value, json};

use crate::actors;
use crate::harness::{Harness, Report, approved, crd, planned};

/// Permissions to read the evidence of `operator-gone`.
const READING: &str = include_str!("../../../../packaging/roles/mooring-finalizers-cluster.yaml");

pub(crate) fn why<'a>(report: &'a Report, resource: &str, name: &str) -> &'a str {
    let is_named = |what: &str| {
        let rest = what.strip_prefix(resource).and_then(|rest| rest.strip_prefix(' '));
        rest.is_some_and(|rest| rest == name || rest.ends_with(&format!("/{name}")))
    };
    let found = report.left.iter().find(|left| is_named(&left.what));
    let found =
        found.unwrap_or_else(|| panic!("{resource} {name} is not among {:#?}", report.left));
    found.explanation.as_deref().unwrap()
}

pub(crate) async fn uninstalled_operator_is_removed_with_all_its_resources(harness: Harness) {
    let objects = harness.retired().await;
    // A similar group, and a dependent of one of the objects.
    let alike = format!("x{}", harness.group);
    let root = harness.define(&alike, "clusterthings", false, &[("v1", true, true)]).await;
    let foreign = harness.object(&root, "clusterthings", None, "mine", &[&harness.listed()]).await;
    let (_, owner) = harness.get(&objects[0]).await;
    let owned = json!({"metadata": {"name": harness.name("owned"), "ownerReferences": [{
        "apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": "one", "uid": owner["metadata"]["uid"],
    }]}});
    harness.create("/api/v1/namespaces/default/configmaps", owned).await;

    let plan = planned(&harness.remover()).await;
    assert_eq!(plan.objects.len(), 4, "{:#?}", plan.objects);
    let names: Vec<Step> = plan.steps.iter().map(|step| step.name).collect();
    assert!(
        !names.contains(&Step::ScaleDown) && names.contains(&Step::DeleteNamespace),
        "{names:?}"
    );
    let along: Vec<_> = plan.cascade.iter().map(|one| one.name.clone()).collect();
    assert_eq!(along, [harness.name("owned")]);
    let text = crate::harness::shown(&plan);
    assert!(text.contains("cluster-admin to") && text.contains("op 1.0.0"), "{text}");
    assert!(!serde_json::to_string(&PublishedPlan::new(&plan, &[])).unwrap().contains("hunter2"));
    let again = harness.remover().plan(plan.approval.expires).await.unwrap();
    assert_eq!(
        again.approval.hash, plan.approval.hash,
        "a plan is the same until something changes"
    );
    let zeros = ApprovalToken { hash: "0".repeat(64).parse().unwrap(), ..plan.approval.clone() };
    let wrong =
        harness.remover().apply(&plan, &Approval::Token(zeros), Box::new(|_, _, _| {})).await;
    assert!(matches!(wrong, CommandResult::Refused(StartError::PlanChanged { .. })), "{wrong:?}");

    let (ending, report) = harness.apply().await;
    assert!(
        matches!(ending, CommandResult::Stopped(RunOutcome::Finished(Finish::Complete))),
        "{ending:?} {report:?}"
    );
    assert_eq!(report.result, RemovalVerdict::Acted);
    for path in &objects {
        assert!(harness.is_gone(path).await, "{path}");
    }
    for resource in
        [format!("clusterthings.{}", harness.group), format!("things.sub.{}", harness.group)]
    {
        assert!(harness.is_gone(&crd(&resource)).await, "{resource}");
    }
    let rbac = "/apis/rbac.authorization.k8s.io/v1";
    assert!(harness.is_gone(&format!("{rbac}/clusterrolebindings/{}", harness.namespace)).await);
    assert!(harness.is_gone(&format!("{rbac}/clusterroles/{}", harness.name("op"))).await);
    assert!(
        !harness.is_gone(&format!("{rbac}/clusterroles/{}", harness.name("foreign"))).await,
        "another release's"
    );
    assert!(harness.is_gone(&format!("/api/v1/namespaces/{}", harness.namespace)).await);
    let (_, mine) = harness.get(&foreign).await;
    assert_eq!(
        mine["metadata"]["finalizers"],
        json!([harness.listed()]),
        "a look-alike is never touched"
    );

    // Each removal is in the journal with its finalizers and a backup, without secrets.
    let run = harness.run().await.unwrap();
    let mut stripped = Vec::new();
    for attempt in run.attempts.values() {
        if let Effect::Strip { removed, backup, .. } = &attempt.effect {
            stripped.push((removed.len(), harness.copy(backup).await));
        }
    }
    assert_eq!(stripped.len(), 3, "{stripped:?}");
    assert!(stripped.iter().all(|(_, object)| object["spec"]["size"] == 3));
    assert!(stripped.iter().any(|(removed, _)| *removed == 2));
    let (_, maps) = harness.get("/api/v1/namespaces/mooring-system/configmaps").await;
    let maps = maps["items"].as_array().unwrap();
    let copies = maps.iter().filter_map(|map| map["data"]["object"].as_str());
    let saved = copies.filter_map(|text| serde_json::from_str::<SavedObject>(text).ok()?.restore());
    let saved =
        saved.filter(|object| object["kind"] == "ConfigMap").map(|map| map["data"]["size"].clone());
    assert_eq!(saved.collect::<Vec<_>>(), ["3"], "what goes with the namespace as well");
    assert!(!format!("{maps:?}{run:?}").contains("hunter2"));
    assert!(planned(&harness.remover()).await.nothing_to_do, "nothing is left to do");
}

pub(crate) async fn unlisted_finalizer_is_kept_and_reported(harness: Harness) {
    let objects = harness.retired().await;
    let root = format!("/apis/{}/v1", harness.group);
    let held = harness
        .object(&root, "clusterthings", None, "held", &["example.com/hold", &harness.listed()])
        .await;
    let (ending, report) = harness.apply().await;
    assert!(
        matches!(ending, CommandResult::Stopped(RunOutcome::Finished(Finish::Partial))),
        "{ending:?}"
    );
    let resource = format!("clusterthings.{}", harness.group);
    let reason = why(&report, &resource, "held");
    assert!(reason.contains("example.com/hold (the controller of example.com"), "{reason}");
    let held_by =
        report.left.iter().find(|left| left.what.ends_with("held")).map(|left| &left.finalizers);
    assert_eq!(held_by, Some(&vec!["example.com/hold".to_owned()]), "{report:?}");
    assert_eq!(
        why(&report, "customresourcedefinitions.apiextensions.k8s.io", &resource),
        "it still has objects"
    );
    let (_, found) = harness.get(&held).await;
    assert_eq!(
        found["metadata"]["finalizers"],
        json!(["example.com/hold"]),
        "ours went, the other stays"
    );
    assert!(harness.is_gone(&objects[0]).await, "the others went");
    assert!(harness.is_gone(&crd(&format!("things.sub.{}", harness.group))).await);
    // Once its owner has removed it, a second run finishes the work.
    harness.call("PATCH", &held, json!({"metadata": {"finalizers": null}})).await;
    let (ending, report) = harness.apply().await;
    assert!(
        matches!(ending, CommandResult::Stopped(RunOutcome::Finished(Finish::Complete))),
        "{ending:?} {report:?}"
    );
}

pub(crate) async fn objects_are_listed_in_any_served_version(harness: Harness) {
    harness.namespace(&harness.namespace).await;
    let versions = [("v1", true, false), ("v2", false, true)];
    let root = harness.define(&harness.group, "things", true, &versions).await;
    let object =
        harness.object(&root, "things", Some("default"), "old", &[&harness.listed()]).await;
    let closed = harness.define(&harness.group, "closed", false, &[("v1", true, true)]).await;
    let inside = harness.object(&closed, "closed", None, "inside", &[&harness.listed()]).await;
    let path = crd(&format!("closed.{}", harness.group));
    let (_, mut served) = harness.get(&path).await;
    served["spec"]["versions"][0]["served"] = false.into();
    assert_eq!(harness.call("PUT", &path, served).await.0, 200);
    harness.until(&inside, |status, _| status == 404).await;

    let (ending, report) = harness.apply().await;
    assert!(
        matches!(ending, CommandResult::Stopped(RunOutcome::Finished(Finish::Partial))),
        "{ending:?}"
    );
    assert!(harness.is_gone(&object).await);
    assert!(harness.is_gone(&crd(&format!("things.{}", harness.group))).await);
    // 404 is not "none": the CRD is kept.
    let reason = why(&report, &format!("closed.{}", harness.group), "*");
    assert!(reason.contains("its CRD serves no version"), "{reason}");
    assert!(!harness.is_gone(&path).await);
    let (_, mut crd) = harness.get(&path).await;
    crd["spec"]["versions"][0]["served"] = true.into();
    assert_eq!(harness.call("PUT", &path, crd).await.0, 200);
    harness.until(&inside, |status, _| status == 200).await;
    let (ending, _) = harness.apply().await;
    assert!(
        matches!(ending, CommandResult::Stopped(RunOutcome::Finished(Finish::Complete))),
        "{ending:?}"
    );
    assert!(harness.is_gone(&path).await);
}

pub(crate) async fn missing_permission_is_reported_with_verb_and_resource(harness: Harness) {
    let objects = harness.retired().await;
    let rbac = "/apis/rbac.authorization.k8s.io/v1";
    let all = json!(["get", "list", "create", "update", "patch", "delete"]);
    let sub = format!("sub.{}", harness.group);
    // Everything except patching cluster-scoped objects, and deleting the binding and the namespace.
    let mut rules = json!([
        {"apiGroups": [harness.group], "resources": ["*"], "verbs": ["get", "list", "delete"]},
        {"apiGroups": [sub, "apiextensions.k8s.io"], "resources": ["*"], "verbs": all},
        {"apiGroups": [""], "resources": ["configmaps", "secrets"], "verbs": all},
        {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["get", "create", "update"]},
        {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterrolebindings"], "verbs": ["get"]},
        {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterroles"], "verbs": ["get", "delete"]},
        // The contents of the namespace.
        {"apiGroups": ["*"], "resources": ["*"], "verbs": ["list"]},
    ]);
    let shipped: Value = serde_saphyr::from_str(READING).unwrap();
    rules.as_array_mut().unwrap().extend(shipped["rules"].as_array().unwrap().iter().cloned());
    let name = harness.name("ann");
    harness
        .create(
            &format!("{rbac}/clusterroles"),
            json!({"metadata": {"name": name}, "rules": rules}),
        )
        .await;
    harness.create(&format!("{rbac}/clusterrolebindings"), json!({
        "metadata": {"name": name}, "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "ann"}],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
    })).await;
    let ann = harness.client("ann");
    // The server applies permissions a moment later.
    let path = crd("");
    let path = path.trim_end_matches('/').to_owned();
    eventually(async || crate::harness::call(&ann, "GET", &path, &Value::Null).await.0 == 200)
        .await;
    let (ending, report) =
        harness.apply_by(&harness.remover_by(ann, harness.settings.clone())).await;
    assert!(
        matches!(ending, CommandResult::Stopped(RunOutcome::Finished(Finish::Partial))),
        "{ending:?}"
    );
    let resource = format!("clusterthings.{}", harness.group);
    assert_eq!(
        why(&report, &resource, "one"),
        format!("access denied: missing permission patch on {resource} in the cluster")
    );
    let bindings = "clusterrolebindings.rbac.authorization.k8s.io";
    assert_eq!(
        why(&report, bindings, &harness.namespace),
        format!("access denied: missing permission delete on {bindings} in the cluster")
    );
    assert_eq!(
        why(&report, "namespaces", &harness.namespace),
        "access denied: missing permission delete on namespaces in the cluster"
    );
    // Permitted changes were made.
    for path in &objects[1..] {
        assert!(harness.is_gone(path).await, "{path}");
    }
    assert!(harness.is_gone(&crd(&format!("things.{sub}"))).await);
    // Without read permissions, the run does not start.
    harness.call("DELETE", &format!("{rbac}/clusterrolebindings/{name}"), Value::Null).await;
    let blind = harness.remover_by(harness.client("ann"), harness.settings.clone());
    let ann = harness.client("ann");
    eventually(async || crate::harness::call(&ann, "GET", &path, &Value::Null).await.0 == 403)
        .await;
    let plan = planned(&blind).await;
    let text = crate::harness::shown(&plan);
    assert!(
        text.contains("missing permission list on customresourcedefinitions.apiextensions.k8s.io"),
        "{text}"
    );
    assert!(!plan.nothing_to_do, "unknown is never nothing");
}

/// Waits for asynchronous changes of a server.
async fn eventually(is_so: impl AsyncFn() -> bool) {
    for _ in 0..1200 {
        if is_so().await {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("the server did not hear of it within a minute");
}

pub(crate) async fn denying_webhook_is_named(mut harness: Harness) {
    let objects = harness.retired().await;
    let hook = format!("check.{}", harness.group);
    let path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    let mut served = None;
    if let Some(shell) = &harness.model {
        shell.with(|model, _| {
            model.deny(mooring_simulator::kubernetes::WebhookDenial {
                webhook: hook.clone(),
                resource: format!("clusterthings.{}", harness.group),
                operations: vec!["DELETE".into()],
                name: None,
                message: "not before Monday".into(),
            });
        });
    } else {
        let (url, authority, task) = actors::webhook().await;
        served = Some(task);
        harness.create(path, json!({
            "metadata": {"name": hook},
            "webhooks": [{
                "name": hook, "sideEffects": "None", "admissionReviewVersions": ["v1"], "failurePolicy": "Fail",
                "clientConfig": {"url": url, "caBundle": authority},
                "rules": [{"apiGroups": [harness.group], "apiVersions": ["*"], "resources": ["clusterthings"],
                    "operations": ["DELETE"]}],
            }],
        })).await;
        // The server calls it a moment later.
        let extra = harness
            .object(
                &format!("/apis/{}/v1", harness.group),
                "clusterthings",
                None,
                "probe",
                &["example.com/x"],
            )
            .await;
        let dry = || json!({"dryRun": ["All"]});
        eventually(async || harness.call("DELETE", &extra, dry()).await.0 == 403).await;
        // A URL may be that of the operator.
        let checks = planned(&harness.remover()).await.checks;
        assert_eq!(checks[0].outcome, Outcome::Unknown, "{checks:?}");
        harness.settings.overrides.insert(OPERATOR_GONE.into(), "a policy of ours".into());
    }
    let (ending, report) = harness.apply().await;
    assert!(
        matches!(ending, CommandResult::Stopped(RunOutcome::Finished(Finish::Partial))),
        "{ending:?}"
    );
    let reason = why(&report, &format!("clusterthings.{}", harness.group), "one");
    assert!(
        reason.starts_with(&format!("webhook {hook} denied"))
            && reason.contains("not before Monday"),
        "{reason}"
    );
    // A live object keeps its finalizers, regardless of the profile.
    let (_, found) = harness.get(&objects[0]).await;
    assert_eq!(found["metadata"]["finalizers"], json!([harness.listed()]));
    assert!(found["metadata"]["deletionTimestamp"].is_null());
    assert!(harness.is_gone(&objects[2]).await, "others are not kept waiting");
    harness.call("DELETE", &format!("{path}/{hook}"), Value::Null).await;
    drop(served);
}

async fn deployment(harness: &Harness) -> String {
    let list = format!("/apis/apps/v1/namespaces/{}/deployments", harness.namespace);
    harness.create(&list, json!({
        "metadata": {"name": "op"},
        "spec": {
            "replicas": 1, "selector": {"matchLabels": {"app": "op"}},
            "template": {"metadata": {"labels": {"app": "op"}}, "spec": {"containers": [{"name": "c", "image": "example.invalid/c"}]}},
        },
    })).await;
    let path = format!("{list}/op");
    harness.until(&path, |_, found| found["status"]["replicas"] == 1).await;
    path
}

pub(crate) async fn running_operator_keeps_its_finalizers(harness: Harness) {
    let objects = harness.retired().await;
    let path = deployment(&harness).await;
    let remover = harness.remover();
    let plan = planned(&remover).await;
    let ending = remover.apply(&plan, &approved(&plan), Box::new(|_, _, _| {})).await;
    let CommandResult::Refused(StartError::Refused { name, why }) = ending else {
        panic!("{ending:?}")
    };
    assert_eq!(name, "operator-gone");
    assert!(why.contains(&format!("deployments.apps {}/op", harness.namespace)), "{why}");
    assert!(remover.status().await.unwrap().runs.last.is_none(), "nothing was begun");
    let (_, found) = harness.get(&objects[0]).await;
    assert!(found["metadata"]["deletionTimestamp"].is_null());
    harness.call("DELETE", &path, Value::Null).await;
    harness.until(&path, |status, _| status == 404).await;
    assert_ne!(
        planned(&remover).await.approval.hash,
        plan.approval.hash,
        "a plan that refuses is another one"
    );
}

pub(crate) async fn running_operator_that_recreates_objects_is_scaled_down(mut harness: Harness) {
    let objects = harness.retired().await;
    let path = deployment(&harness).await;
    let list = format!("/apis/{}/v1/clusterthings", harness.group);
    let core = json!({
        "apiVersion": format!("{}/v1", harness.group), "kind": "Clusterthing",
        "metadata": {"name": "one", "finalizers": [harness.listed()]},
    });
    let operator =
        tokio::spawn(actors::recreate(harness.client("admin"), path.clone(), list, core));
    harness.settings.scale_down = true;
    let (ending, report) = harness.apply().await;
    assert!(
        matches!(ending, CommandResult::Stopped(RunOutcome::Finished(Finish::Partial))),
        "{ending:?} {report:?}"
    );
    assert!(
        report.effects.iter().any(|effect| effect.what.starts_with("scale down deployments.apps"))
    );
    operator.await.unwrap();
    // What came back has another uid, which only another plan names.
    let reason = why(&report, &format!("clusterthings.{}", harness.group), "one");
    assert!(reason.contains("plan and apply again"), "{reason}");
    assert!(!harness.is_gone(&objects[0]).await);
    let (ending, report) = harness.apply().await;
    assert!(
        matches!(ending, CommandResult::Stopped(RunOutcome::Finished(Finish::Complete))),
        "{ending:?} {report:?}"
    );
    assert!(harness.is_gone(&objects[0]).await);
}

pub(crate) async fn stuck_namespace_is_reported_with_its_conditions(harness: Harness) {
    harness.retired().await;
    let held = json!({"metadata": {
        "name": "held", "finalizers": ["example.com/hold"], "annotations": harness.marks(),
    }});
    let list = format!("/api/v1/namespaces/{}/configmaps", harness.namespace);
    harness.create(&list, held).await;
    let (ending, report) = harness.apply().await;
    assert!(
        matches!(ending, CommandResult::Stopped(RunOutcome::Finished(Finish::Partial))),
        "{ending:?} {report:?}"
    );
    assert_eq!(report.left.len(), 1, "{report:?}");
    let reason = why(&report, "namespaces", &harness.namespace);
    assert!(
        reason.contains("NamespaceContentRemaining: Some resources are remaining: configmaps"),
        "{reason}"
    );
    assert!(
        reason.contains("NamespaceFinalizersRemaining") && reason.contains("example.com/hold"),
        "{reason}"
    );
    let off = json!({"metadata": {"finalizers": null}});
    harness.call("PATCH", &format!("{list}/held"), off).await;
    let (ending, _) = harness.apply().await;
    assert!(
        matches!(ending, CommandResult::Stopped(RunOutcome::Finished(Finish::Complete))),
        "{ending:?}"
    );
}
