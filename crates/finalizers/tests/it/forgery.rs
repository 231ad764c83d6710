//! A journal is evidence, never authority: whatever stands in one, a resumed run changes only what the plan covers that
//! was made for it in this process.

use mooring_finalizers::workflow::Finish;
use mooring_workflow::Effect as _;
use mooring_workflow::Step as _;
use std::collections::BTreeSet;

use mooring_finalizers::effect::Effect;
use mooring_finalizers::plan::Plan;
use mooring_finalizers::shell::{BeginError, CommandResult, Remover};
use mooring_finalizers::step::Step;
use mooring_finalizers::target::Target;
use mooring_finalizers::workflow::Entry;
use mooring_finalizers::workflow::Record;
use mooring_finalizers::workflow::RunOutcome;
use mooring_workflow::EffectResult;
use mooring_workflow::approval::Approval;
use mooring_workflow::journal::{encode, follow};
use serde_json::{Value, json};

use crate::bench::{Bench, Mortal, approved, planned};

const VICTIM: &str = "victim.example.org";
const SYSTEM: &str = "victim-system";

/// Another operator that is none of the run's business. Paths of all that belongs to it.
async fn victim(bench: &Bench) -> Vec<String> {
    bench.namespace(SYSTEM).await;
    let root = bench.define(VICTIM, "prizes", true, &[("v1", true, true)]).await;
    let finalizer = format!("{VICTIM}/hold");
    let object = bench.object(&root, "prizes", Some(SYSTEM), "gold", &[&finalizer]).await;
    let rbac = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
    bench.create(rbac, json!({
        "metadata": {"name": "victim"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
    })).await;
    vec![
        object,
        crate::bench::definition(&format!("prizes.{VICTIM}")),
        format!("{rbac}/victim"),
        format!("/api/v1/namespaces/{SYSTEM}"),
    ]
}

async fn versions(bench: &Bench, paths: &[String]) -> Vec<Value> {
    let mut all = Vec::new();
    for path in paths {
        let (status, body) = bench.get(path).await;
        all.push(json!([path, status, body["metadata"]["resourceVersion"]]));
    }
    all
}

/// What is changed in a journal.
type Forgery = (&'static str, fn(&mut Entry, &Target));

fn forgeries() -> Vec<Forgery> {
    fn started(entry: &mut Entry, change: impl FnOnce(&mut mooring_finalizers::profile::Profile)) {
        if let Entry::RunStarted(session) = entry {
            change(&mut session.profile);
        }
    }
    fn of(name: &'static str, change: fn(&mut Entry, &Target)) -> Forgery {
        (name, change)
    }
    fn aimed(entry: &mut Entry, victim: &Target) {
        if let Entry::Intent { effect, .. } = entry {
            match &mut **effect {
                Effect::Delete { target }
                | Effect::Strip { target, .. }
                | Effect::ScaleDown { target, .. } => *target = victim.clone(),
            }
        }
    }
    vec![
        of("groups", |entry, _| started(entry, |profile| profile.groups.push(VICTIM.into()))),
        of("finalizers", |entry, _| {
            started(entry, |profile| profile.finalizers = vec!["example.com/hold".into()]);
        }),
        of("namespace", |entry, _| {
            started(entry, |profile| profile.namespace = Some(SYSTEM.into()));
        }),
        of("bindings", |entry, _| {
            started(entry, |profile| profile.cluster_role_bindings.push("victim".into()));
        }),
        of("cluster", |entry, _| {
            if let Entry::RunStarted(session) = entry {
                session.cluster = "another".into();
            }
        }),
        of("token", |entry, _| {
            if let Entry::RunStarted(session) = entry {
                session.plan_hash = "0".repeat(64).parse().unwrap();
                session.approval = Approval::Typed(session.plan_hash.clone());
            }
        }),
        of("targets", aimed),
        of("outcome", |entry, _| {
            if let Entry::Outcome { result, .. } = entry {
                *result = EffectResult::Refused {
                    status: 503,
                    code: "Busy".into(),
                    message: String::new(),
                    retry_after: None,
                };
            }
        }),
        of("step", |entry, _| {
            if let Entry::Intent { step, .. } = entry {
                *step = Step::DeleteNamespace;
            }
        }),
        of("attempts", |entry, _| {
            if let Entry::Intent { attempt, .. } = entry {
                *attempt = u32::MAX;
            }
        }),
    ]
}

/// Rewrites the journal with a valid chain, as anyone can who may write its `ConfigMap`.
async fn forge(bench: &Bench, forgery: Option<&Forgery>, more: &[Entry], victim: &Target) {
    let records = bench.remover().status().await.unwrap().records;
    let run = records[0].run.clone();
    let mut forged: Vec<Record> = Vec::new();
    let mut open = None;
    let entries = records.iter().map(|record| (record.at, record.entry.clone()));
    let last = records.last().unwrap().at;
    for (at, mut entry) in entries.chain(more.iter().map(|entry| (last, entry.clone()))) {
        if let Some((_, change)) = forgery {
            change(&mut entry, victim);
        }
        // An outcome must be that of the intent before it, or the journal is nonsense.
        match &mut entry {
            Entry::Intent { effect, .. } => open = Some(effect.key()),
            Entry::Outcome { key, .. } => *key = open.take().unwrap(),
            _ => {}
        }
        let record = follow(forged.last(), &run, at, entry);
        forged.push(record);
    }
    let text: String = forged.iter().map(encode).collect();
    let name = bench.settings.profile.config_map();
    let path = format!("/api/v1/namespaces/mooring-system/configmaps/{name}");
    let (status, body) =
        bench.call("PATCH", &path, json!({"data": {"journal": text, "lock": ""}})).await;
    assert_eq!(status, 200, "{body}");
}

/// What Mooring wrote since, other than its journal.
fn effects(bench: &Bench, since: usize) -> BTreeSet<(String, String, String)> {
    bench.model.as_ref().unwrap().with(|model, _| {
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

/// A run that was killed when its journal had this many records; none if it never has as many.
async fn killed(records: usize, kills: &mut std::ops::Range<u64>) -> Option<(Bench, Vec<String>)> {
    for kill in kills.by_ref() {
        let bench = Bench::model("forged_run");
        let others = victim(&bench).await;
        bench.retired().await;
        let mortal = Mortal::new(Some(kill), true);
        let remover =
            bench.remover_by(mortal.client(&bench.client("admin")), bench.settings.clone());
        let run = async {
            let plan = planned(&remover).await;
            remover.apply(&plan, &approved(&plan), Box::new(|_, _, _| {})).await
        };
        if mortal.live(run).await.is_some() {
            return None;
        }
        if bench.remover().status().await.unwrap().records.len() >= records {
            return Some((bench, others));
        }
    }
    None
}

async fn aim(bench: &Bench, path: &str) -> Target {
    let (_, body) = bench.get(path).await;
    Target::of(&format!("prizes.{VICTIM}"), &format!("/apis/{VICTIM}/v1"), &body).unwrap()
}

async fn resume(remover: &Remover, plan: &Plan, approval: &Approval) -> CommandResult {
    remover.resume(plan, approval, Box::new(|_, _, _| {}), &mut |_| {}).await
}

/// Every prefix of a run's journal, every field, both kinds of approval.
#[tokio::test(start_paused = true)]
async fn forged_journal_never_widens_what_a_resumed_run_does() {
    let (mut tried, mut rejected) = (0, 0);
    // Where a kill leaves how many records is found out once.
    let mut points = Vec::new();
    let mut kills = 0..400;
    let mut records = 1;
    while let Some((bench, _)) = killed(records, &mut kills).await {
        points.push(kills.start - 1);
        records = bench.remover().status().await.unwrap().records.len() + 1;
    }
    assert!(points.len() > 20, "{points:?}");
    for (at, point) in points.iter().enumerate() {
        for (number, forgery) in forgeries().iter().enumerate() {
            // Both kinds at every record would be twice the time; they alternate.
            let best_effort = (at + number) % 2 == 0;
            let Some((mut bench, others)) = killed(1, &mut (*point..point + 1)).await else {
                panic!("kill {point}")
            };
            bench.settings.best_effort = best_effort;
            let gold = aim(&bench, &others[0]).await;
            let before = versions(&bench, &others).await;
            forge(&bench, Some(forgery), &[], &gold).await;
            let since = bench.model.as_ref().unwrap().with(|model, _| model.writes().count());
            let remover = bench.remover();
            let records = remover.status().await.unwrap().records;
            let over = matches!(records.last().unwrap().entry, Entry::Finished { .. });
            let plan = planned(&remover).await;
            let approval = match best_effort {
                _ if plan.nothing_to_do => Approval::None,
                true => Approval::Pipeline(plan.hash.clone()),
                false => approved(&plan),
            };
            let ending = resume(&remover, &plan, &approval).await;
            let name = forgery.0;
            let done = effects(&bench, since);
            let extra: Vec<_> = done.difference(&covered(&plan)).cloned().collect();
            assert!(extra.is_empty(), "{name} at kill {point}: {extra:?}");
            assert_eq!(versions(&bench, &others).await, before, "{name} at kill {point}");
            match name {
                _ if over => {
                    assert!(matches!(ending, CommandResult::Nothing(_)), "{name}: {ending:?}");
                }
                "groups" | "finalizers" | "namespace" | "bindings" => {
                    let other =
                        matches!(ending, CommandResult::Refused(BeginError::OtherProfile { .. }));
                    assert!(other && done.is_empty(), "{name}: {ending:?}");
                    rejected += 1;
                }
                "cluster" => {
                    let other =
                        matches!(ending, CommandResult::Refused(BeginError::OtherCluster(_)));
                    assert!(other && done.is_empty(), "{ending:?}");
                    rejected += 1;
                }
                _ => assert!(matches!(ending, CommandResult::Rested(_)), "{name}: {ending:?}"),
            }
            tried += 1;
        }
    }
    eprintln!("{tried} forged journals, {rejected} rejected");
}

/// Steps that a journal calls done are done again: what they should have prevented does not happen.
#[tokio::test(start_paused = true)]
async fn forged_steps_and_skipped_objects_replace_no_precondition() {
    for best_effort in [true, false] {
        let (mut bench, others) = killed(1, &mut (0..400)).await.unwrap();
        bench.settings.best_effort = best_effort;
        let gold = aim(&bench, &others[0]).await;
        let before = versions(&bench, &others).await;
        let done =
            Step::ALL.iter().take(8).map(|step| Entry::StepDone { step: *step, proof: vec![] });
        forge(&bench, None, &done.collect::<Vec<_>>(), &gold).await;
        let remover = bench.remover();
        let plan = planned(&remover).await;
        let approval =
            if best_effort { Approval::Pipeline(plan.hash.clone()) } else { approved(&plan) };
        let ending = resume(&remover, &plan, &approval).await;
        assert!(
            matches!(ending, CommandResult::Rested(RunOutcome::Finished(Finish::Clean))),
            "{ending:?}"
        );
        assert_eq!(versions(&bench, &others).await, before);
        assert!(planned(&bench.remover()).await.nothing_to_do, "every step ran");
    }
}

#[tokio::test(start_paused = true)]
async fn resume_needs_an_approval_of_its_own_plan() {
    let (bench, _) = killed(4, &mut (0..400)).await.unwrap();
    let records = bench.remover().status().await.unwrap().records;
    let Entry::RunStarted(session) = &records[0].entry else { panic!("{records:?}") };
    let plan_hash = &session.plan_hash;
    let gold = aim(&bench, &format!("/apis/{VICTIM}/v1/namespaces/{SYSTEM}/prizes/gold")).await;
    forge(&bench, None, &[], &gold).await;
    // A plan of the same second would be the same plan.
    tokio::time::sleep(std::time::Duration::from_secs(5)).await;
    let remover = bench.remover();
    let plan = planned(&remover).await;
    // The run's first approval is not one for what is planned now.
    let old = mooring_workflow::approval::ApprovalToken {
        hash: plan_hash.clone(),
        ..plan.approval.clone()
    };
    let since = bench.model.as_ref().unwrap().with(|model, _| model.writes().count());
    let ending = resume(&remover, &plan, &Approval::Token(old)).await;
    assert!(matches!(ending, CommandResult::Refused(BeginError::PlanChanged { .. })), "{ending:?}");
    assert!(effects(&bench, since).is_empty());
    // Nor does one last forever, or longer than any plan's.
    tokio::time::sleep(std::time::Duration::from_secs(3601)).await;
    let ending = resume(&remover, &plan, &approved(&plan)).await;
    assert!(matches!(ending, CommandResult::Refused(BeginError::Expired(_))), "{ending:?}");
    let far = bench.model.as_ref().unwrap().now() + jiff::SignedDuration::from_hours(200);
    let plan = remover.plan(far).await.unwrap();
    let ending = resume(&remover, &plan, &approved(&plan)).await;
    assert!(matches!(ending, CommandResult::Refused(BeginError::Expired(_))), "{ending:?}");
    assert!(effects(&bench, since).is_empty());
    let plan = planned(&remover).await;
    let ending = resume(&remover, &plan, &approved(&plan)).await;
    assert!(
        matches!(ending, CommandResult::Rested(RunOutcome::Finished(Finish::Clean))),
        "{ending:?}"
    );
}
