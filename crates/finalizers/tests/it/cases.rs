//! Cases that hold on the model and on a real server.

use mooring_finalizers::checks::OPERATOR_GONE;
use mooring_finalizers::effect::Effect;
use mooring_finalizers::report::{RunReport, Verdict};
use mooring_finalizers::shell::{BeginError, CommandResult};
use mooring_finalizers::step::Step;
use mooring_finalizers::workflow::Entry;
use mooring_finalizers::workflow::Finish;
use mooring_finalizers::workflow::RunOutcome;
use mooring_workflow::Outcome;
use mooring_workflow::approval::Approval;
use mooring_workflow::approval::ApprovalToken;
use serde_json::{Value, json};

use crate::bench::{Bench, Mortal, approved, definition, planned};
use crate::players;

/// What shows that an operator is gone may be read with these rights, and no others.
const READING: &str = include_str!("../../../../packaging/roles/mooring-finalizers-cluster.yaml");

pub(crate) fn why<'a>(report: &'a RunReport, resource: &str, name: &str) -> &'a str {
    let found = report.left.iter().find(|left| left.resource == resource && left.name == name);
    &found.unwrap_or_else(|| panic!("{resource} {name} is not among {:#?}", report.left)).why
}

pub(crate) async fn a_retired_operator_is_removed_with_all_that_belongs_to_it(bench: Bench) {
    let objects = bench.retired().await;
    // A look-alike, and an object that belongs to one of ours.
    let alike = format!("x{}", bench.group);
    let root = bench.define(&alike, "clusterthings", false, &[("v1", true, true)]).await;
    let foreign = bench.object(&root, "clusterthings", None, "mine", &[&bench.listed()]).await;
    let (_, owner) = bench.get(&objects[0]).await;
    let owned = json!({"metadata": {"name": bench.name("owned"), "ownerReferences": [{
        "apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": "one", "uid": owner["metadata"]["uid"],
    }]}});
    bench.create("/api/v1/namespaces/default/configmaps", owned).await;

    let plan = planned(&bench.remover()).await;
    assert_eq!(plan.objects.len(), 4, "{:#?}", plan.objects);
    let names: Vec<Step> = plan.steps.iter().map(|step| step.name).collect();
    assert!(
        !names.contains(&Step::ScaleDown) && names.contains(&Step::DeleteNamespace),
        "{names:?}"
    );
    let along: Vec<_> = plan.cascade.iter().map(|one| one.name.clone()).collect();
    assert_eq!(along, [bench.name("owned")]);
    let text = mooring_finalizers::plan::table(&plan);
    assert!(text.contains("cluster-admin to") && text.contains("op 1.0.0"), "{text}");
    assert!(!serde_json::to_string(&plan).unwrap().contains("hunter2"));
    let again = bench.remover().plan(plan.approval.expires).await.unwrap();
    assert_eq!(again.hash, plan.hash, "a plan is the same until something changes");
    let zeros = ApprovalToken { hash: "0".repeat(64).parse().unwrap(), ..plan.approval.clone() };
    let wrong = bench.remover().apply(&plan, &Approval::Token(zeros), Box::new(|_, _, _| {})).await;
    assert!(matches!(wrong, CommandResult::Refused(BeginError::PlanChanged { .. })), "{wrong:?}");

    let (ending, report) = bench.apply().await;
    assert!(
        matches!(ending, CommandResult::Rested(RunOutcome::Finished(Finish::Clean))),
        "{ending:?} {}",
        report.table()
    );
    assert_eq!(report.result, Verdict::Acted);
    for path in &objects {
        assert!(bench.is_gone(path).await, "{path}");
    }
    for resource in
        [format!("clusterthings.{}", bench.group), format!("things.sub.{}", bench.group)]
    {
        assert!(bench.is_gone(&definition(&resource)).await, "{resource}");
    }
    let rbac = "/apis/rbac.authorization.k8s.io/v1";
    assert!(bench.is_gone(&format!("{rbac}/clusterrolebindings/{}", bench.namespace)).await);
    assert!(bench.is_gone(&format!("{rbac}/clusterroles/{}", bench.name("op"))).await);
    assert!(
        !bench.is_gone(&format!("{rbac}/clusterroles/{}", bench.name("foreign"))).await,
        "another release's"
    );
    assert!(bench.is_gone(&format!("/api/v1/namespaces/{}", bench.namespace)).await);
    let (_, mine) = bench.get(&foreign).await;
    assert_eq!(
        mine["metadata"]["finalizers"],
        json!([bench.listed()]),
        "a look-alike is never touched"
    );

    // Each removal is journaled with what it removed and a backup, and without what may be a secret.
    let records = bench.remover().status().await.unwrap().records;
    let stripped: Vec<_> = records
        .iter()
        .filter_map(|record| match &record.entry {
            Entry::Intent { effect, .. } => match &**effect {
                Effect::Strip { target, removed, backup, .. } => {
                    Some((target.name.clone(), removed.len(), backup.restore().unwrap()))
                }
                _ => None,
            },
            _ => None,
        })
        .collect();
    assert_eq!(stripped.len(), 3, "{stripped:?}");
    assert!(stripped.iter().all(|(_, _, object)| object["spec"]["size"] == 3));
    assert!(stripped.iter().any(|(_, removed, _)| *removed == 2));
    assert!(!format!("{records:?}").contains("hunter2"));
    assert!(planned(&bench.remover()).await.nothing_to_do, "nothing is left to do");
}

