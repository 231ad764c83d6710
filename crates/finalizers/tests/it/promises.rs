//! The acceptance list of the tool that this one replaces, and what it did not promise, on the model under virtual time.

use jiff::SignedDuration;
use mooring_finalizers::report::Verdict;
use mooring_finalizers::shell::{BeginError, CommandResult};
use mooring_finalizers::workflow::Finish;
use mooring_finalizers::workflow::Reason;
use mooring_finalizers::workflow::RunOutcome;
use mooring_simulator::faults::{Condition, Fault, Rule};
use mooring_workflow::approval::Approval;
use mooring_workflow::store::JournalPlace;
use serde_json::{Value, json};

use crate::bench::{Bench, approved, definition, planned};
use crate::cases::why;

pub(crate) fn fault(bench: &Bench, method: &str, path: &str, status: u16, times: Option<u32>) {
    let then = Fault::Status { status, code: None, retry_after: None };
    let when =
        Condition { method: Some(method.into()), path: Some(path.into()), ..Condition::default() };
    let rule =
        Rule { when, then, probability: 1.0, from_seconds: 0, until_seconds: None, skip: 0, times };
    bench.model.as_ref().unwrap().with(|model, _| model.add_fault(rule));
}

fn finished(ending: &CommandResult, clean: bool) {
    assert!(
        matches!(ending, CommandResult::Rested(RunOutcome::Finished(found)) if (*found == Finish::Clean) == clean),
        "{ending:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_resource_that_vanishes_meanwhile_is_not_an_error() {
    // Lists of both scopes say NotFound, as when definitions go while the run looks.
    let bench = Bench::model("vanishes");
    bench.retired().await;
    let plan = planned(&bench.remover()).await;
    fault(&bench, "GET", "/apis/*vanishes*/*things", 404, None);
    fault(&bench, "GET", "/apis/v.example.com/*", 404, None);
    fault(&bench, "GET", "/apis/sub.v.example.com/*", 404, None);
    let remover = bench.remover();
    let ending =
        remover.apply(&plan, &Approval::Typed(plan.hash.clone()), Box::new(|_, _, _| {})).await;
    bench.model.as_ref().unwrap().with(|model, _| model.clear_faults());
    // Nothing is counted, nothing is refused; the definitions go, and the server removes what was theirs or waits.
    assert!(matches!(ending, CommandResult::Rested(_)), "{ending:?}");
}

#[tokio::test(start_paused = true)]
async fn an_object_that_goes_between_the_look_and_the_patch_is_not_an_error() {
    let bench = Bench::model("patch_404");
    bench.retired().await;
    fault(&bench, "PATCH", "/apis/*/clusterthings/one", 404, Some(1));
    let (ending, report) = bench.apply().await;
    finished(&ending, true);
    assert_eq!(report.result, Verdict::Acted);
}

#[tokio::test(start_paused = true)]
async fn an_object_that_changes_between_the_look_and_the_patch_is_read_again() {
    let bench = Bench::model("patch_409");
    let objects = bench.retired().await;
    fault(&bench, "PATCH", "/apis/*/clusterthings/one", 409, Some(2));
    let (ending, report) = bench.apply().await;
    finished(&ending, true);
    let tries = report
        .effects
        .iter()
        .filter(|effect| effect.what.starts_with("strip") && effect.what.ends_with(" one"));
    assert_eq!(tries.count(), 3);
    assert!(bench.is_gone(&objects[0]).await);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_lost_is_settled_by_looking() {
    for then in [Fault::TimeoutAfter, Fault::TimeoutBefore, Fault::DropAfter, Fault::DropBefore] {
        let bench = Bench::model("lost");
        bench.retired().await;
        let when =
            Condition { writes: Some(true), path: Some("/apis/*".into()), ..Condition::default() };
        let rule = Rule {
            when,
            then: then.clone(),
            probability: 0.4,
            from_seconds: 0,
            until_seconds: None,
            skip: 0,
            times: Some(6),
        };
        bench.model.as_ref().unwrap().with(|model, _| model.add_fault(rule));
        let (ending, report) = bench.apply().await;
        assert!(
            matches!(ending, CommandResult::Rested(RunOutcome::Finished(Finish::Clean))),
            "{then:?}: {ending:?} {}",
            report.table()
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_busy_is_asked_again() {
    for status in [429, 500, 503] {
        let bench = Bench::model("busy");
        bench.retired().await;
        let when =
            Condition { writes: Some(true), path: Some("/apis/*".into()), ..Condition::default() };
        let then = Fault::Status { status, code: None, retry_after: None };
        let rule = Rule {
            when,
            then,
            probability: 0.5,
            from_seconds: 0,
            until_seconds: None,
            skip: 0,
            times: Some(10),
        };
        bench.model.as_ref().unwrap().with(|model, _| model.add_fault(rule));
        let (ending, _) = bench.apply().await;
        finished(&ending, true);
    }
}

#[tokio::test(start_paused = true)]
async fn without_definitions_the_rest_is_removed() {
    let bench = Bench::model("no_definitions");
    bench.namespace(&bench.namespace).await;
    bench.binding().await;
    bench.release().await;
    let (ending, report) = bench.apply().await;
    finished(&ending, true);
    assert_eq!(report.result, Verdict::Acted);
    assert!(bench.is_gone(&format!("/api/v1/namespaces/{}", bench.namespace)).await);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_discovered_is_unknown_and_best_effort_does_the_rest() {
    let mut bench = Bench::model("discovery");
    let objects = bench.retired().await;
    fault(&bench, "GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", 403, None);
    let remover = bench.remover();
    let plan = planned(&remover).await;
    let ending = remover.apply(&plan, &approved(&plan), Box::new(|_, _, _| {})).await;
    let CommandResult::Refused(BeginError::Unknown { why, .. }) = ending else {
        panic!("{ending:?}")
    };
    assert!(why.contains("needs the verb list on customresourcedefinitions"), "{why}");
    bench.settings.best_effort = true;
    let (ending, report) = bench.apply().await;
    finished(&ending, false);
    why_unknown(&report);
    assert!(!bench.is_gone(&objects[0]).await, "what is not known is not touched");
    assert!(bench.is_gone(&format!("/api/v1/namespaces/{}-gone", bench.namespace)).await);
    let binding =
        format!("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/{}", bench.namespace);
    assert!(bench.is_gone(&binding).await, "the operator's part runs all the same");
}

fn why_unknown(report: &mooring_finalizers::report::RunReport) {
    let told = why(report, "customresourcedefinitions.apiextensions.k8s.io", "*");
    assert!(told.contains("not permitted"), "{told}");
}

#[tokio::test(start_paused = true)]
async fn objects_that_cannot_be_counted_are_never_none() {
    let mut bench = Bench::model("count_unknown");
    bench.settings.best_effort = true;
    let objects = bench.retired().await;
    fault(&bench, "GET", "/apis/*/clusterthings", 403, None);
    let (ending, report) = bench.apply().await;
    finished(&ending, false);
    let resource = format!("clusterthings.{}", bench.group);
    assert_eq!(
        why(&report, &resource, "*"),
        format!("not permitted: needs the verb list on {resource}")
    );
    assert!(!bench.is_gone(&definition(&resource)).await, "its definition stays");
    assert!(bench.is_gone(&objects[2]).await, "what is unknown of one hides nothing of the others");
    assert!(bench.is_gone(&definition(&format!("things.sub.{}", bench.group))).await);
}

#[tokio::test(start_paused = true)]
async fn a_definition_that_is_gone_is_fine_and_one_that_cannot_go_is_told() {
    let bench = Bench::model("definition_404");
    bench.retired().await;
    let path = definition(&format!("clusterthings.{}", bench.group));
    fault(&bench, "DELETE", &path, 409, None);
    let (ending, report) = bench.apply().await;
    finished(&ending, false);
    let definitions = "customresourcedefinitions.apiextensions.k8s.io";
    let told = why(&report, definitions, &format!("clusterthings.{}", bench.group));
    assert!(told.contains("Conflict"), "{told}");
    bench.model.as_ref().unwrap().with(|model, _| model.clear_faults());
    let (ending, _) = bench.apply().await;
    finished(&ending, true);
}

#[tokio::test(start_paused = true)]
async fn a_namespace_or_binding_that_is_not_there_is_fine() {
    let bench = Bench::model("absent");
    let root = bench.define(&bench.group, "things", true, &[("v1", true, true)]).await;
    bench.object(&root, "things", Some("default"), "x", &[&bench.listed()]).await;
    let (ending, report) = bench.apply().await;
    finished(&ending, true);
    assert_eq!(report.left, []);
}

#[tokio::test(start_paused = true)]
async fn a_release_that_cannot_be_read_keeps_its_namespace() {
    let bench = Bench::model("release_403");
    bench.retired().await;
    fault(&bench, "GET", "/api/v1/namespaces/*/secrets", 403, None);
    let (ending, report) = bench.apply().await;
    finished(&ending, false);
    assert_eq!(
        why(&report, "secrets", "sh.helm.release.v1.op.*"),
        "not permitted: needs the verb list on secrets"
    );
    assert_eq!(
        why(&report, "namespaces", &bench.namespace),
        "it was not deleted, since its release is not known"
    );
}

#[tokio::test(start_paused = true)]
async fn a_release_whose_payload_is_broken_is_removed_by_its_labels() {
    let bench = Bench::model("release_broken");
    bench.namespace(&bench.namespace).await;
    bench.secret(1, "bm90IGEgcmVsZWFzZQ==").await;
    let plan = planned(&bench.remover()).await;
    let text = mooring_finalizers::plan::table(&plan);
    assert!(text.contains("revision 1, deployed, its payload cannot be read"), "{text}");
    let (ending, _) = bench.apply().await;
    finished(&ending, true);
}

#[tokio::test(start_paused = true)]
async fn a_deadline_that_is_over_changes_nothing_and_can_be_continued() {
    let mut bench = Bench::model("deadline_zero");
    let objects = bench.retired().await;
    let usual = bench.settings.limits.overall;
    bench.settings.limits.overall = SignedDuration::ZERO;
    let (ending, report) = bench.apply().await;
    assert!(
        matches!(
            ending,
            CommandResult::Rested(RunOutcome::Resumable { reason: Reason::Deadline, .. })
        ),
        "{ending:?}"
    );
    assert_eq!((report.result, report.effects.len()), (Verdict::Interrupted, 0));
    let (_, found) = bench.get(&objects[0]).await;
    assert!(found["metadata"]["deletionTimestamp"].is_null());
    bench.settings.limits.overall = usual;
    let (ending, _) = bench.resume().await;
    finished(&ending, true);
}

#[tokio::test(start_paused = true)]
async fn many_objects_need_few_lists() {
    let bench = Bench::model("many_objects");
    let root = bench.define(&bench.group, "things", true, &[("v1", true, true)]).await;
    for number in 0..520 {
        bench
            .object(&root, "things", Some("default"), &format!("o{number}"), &[&bench.listed()])
            .await;
    }
    let mut settings = bench.settings.clone();
    let folder = tempfile::tempdir().unwrap();
    settings.journal =
        JournalPlace::File(folder.path().join("journal").to_str().unwrap().to_owned());
    let (ending, report) = bench.apply_by(&bench.remover_by(bench.client("admin"), settings)).await;
    finished(&ending, true);
    assert_eq!(report.effects.len(), 1041);
    let trace = bench.model.as_ref().unwrap().with(|model, _| model.trace());
    let lists = trace.lines().filter(|line| line.contains("/things?limit=")).count();
    assert!(lists < 60, "{lists}");
    assert!(trace.contains("&continue="), "lists are paged");
}

#[tokio::test(start_paused = true)]
async fn an_object_whose_backup_does_not_fit_is_spared_and_told() {
    let bench = Bench::model("huge");
    let root = bench.define(&bench.group, "things", true, &[("v1", true, true)]).await;
    let mut text = String::new();
    let mut link = "seed".to_owned();
    while text.len() < 1_300_000 {
        link = mooring_workflow::canonical::hash_bytes(link.as_bytes());
        text.push_str(&link);
    }
    let list = format!("{root}/namespaces/default/things");
    bench.create(&list, json!({
        "apiVersion": format!("{}/v1", bench.group), "kind": "Thing",
        "metadata": {"name": "huge", "finalizers": [bench.listed()]}, "spec": {"text": text},
    })).await;
    let (ending, report) = bench.apply().await;
    finished(&ending, false);
    let told = why(&report, &format!("things.{}", bench.group), "huge");
    assert!(told.contains("--journal FILE"), "{told}");
    let (_, found) = bench.get(&format!("{list}/huge")).await;
    assert_eq!(found["metadata"]["finalizers"], json!([bench.listed()]), "no backup, no removal");
}

#[tokio::test(start_paused = true)]
async fn an_object_that_somebody_makes_again_is_told_and_not_deleted_for_ever() {
    let bench = Bench::model("made_again");
    bench.namespace(&bench.namespace).await;
    let root = bench.define(&bench.group, "things", true, &[("v1", true, true)]).await;
    let object = json!({
        "apiVersion": format!("{}/v1", bench.group), "kind": "Thing",
        "metadata": {"name": "phoenix", "finalizers": [bench.listed()]},
    });
    let list = format!("{root}/namespaces/default/things");
    bench.create(&list, object.clone()).await;
    // Not in the operator's namespace, and not known to be one.
    let elsewhere = "/apis/apps/v1/namespaces/default/deployments";
    bench.create(elsewhere, json!({
        "metadata": {"name": "maker"},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"a": "b"}}, "template": {
            "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "example.invalid/c"}]}}},
    })).await;
    // Keeps the definition, so that there is time for it to come back.
    bench.object(&root, "things", Some("default"), "held", &["example.com/hold"]).await;
    let maker = format!("{elsewhere}/maker");
    let _maker = crate::bench::Ends(tokio::spawn(crate::players::recreate(
        bench.client("admin"),
        maker,
        list,
        object,
    )));
    let (ending, report) = bench.apply().await;
    finished(&ending, false);
    let told = why(&report, &format!("things.{}", bench.group), "phoenix");
    assert!(told.contains("came back: something makes it again"), "{told}");
    assert!(report.effects.len() < 20, "{}", report.effects.len());
}

#[tokio::test(start_paused = true)]
async fn a_second_one_stops_at_the_lock_and_an_unfinished_run_comes_first() {
    let mut bench = Bench::model("lock");
    bench.retired().await;
    bench.settings.limits.overall = SignedDuration::ZERO;
    let (_, _) = bench.apply().await;
    let remover = bench.remover();
    let plan = planned(&remover).await;
    let again = remover.apply(&plan, &approved(&plan), Box::new(|_, _, _| {})).await;
    assert!(matches!(again, CommandResult::Refused(BeginError::Unfinished(_))), "{again:?}");
    let name = bench.settings.profile.config_map();
    let path = format!("/api/v1/namespaces/mooring-system/configmaps/{name}");
    let (_, map) = bench.get(&path).await;
    let now = bench.model.as_ref().unwrap().now();
    let lease = format!("/apis/coordination.k8s.io/v1/namespaces/mooring-system/leases/{name}");
    let spec = json!({"holderIdentity": "elsewhere_1_h", "renewTime": format!("{now:.6}"), "leaseDurationSeconds": 30});
    bench.call("PATCH", &lease, json!({ "spec": spec })).await;
    let held = remover.apply(&plan, &approved(&plan), Box::new(|_, _, _| {})).await;
    assert!(matches!(held, CommandResult::Held(_)), "{held:?}");
    assert!(map["data"]["journal"].as_str().unwrap().contains("mooring.finalizers.journal/v2"));
}

#[tokio::test(start_paused = true)]
async fn what_is_in_the_way_is_in_the_plan() {
    let bench = Bench::model("in_the_way");
    bench.retired().await;
    bench.create("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", json!({
        "metadata": {"name": "guard"},
        "webhooks": [{"name": "g.example.com", "failurePolicy": "Fail", "rules": [{"apiGroups": [bench.group]}],
            "clientConfig": {"service": {"namespace": bench.namespace, "name": "s"}}}],
    })).await;
    bench.model.as_ref().unwrap().with(|model, now| {
        model.create(json!({
            "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": "v1.metrics.example.com"},
            "spec": {"group": "metrics.example.com", "version": "v1"},
            "status": {"conditions": [{"type": "Available", "status": "False", "reason": "MissingEndpoints"}]},
        }), now).unwrap();
    });
    let plan = planned(&bench.remover()).await;
    let notes = plan.notes.join("\n");
    assert!(notes.contains("guard") && notes.contains("delete it first"), "{notes}");
    assert!(notes.contains("v1.metrics.example.com does not answer (MissingEndpoints)"), "{notes}");
    let diagram = mooring_finalizers::plan::mermaid(&plan);
    assert!(
        diagram.starts_with("flowchart TD") && diagram.contains("remove-finalizers"),
        "{diagram}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_group_alone_finds_an_operator_that_is_called_after_it() {
    let mut bench = Bench::model("group_alone");
    bench.namespace(&bench.namespace).await;
    let root = bench.define(&bench.group, "things", true, &[("v1", true, true)]).await;
    bench.object(&root, "things", Some("default"), "x", &[&bench.listed()]).await;
    bench.settings.profile =
        mooring_finalizers::profile::Profile::of_group(&bench.group).checked().unwrap();
    let word = bench.group.split('.').next().unwrap().to_owned();
    let list = format!("/apis/apps/v1/namespaces/{}/deployments", bench.namespace);
    bench.create(&list, json!({
        "metadata": {"name": format!("{word}-manager")},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"a": "b"}}, "template": {
            "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "example.invalid/c"}]}}},
    })).await;
    let plan = planned(&bench.remover()).await;
    assert!(!plan.guards[0].allows_run(), "{:?}", plan.guards);
    bench.call("DELETE", &format!("{list}/{word}-manager"), Value::Null).await;
    let (ending, _) = bench.apply().await;
    finished(&ending, true);
}
