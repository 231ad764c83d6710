//! A journal is evidence, never authority: regardless of its content, a resumed run changes only objects of the plan that
//! this process created.

use mooring_workflow::Finish;
use std::collections::BTreeSet;

use mooring_finalizers::commands::{CommandResult, Remover, StartError};
use mooring_finalizers::effect::Effect;
use mooring_finalizers::objects::Target;
use mooring_finalizers::plan::Plan;
use mooring_finalizers::step::Step;
use mooring_workflow::RunOutcome;
use mooring_workflow::approval::Approval;
use mooring_workflow::journal::encode;
use serde_json::{Value, json};

use crate::harness::{Harness, KillableProcess, approved, planned};

const VICTIM: &str = "victim.example.org";
const SYSTEM: &str = "victim-system";

/// Another operator, which the run must not change. Returns the paths of its objects.
async fn victim(harness: &Harness) -> Vec<String> {
    harness.namespace(SYSTEM).await;
    let root = harness.define(VICTIM, "prizes", true, &[("v1", true, true)]).await;
    let finalizer = format!("{VICTIM}/hold");
    let object = harness.object(&root, "prizes", Some(SYSTEM), "gold", &[&finalizer]).await;
    let rbac = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
    harness.create(rbac, json!({
        "metadata": {"name": "victim"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
    })).await;
    vec![
        object,
        crate::harness::crd(&format!("prizes.{VICTIM}")),
        format!("{rbac}/victim"),
        format!("/api/v1/namespaces/{SYSTEM}"),
    ]
}

async fn versions(harness: &Harness, paths: &[String]) -> Vec<Value> {
    let mut all = Vec::new();
    for path in paths {
        let (status, body) = harness.get(path).await;
        all.push(json!([path, status, body["metadata"]["resourceVersion"]]));
    }
    all
}

/// A change of a stored run, as JSON.
type Forgery = (&'static str, fn(&mut Value, &Target));

fn forgeries() -> Vec<Forgery> {
    fn of(name: &'static str, change: fn(&mut Value, &Target)) -> Forgery {
        (name, change)
    }
    fn attempts(run: &mut Value, change: impl Fn(&mut Value)) {
        run["attempts"].as_object_mut().unwrap().values_mut().for_each(change);
    }
    /// Effects on the victim, each under its name.
    fn aimed(run: &mut Value, victim: &Target) {
        let mut aimed = serde_json::Map::new();
        for (key, attempt) in run["attempts"].as_object().unwrap().clone() {
            let mut attempt = attempt;
            attempt["effect"]["target"] = serde_json::to_value(victim).unwrap();
            let effect: Effect = serde_json::from_value(attempt["effect"].clone()).unwrap();
            if run["open"] == key.as_str() {
                run["open"] = effect.key().into();
            }
            aimed.insert(effect.key(), attempt);
        }
        run["attempts"] = aimed.into();
    }
    vec![
        of("groups", |run, _| {
            run["session"]["profile"]["groups"].as_array_mut().unwrap().push(json!(VICTIM));
        }),
        of("finalizers", |run, _| {
            run["session"]["profile"]["finalizers"] = json!(["example.com/hold"]);
        }),
        of("namespace", |run, _| run["session"]["profile"]["namespace"] = json!(SYSTEM)),
        of("bindings", |run, _| {
            run["session"]["profile"]["clusterRoleBindings"] = json!(["victim"]);
        }),
        of("cluster", |run, _| run["session"]["cluster"] = json!("another")),
        of("approval", |run, _| {
            run["session"]["approval"] = json!({"by": "typed", "plan": "0".repeat(64)});
        }),
        of("targets", aimed),
        of("outcome", |run, _| {
            let refused = json!({"result": "refused", "status": 503, "code": "Busy", "message": "", "retry_after": null});
            attempts(run, |attempt| attempt["result"] = refused.clone());
        }),
        of("attempts", |run, _| attempts(run, |attempt| attempt["count"] = json!(u32::MAX))),
        of("session", |run, _| run["sessionSince"][1] = json!(u64::MAX)),
    ]
}

/// Rewrites the journal, as any client with write access can.
async fn forge(harness: &Harness, change: impl FnOnce(&mut Value)) {
    let run = harness.run().await.unwrap();
    let mut document: Value = serde_json::from_str(&encode(&run, &[])).unwrap();
    change(&mut document["run"]);
    let name = harness.settings.profile.config_map();
    let path = format!("/api/v1/namespaces/mooring-system/configmaps/{name}");
    let data = json!({"data": {"run": document.to_string()}});
    let (status, body) = harness.call("PATCH", &path, data).await;
    assert_eq!(status, 200, "{body}");
}

/// Writes of Mooring since then, except the journal.
fn effects(harness: &Harness, since: usize) -> BTreeSet<(String, String, String)> {
    harness.model.as_ref().unwrap().with(|model, _| {
        model
            .writes()
            .skip(since)
            .filter(|write| {
                let journal = ["configmaps", "leases.coordination.k8s.io"];
                write.manager == "mooring" && !journal.contains(&write.resource.as_str())
            })
            .map(|write| {
                (write.resource.clone(), write.key.namespace.clone(), write.key.name.clone())
            })
            .collect()
    })
}

fn covered(plan: &Plan) -> BTreeSet<(String, String, String)> {
    let name = |one: &Target| {
        (one.resource.clone(), one.namespace.clone().unwrap_or_default(), one.name.clone())
    };
    plan.targets.iter().map(name).collect()
}

/// A run that was killed after this many changes.
async fn killed(changes: u64, kills: &mut std::ops::Range<u64>) -> Option<(Harness, Vec<String>)> {
    for kill in kills.by_ref() {
        let harness = Harness::model("forged_run");
        let others = victim(&harness).await;
        harness.retired().await;
        let mortal = KillableProcess::new(Some(kill));
        let remover =
            harness.remover_by(mortal.client(&harness.client("admin")), harness.settings.clone());
        let run = async {
            let plan = planned(&remover).await;
            remover.apply(&plan, &approved(&plan), Box::new(|_, _, _| {})).await
        };
        if mortal.live(run).await.is_some() {
            return None;
        }
        if harness.run().await.is_some_and(|run| run.seq >= changes) {
            return Some((harness, others));
        }
    }
    None
}

async fn aim(harness: &Harness, path: &str) -> Target {
    let (_, body) = harness.get(path).await;
    Target::of(&format!("prizes.{VICTIM}"), &format!("/apis/{VICTIM}/v1"), &body).unwrap()
}

async fn resume(remover: &Remover, plan: &Plan, approval: &Approval) -> CommandResult {
    remover.resume(plan, approval, Box::new(|_, _, _| {}), &mut |_| {}).await
}

/// Forges every field of the journals that are left by these kills, and resumes them with both kinds of approval.
async fn resume_forged(points: &[u64]) {
    let (mut tried, mut rejected) = (0, 0);
    for (at, point) in points.iter().enumerate() {
        for (number, forgery) in forgeries().iter().enumerate() {
            // Both kinds at every record would be twice the time; they alternate.
            let best_effort = (at + number) % 2 == 0;
            let Some((mut harness, others)) = killed(0, &mut (*point..point + 1)).await else {
                panic!("kill {point}")
            };
            harness.settings.best_effort = best_effort;
            let gold = aim(&harness, &others[0]).await;
            let before = versions(&harness, &others).await;
            forge(&harness, |run| forgery.1(run, &gold)).await;
            let since = harness.model.as_ref().unwrap().with(|model, _| model.writes().count());
            let remover = harness.remover();
            let over = harness.run().await.unwrap().is_finished();
            let plan = planned(&remover).await;
            let approval = match best_effort {
                _ if plan.nothing_to_do => Approval::None,
                true => Approval::Pipeline(plan.approval.hash.clone()),
                false => approved(&plan),
            };
            let ending = resume(&remover, &plan, &approval).await;
            let name = forgery.0;
            let done = effects(&harness, since);
            let extra: Vec<_> = done.difference(&covered(&plan)).cloned().collect();
            assert!(extra.is_empty(), "{name} at kill {point}: {extra:?}");
            assert_eq!(versions(&harness, &others).await, before, "{name} at kill {point}");
            match name {
                _ if over => {
                    assert!(matches!(ending, CommandResult::Nothing(_)), "{name}: {ending:?}");
                }
                "groups" | "finalizers" | "namespace" | "bindings" => {
                    let other =
                        matches!(ending, CommandResult::Refused(StartError::OtherProfile { .. }));
                    assert!(other && done.is_empty(), "{name}: {ending:?}");
                    rejected += 1;
                }
                "cluster" => {
                    let other =
                        matches!(ending, CommandResult::Refused(StartError::OtherCluster(_)));
                    assert!(other && done.is_empty(), "{ending:?}");
                    rejected += 1;
                }
                _ => assert!(matches!(ending, CommandResult::Stopped(_)), "{name}: {ending:?}"),
            }
            tried += 1;
        }
    }
    eprintln!("{tried} forged journals, {rejected} rejected");
}

#[tokio::test(start_paused = true)]
async fn journal_forged_after_a_kill_adds_no_targets() {
    resume_forged(&[30]).await;
}

/// Steps that a journal marks as done run again.
#[tokio::test(start_paused = true)]
async fn forged_steps_and_skipped_objects_replace_no_precondition() {
    for best_effort in [true, false] {
        let (mut harness, others) = killed(0, &mut (0..400)).await.unwrap();
        harness.settings.best_effort = best_effort;
        let before = versions(&harness, &others).await;
        let done = Step::ALL.iter().take(8);
        let done =
            done.map(|step| json!({"step": step, "at": "2026-11-15T08:00:00Z", "evidence": []}));
        let done: Vec<Value> = done.collect();
        forge(&harness, |run| run["done"] = done.into()).await;
        let remover = harness.remover();
        let plan = planned(&remover).await;
        let approval = if best_effort {
            Approval::Pipeline(plan.approval.hash.clone())
        } else {
            approved(&plan)
        };
        let ending = resume(&remover, &plan, &approval).await;
        assert!(
            matches!(ending, CommandResult::Stopped(RunOutcome::Finished(Finish::Complete))),
            "{ending:?}"
        );
        assert_eq!(versions(&harness, &others).await, before);
        assert!(planned(&harness.remover()).await.nothing_to_do, "every step ran");
    }
}

#[tokio::test(start_paused = true)]
async fn resume_requires_an_approval_of_the_new_plan() {
    let (harness, _) = killed(3, &mut (0..400)).await.unwrap();
    let plan_hash = harness.run().await.unwrap().session.plan.hash;
    // A plan of the same second would be the same plan.
    tokio::time::sleep(std::time::Duration::from_secs(5)).await;
    let remover = harness.remover();
    let plan = planned(&remover).await;
    // The first approval of the run is not for the current plan.
    let old =
        mooring_workflow::approval::ApprovalToken { hash: plan_hash, ..plan.approval.clone() };
    let since = harness.model.as_ref().unwrap().with(|model, _| model.writes().count());
    let ending = resume(&remover, &plan, &Approval::Token(old)).await;
    assert!(matches!(ending, CommandResult::Refused(StartError::PlanChanged { .. })), "{ending:?}");
    assert!(effects(&harness, since).is_empty());
    // Approvals expire.
    tokio::time::sleep(std::time::Duration::from_secs(3601)).await;
    let ending = resume(&remover, &plan, &approved(&plan)).await;
    assert!(matches!(ending, CommandResult::Refused(StartError::Expired(_))), "{ending:?}");
    let far = harness.model.as_ref().unwrap().now() + jiff::SignedDuration::from_hours(200);
    let plan = remover.plan(far).await.unwrap();
    let ending = resume(&remover, &plan, &approved(&plan)).await;
    assert!(matches!(ending, CommandResult::Refused(StartError::Expired(_))), "{ending:?}");
    assert!(effects(&harness, since).is_empty());
    let plan = planned(&remover).await;
    let ending = resume(&remover, &plan, &approved(&plan)).await;
    assert!(
        matches!(ending, CommandResult::Stopped(RunOutcome::Finished(Finish::Complete))),
        "{ending:?}"
    );
}

mod slow {
    use super::*;

    /// Every state of a run.
    #[tokio::test(start_paused = true)]
    async fn forged_journal_never_adds_targets_to_a_resumed_run() {
        let mut points = Vec::new();
        let mut kills = 0..400;
        let mut changes = 0;
        while let Some((harness, _)) = killed(changes, &mut kills).await {
            points.push(kills.start - 1);
            changes = harness.run().await.unwrap().seq + 1;
        }
        assert!(points.len() > 20, "{points:?}");
        resume_forged(&points).await;
    }
}
