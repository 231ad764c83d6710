//! Only what the approved plan names by uid is deleted: the contents of the namespace, objects that were made again, and an
//! operator that was installed again.

use mooring_finalizers::commands::{CommandResult, StartError};
use mooring_finalizers::objects::Target;
use mooring_finalizers::step::Step;
use mooring_finalizers::workflow::{Decision, Run};
use mooring_workflow::Outcome;
use mooring_workflow::{Finish, Reason, RunOutcome};
use serde_json::{Value, json};

use crate::cases::why;
use crate::harness::{Harness, Report, approved, planned};

const CHECK: &str = "namespace-contents";

fn is_finished(ending: &CommandResult, wanted: Finish) -> bool {
    matches!(ending, CommandResult::Stopped(RunOutcome::Finished(found)) if *found == wanted)
}

/// Three objects of another team in the operator's namespace.
async fn move_in(harness: &Harness) {
    let root = format!("/api/v1/namespaces/{}", harness.namespace);
    for (resource, name) in
        [("secrets", "prod-db"), ("persistentvolumeclaims", "data"), ("configmaps", "theirs")]
    {
        let body = json!({"metadata": {"name": name}, "spec": {
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
        }});
        harness.create(&format!("{root}/{resource}"), body).await;
    }
}

#[tokio::test(start_paused = true)]
async fn objects_of_others_in_the_namespace_block_until_each_is_named() {
    let mut harness = Harness::model("others_inside");
    harness.retired().await;
    // What Kubernetes writes into every namespace does not count.
    let root = format!("/api/v1/namespaces/{}", harness.namespace);
    harness.usual().await;
    let usual = planned(&harness.remover()).await;
    assert!(usual.checks.iter().all(|check| check.outcome == Outcome::Pass), "{:?}", usual.checks);
    move_in(&harness).await;
    let names = ["configmaps/theirs", "persistentvolumeclaims/data", "secrets/prod-db"];
    for named in 0..=names.len() {
        harness.settings.overrides =
            names[..named].iter().map(|name| ((*name).to_owned(), "moved".to_owned())).collect();
        let plan = planned(&harness.remover()).await;
        let check = plan.checks.iter().find(|check| check.name == CHECK).unwrap();
        for name in &names[named..] {
            let (resource, name) = name.split_once('/').unwrap();
            let text = format!("{resource} {}/{name} would be deleted", harness.namespace);
            assert!(check.detail().contains(&text), "{check:?}");
        }
        let inside: Vec<String> = plan.contents.iter().map(Target::short_name).collect();
        assert!(
            names[..named].iter().all(|name| inside.contains(&(*name).to_owned())),
            "{inside:?}"
        );
        assert!(inside.iter().all(|name| !name.contains("kube-root-ca.crt")), "{inside:?}");
        let remover = harness.remover();
        let ending = remover.apply(&plan, &approved(&plan), Box::new(|_, _, _| {})).await;
        if named < names.len() {
            let CommandResult::Refused(StartError::Refused { name, .. }) = &ending else {
                panic!("{ending:?}")
            };
            assert_eq!(name, CHECK);
            assert!(remover.status().await.unwrap().runs.last.is_none(), "nothing was begun");
        } else {
            assert!(is_finished(&ending, Finish::Complete), "{ending:?}");
            assert!(harness.is_gone(&root).await);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn contents_that_cannot_be_listed_are_unknown() {
    let harness = Harness::model("contents_unknown");
    harness.retired().await;
    let path = format!("/api/v1/namespaces/{}/persistentvolumeclaims", harness.namespace);
    crate::acceptance::fault(&harness, "GET", &path, 403, None);
    let plan = planned(&harness.remover()).await;
    let ending = harness.remover().apply(&plan, &approved(&plan), Box::new(|_, _, _| {})).await;
    let CommandResult::Refused(StartError::Unknown { name, why }) = ending else {
        panic!("{ending:?}")
    };
    assert!(name == CHECK && why.contains("persistentvolumeclaims in"), "{why}");
}

/// Created after the approval: the namespace stays, and the rest is removed.
#[tokio::test(start_paused = true)]
async fn object_created_during_the_run_keeps_the_namespace() {
    for is_marked in [false, true] {
        let harness = Harness::model("late_inside");
        harness.retired().await;
        let plan = planned(&harness.remover()).await;
        let marks = if is_marked { harness.marks() } else { json!({}) };
        let late = json!({"metadata": {"name": "late", "annotations": marks}});
        let root = format!("/api/v1/namespaces/{}", harness.namespace);
        harness.create(&format!("{root}/secrets"), late).await;
        let remover = harness.remover();
        let ending = remover.apply(&plan, &approved(&plan), Box::new(|_, _, _| {})).await;
        assert!(is_finished(&ending, Finish::Partial), "{ending:?}");
        let report = Report::of(&remover.status().await.unwrap());
        let reason = why(&report, "namespaces", &harness.namespace);
        assert!(reason.contains(&format!("secrets {}/late", harness.namespace)), "{reason}");
        assert!(!harness.is_gone(&format!("{root}/secrets/late")).await);
    }
}

/// An administrator deleted the namespace and created it again: another uid, which nobody approved.
#[tokio::test(start_paused = true)]
async fn namespace_and_object_that_were_made_again_are_not_deleted() {
    let harness = Harness::model("made_again");
    let objects = harness.retired().await;
    let plan = planned(&harness.remover()).await;
    let path = format!("/api/v1/namespaces/{}", harness.namespace);
    let off = json!({"metadata": {"finalizers": null}});
    for object in &objects[..3] {
        harness.call("PATCH", object, off.clone()).await;
    }
    harness.call("DELETE", &path, Value::Null).await;
    harness.until(&path, |status, _| status == 404).await;
    harness.namespace(&harness.namespace).await;
    harness.call("DELETE", &objects[0], Value::Null).await;
    let root = format!("/apis/{}/v1", harness.group);
    harness.object(&root, "clusterthings", None, "one", &[&harness.listed()]).await;
    let remover = harness.remover();
    let ending = remover.apply(&plan, &approved(&plan), Box::new(|_, _, _| {})).await;
    assert!(is_finished(&ending, Finish::Partial), "{ending:?}");
    let report = Report::of(&remover.status().await.unwrap());
    for (resource, name, path) in [
        ("namespaces".to_owned(), harness.namespace.as_str(), &path),
        (format!("clusterthings.{}", harness.group), "one", &objects[0]),
    ] {
        let reason = why(&report, &resource, name);
        assert!(reason.contains("plan and apply again"), "{reason}");
        let (status, found) = harness.get(path).await;
        assert!(status == 200 && found["metadata"]["deletionTimestamp"].is_null(), "{found}");
    }
}

/// Installed again right before a step: whatever that step would delete stays.
#[tokio::test(start_paused = true)]
async fn operator_that_is_installed_again_stops_every_step_that_deletes() {
    for step in [
        Step::DeleteObjects,
        Step::RemoveFinalizers,
        Step::DeleteCrds,
        Step::DeleteBindings,
        Step::DeleteRelease,
        Step::DeleteNamespace,
    ] {
        let harness = Harness::model("installed_again");
        harness.retired().await;
        let remover = harness.remover();
        let plan = planned(&remover).await;
        let shell = harness.model.clone().unwrap();
        let deployment = json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "op", "namespace": harness.namespace},
            "spec": {
                "replicas": 1, "selector": {"matchLabels": {"app": "op"}},
                "template": {"metadata": {"labels": {"app": "op"}},
                    "spec": {"containers": [{"name": "c", "image": "example.invalid/c"}]}},
            },
        });
        let install = move || {
            shell.with(|model, now| model.create(deployment.clone(), now).unwrap());
        };
        let before = step.number().checked_sub(2).map(|at| Step::ALL[at]);
        if before.is_none() {
            install();
        }
        let watcher = move |run: &Run, decision: &Decision, _| {
            if matches!(decision, Decision::Done(_)) && before.is_some() && run.step() == before {
                install();
            }
        };
        let ending = remover.apply(&plan, &approved(&plan), Box::new(watcher)).await;
        assert!(
            matches!(
                ending,
                CommandResult::Stopped(RunOutcome::Resumable { reason: Reason::CheckFailed, .. })
            ),
            "{step:?}: {ending:?}"
        );
        let run = harness.run().await.unwrap();
        assert_eq!(run.step(), Some(step));
        let made = run.attempts.values().filter(|attempt| !run.is_before_step(attempt));
        assert_eq!(made.count(), 0, "{step:?}");
    }
}