pub(crate) async fn a_finalizer_that_is_not_listed_stays_and_is_told(bench: Bench) {
    let objects = bench.retired().await;
    let root = format!("/apis/{}/v1", bench.group);
    let held = bench
        .object(&root, "clusterthings", None, "held", &["example.com/hold", &bench.listed()])
        .await;
    let (ending, report) = bench.apply().await;
    assert!(
        matches!(ending, CommandResult::Rested(RunOutcome::Finished(Finish::Leftovers))),
        "{ending:?}"
    );
    let resource = format!("clusterthings.{}", bench.group);
    let told = why(&report, &resource, "held");
    assert!(told.contains("example.com/hold (the controller of example.com"), "{told}");
    assert_eq!(
        why(&report, "customresourcedefinitions.apiextensions.k8s.io", &resource),
        "objects of it are left"
    );
    let (_, found) = bench.get(&held).await;
    assert_eq!(
        found["metadata"]["finalizers"],
        json!(["example.com/hold"]),
        "ours went, the other stays"
    );
    assert!(bench.is_gone(&objects[0]).await, "the others went");
    assert!(bench.is_gone(&definition(&format!("things.sub.{}", bench.group))).await);
    // Once its owner has removed it, a second run finishes the work.
    bench.call("PATCH", &held, json!({"metadata": {"finalizers": null}})).await;
    let (ending, report) = bench.apply().await;
    assert!(
        matches!(ending, CommandResult::Rested(RunOutcome::Finished(Finish::Clean))),
        "{ending:?} {}",
        report.table()
    );
}

pub(crate) async fn objects_are_reached_by_whatever_version_is_served(bench: Bench) {
    bench.namespace(&bench.namespace).await;
    let versions = [("v1", true, false), ("v2", false, true)];
    let root = bench.define(&bench.group, "things", true, &versions).await;
    let object = bench.object(&root, "things", Some("default"), "old", &[&bench.listed()]).await;
    let closed = bench.define(&bench.group, "closed", false, &[("v1", true, true)]).await;
    let inside = bench.object(&closed, "closed", None, "inside", &[&bench.listed()]).await;
    let path = definition(&format!("closed.{}", bench.group));
    let (_, mut served) = bench.get(&path).await;
    served["spec"]["versions"][0]["served"] = false.into();
    assert_eq!(bench.call("PUT", &path, served).await.0, 200);
    bench.until(&inside, |status, _| status == 404).await;

    let (ending, report) = bench.apply().await;
    assert!(
        matches!(ending, CommandResult::Rested(RunOutcome::Finished(Finish::Leftovers))),
        "{ending:?}"
    );
    assert!(bench.is_gone(&object).await);
    assert!(bench.is_gone(&definition(&format!("things.{}", bench.group))).await);
    // 404 is not "none": nobody can tell, so the definition stays.
    let told = why(&report, &format!("closed.{}", bench.group), "*");
    assert!(told.contains("no version of its definition is served"), "{told}");
    assert!(!bench.is_gone(&path).await);
    let (_, mut definition) = bench.get(&path).await;
    definition["spec"]["versions"][0]["served"] = true.into();
    assert_eq!(bench.call("PUT", &path, definition).await.0, 200);
    bench.until(&inside, |status, _| status == 200).await;
    let (ending, _) = bench.apply().await;
    assert!(
        matches!(ending, CommandResult::Rested(RunOutcome::Finished(Finish::Clean))),
        "{ending:?}"
    );
    assert!(bench.is_gone(&path).await);
}

pub(crate) async fn what_is_not_permitted_is_told_with_verb_and_resource(bench: Bench) {
    let objects = bench.retired().await;
    let rbac = "/apis/rbac.authorization.k8s.io/v1";
    let all = json!(["get", "list", "create", "update", "patch", "delete"]);
    let sub = format!("sub.{}", bench.group);
    // Everything but: patching cluster things, deleting the binding, and the namespace.
    let mut rules = json!([
        {"apiGroups": [bench.group], "resources": ["*"], "verbs": ["get", "list", "delete"]},
        {"apiGroups": [sub, "apiextensions.k8s.io"], "resources": ["*"], "verbs": all},
        {"apiGroups": [""], "resources": ["configmaps", "secrets"], "verbs": all},
        {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["get", "create", "update"]},
        {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterrolebindings"], "verbs": ["get"]},
        {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterroles"], "verbs": ["get", "delete"]},
    ]);
    let shipped: Value = serde_saphyr::from_str(READING).unwrap();
    rules.as_array_mut().unwrap().extend(shipped["rules"].as_array().unwrap().iter().cloned());
    let name = bench.name("ann");
    bench
        .create(
            &format!("{rbac}/clusterroles"),
            json!({"metadata": {"name": name}, "rules": rules}),
        )
        .await;
    bench.create(&format!("{rbac}/clusterrolebindings"), json!({
        "metadata": {"name": name}, "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "ann"}],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
    })).await;
    let ann = bench.client("ann");
    // The server learns of rights a moment later.
    let path = definition("");
    let path = path.trim_end_matches('/').to_owned();
    eventually(async || crate::bench::call(&ann, "GET", &path, &Value::Null).await.0 == 200).await;
    let (ending, report) = bench.apply_by(&bench.remover_by(ann, bench.settings.clone())).await;
    assert!(
        matches!(ending, CommandResult::Rested(RunOutcome::Finished(Finish::Leftovers))),
        "{ending:?}"
    );
    let resource = format!("clusterthings.{}", bench.group);
    assert_eq!(
        why(&report, &resource, "one"),
        format!("not permitted: needs the verb patch on {resource} in the cluster")
    );
    let bindings = "clusterrolebindings.rbac.authorization.k8s.io";
    assert_eq!(
        why(&report, bindings, &bench.namespace),
        format!("not permitted: needs the verb delete on {bindings} in the cluster")
    );
    assert_eq!(
        why(&report, "namespaces", &bench.namespace),
        "not permitted: needs the verb delete on namespaces in the cluster"
    );
    // What was permitted was done all the same.
    for path in &objects[1..] {
        assert!(bench.is_gone(path).await, "{path}");
    }
    assert!(bench.is_gone(&definition(&format!("things.{sub}"))).await);
    // Whoever may not even look is told what for, and nothing is begun.
    bench.call("DELETE", &format!("{rbac}/clusterrolebindings/{name}"), Value::Null).await;
    let blind = bench.remover_by(bench.client("ann"), bench.settings.clone());
    let ann = bench.client("ann");
    eventually(async || crate::bench::call(&ann, "GET", &path, &Value::Null).await.0 == 403).await;
    let plan = planned(&blind).await;
    let text = mooring_finalizers::plan::table(&plan);
    assert!(
        text.contains("needs the verb list on customresourcedefinitions.apiextensions.k8s.io"),
        "{text}"
    );
    assert!(!plan.nothing_to_do, "unknown is never nothing");
}

/// Waits for what a server does behind a caller's back.
async fn eventually(is_so: impl AsyncFn() -> bool) {
    for _ in 0..1200 {
        if is_so().await {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("the server did not hear of it within a minute");
}

pub(crate) async fn a_webhook_that_refuses_is_named(mut bench: Bench) {
    let objects = bench.retired().await;
    let hook = format!("guard.{}", bench.group);
    let path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    let mut served = None;
    if let Some(shell) = &bench.model {
        shell.with(|model, _| {
            model.deny(mooring_simulator::kubernetes::Denial {
                webhook: hook.clone(),
                resource: format!("clusterthings.{}", bench.group),
                operations: vec!["DELETE".into()],
                name: None,
                message: "not before Monday".into(),
            });
        });
    } else {
        let (url, authority, task) = players::webhook().await;
        served = Some(task);
        bench.create(path, json!({
            "metadata": {"name": hook},
            "webhooks": [{
                "name": hook, "sideEffects": "None", "admissionReviewVersions": ["v1"], "failurePolicy": "Fail",
                "clientConfig": {"url": url, "caBundle": authority},
                "rules": [{"apiGroups": [bench.group], "apiVersions": ["*"], "resources": ["clusterthings"],
                    "operations": ["DELETE"]}],
            }],
        })).await;
        // It is asked a moment later.
        let extra = bench
            .object(
                &format!("/apis/{}/v1", bench.group),
                "clusterthings",
                None,
                "probe",
                &["example.com/x"],
            )
            .await;
        let dry = || json!({"dryRun": ["All"]});
        eventually(async || bench.call("DELETE", &extra, dry()).await.0 == 403).await;
        // Behind a URL may be anything, the operator as well.
        let guards = planned(&bench.remover()).await.guards;
        assert_eq!(guards[0].outcome, Outcome::Unknown, "{guards:?}");
        bench.settings.overrides.insert(OPERATOR_GONE.into(), "a policy of ours".into());
    }
    let (ending, report) = bench.apply().await;
    assert!(
        matches!(ending, CommandResult::Rested(RunOutcome::Finished(Finish::Leftovers))),
        "{ending:?}"
    );
    let told = why(&report, &format!("clusterthings.{}", bench.group), "one");
    assert!(
        told.starts_with(&format!("webhook {hook} refuses")) && told.contains("not before Monday"),
        "{told}"
    );
    // A live object keeps its finalizers, whatever the profile lists.
    let (_, found) = bench.get(&objects[0]).await;
    assert_eq!(found["metadata"]["finalizers"], json!([bench.listed()]));
    assert!(found["metadata"]["deletionTimestamp"].is_null());
    assert!(bench.is_gone(&objects[2]).await, "others are not kept waiting");
    bench.call("DELETE", &format!("{path}/{hook}"), Value::Null).await;
    drop(served);
}

async fn deployment(bench: &Bench) -> String {
    let list = format!("/apis/apps/v1/namespaces/{}/deployments", bench.namespace);
    bench.create(&list, json!({
        "metadata": {"name": "op"},
        "spec": {
            "replicas": 1, "selector": {"matchLabels": {"app": "op"}},
            "template": {"metadata": {"labels": {"app": "op"}}, "spec": {"containers": [{"name": "c", "image": "example.invalid/c"}]}},
        },
    })).await;
    let path = format!("{list}/op");
    bench.until(&path, |_, found| found["status"]["replicas"] == 1).await;
    path
}

pub(crate) async fn an_operator_that_runs_is_not_robbed_of_its_finalizers(bench: Bench) {
    let objects = bench.retired().await;
    let path = deployment(&bench).await;
    let remover = bench.remover();
    let plan = planned(&remover).await;
    let ending = remover.apply(&plan, &approved(&plan), Box::new(|_, _, _| {})).await;
    let CommandResult::Refused(BeginError::Refused { name, why }) = ending else {
        panic!("{ending:?}")
    };
    assert_eq!(name, "operator-gone");
    assert!(why.contains(&format!("deployments.apps {}/op", bench.namespace)), "{why}");
    assert!(remover.status().await.unwrap().records.is_empty(), "nothing was begun");
    let (_, found) = bench.get(&objects[0]).await;
    assert!(found["metadata"]["deletionTimestamp"].is_null());
    bench.call("DELETE", &path, Value::Null).await;
    bench.until(&path, |status, _| status == 404).await;
    assert_ne!(planned(&remover).await.hash, plan.hash, "a plan that refuses is another one");
}

pub(crate) async fn an_operator_that_runs_and_recreates_is_scaled_down(mut bench: Bench) {
    let objects = bench.retired().await;
    let path = deployment(&bench).await;
    let list = format!("/apis/{}/v1/clusterthings", bench.group);
    let core = json!({
        "apiVersion": format!("{}/v1", bench.group), "kind": "Clusterthing",
        "metadata": {"name": "one", "finalizers": [bench.listed()]},
    });
    let operator = tokio::spawn(players::recreate(bench.client("admin"), path.clone(), list, core));
    bench.settings.scale_down = true;
    let (ending, report) = bench.apply().await;
    assert!(
        matches!(ending, CommandResult::Rested(RunOutcome::Finished(Finish::Clean))),
        "{ending:?} {}",
        report.table()
    );
    let deletions = report
        .effects
        .iter()
        .filter(|effect| effect.what.ends_with(" one") && effect.what.starts_with("delete"));
    assert!(deletions.count() > 1, "it came back: {}", report.table());
    assert!(
        report.effects.iter().any(|effect| effect.what.starts_with("scale down deployments.apps"))
    );
    assert!(bench.is_gone(&objects[0]).await);
    operator.await.unwrap();
}

pub(crate) async fn a_namespace_that_does_not_end_is_told_with_its_conditions(bench: Bench) {
    bench.retired().await;
    let held = json!({"metadata": {"name": "held", "finalizers": ["example.com/hold"]}});
    let list = format!("/api/v1/namespaces/{}/configmaps", bench.namespace);
    bench.create(&list, held).await;
    let (ending, report) = bench.apply().await;
    assert!(
        matches!(ending, CommandResult::Rested(RunOutcome::Finished(Finish::Leftovers))),
        "{ending:?} {}",
        report.table()
    );
    assert_eq!(report.left.len(), 1, "{}", report.table());
    let told = why(&report, "namespaces", &bench.namespace);
    assert!(
        told.contains("NamespaceContentRemaining: Some resources are remaining: configmaps"),
        "{told}"
    );
    assert!(
        told.contains("NamespaceFinalizersRemaining") && told.contains("example.com/hold"),
        "{told}"
    );
    let off = json!({"metadata": {"finalizers": null}});
    bench.call("PATCH", &format!("{list}/held"), off).await;
    let (ending, _) = bench.apply().await;
    assert!(
        matches!(ending, CommandResult::Rested(RunOutcome::Finished(Finish::Clean))),
        "{ending:?}"
    );
}

/// On the model every single kill is tried in `kills`; here some, so that a real server has seen them.
pub(crate) async fn a_run_that_is_killed_is_continued(bench: Bench) {
    for kill in [0, 1, 6, 9, 12, 17, 24] {
        let objects = bench.retired().await;
        let mortal = Mortal::new(Some(kill), false);
        let remover =
            bench.remover_by(mortal.client(&bench.client("admin")), bench.settings.clone());
        let plan = planned(&remover).await;
        let approval = approved(&plan);
        let run = remover.apply(&plan, &approval, Box::new(|_, _, _| {}));
        let ended = mortal.live(run).await;
        if ended.is_none() {
            forget_lock(&bench).await;
            let (ending, report) = bench.resume().await;
            assert!(
                matches!(ending, CommandResult::Rested(RunOutcome::Finished(Finish::Clean))),
                "kill {kill}: {ending:?} {}",
                report.table()
            );
        }
        for path in &objects {
            assert!(bench.is_gone(path).await, "kill {kill}: {path}");
        }
        assert!(planned(&bench.remover()).await.nothing_to_do, "kill {kill}");
        {
            let name = bench.name("foreign");
            bench
                .call(
                    "DELETE",
                    &format!("/apis/rbac.authorization.k8s.io/v1/clusterroles/{name}"),
                    Value::Null,
                )
                .await;
        }
        let other = format!("/api/v1/namespaces/{}-a", bench.namespace);
        bench.call("DELETE", &other, Value::Null).await;
        let (status, mut namespace) = bench.get(&other).await;
        if status == 200 {
            namespace["spec"]["finalizers"] = json!([]);
            bench.call("PUT", &format!("{other}/finalize"), namespace).await;
        }
        bench.until(&other, |status, _| status == 404).await;
    }
}

/// As if the process had been on this machine and were gone: it is, but the test that played it lives.
async fn forget_lock(bench: &Bench) {
    let name = bench.settings.profile.config_map();
    let path = format!("/apis/coordination.k8s.io/v1/namespaces/mooring-system/leases/{name}");
    bench
        .call("PATCH", &path, json!({"spec": {"holderIdentity": "", "leaseDurationSeconds": 1}}))
        .await;
}
