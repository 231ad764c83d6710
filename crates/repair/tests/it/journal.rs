//! The stored run of a repair: all effects, and the limit of recreations.

use mooring_repair::workflow::losses;
use mooring_workflow::Note;
use mooring_workflow::{Finish, Reason};
use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use mooring_repair::effects::{Effect, Precondition};
use mooring_repair::operation::OperationScope;
use mooring_repair::plan::Step;
use mooring_repair::screens::run_markdown;
use mooring_repair::settings::Settings;
use mooring_repair::start_checks::breaker;
use mooring_repair::workflow::{Entry, PoolRepair, Run, Runs, Workload};
use mooring_workflow::EffectResult;
use mooring_workflow::Phase;
use mooring_workflow::journal::{decode, encode};
use serde_json::json;

use crate::common::{session, target};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_779_000_000 + second).unwrap()
}

fn settings(pool: &str) -> Settings {
    let mut settings = Settings::new(target(pool));
    settings.add_override("workloads=ticket 7").unwrap();
    settings
}

fn started(pool: &str, id: &str, second: i64) -> Run {
    Run::begin(id, session(&settings(pool)), at(second))
}

fn resumed(pool: &str) -> Entry {
    Entry::Resumed(Box::new(session(&settings(pool))))
}

fn intent(effect: Effect) -> Entry {
    Entry::Intent(Box::new(effect))
}

fn delete(pool: &str) -> Effect {
    Effect::DeletePool { pool: pool.into(), if_match: Some("e".into()) }
}

/// One change of every kind, in a valid order.
fn entries() -> Vec<Entry> {
    let refused = EffectResult::Refused {
        status: 429,
        code: "Throttled".into(),
        message: "m".into(),
        retry_after: Some(SignedDuration::from_secs(7)),
    };
    let effects = [
        (
            Effect::AbortOperation {
                scope: OperationScope::Cluster,
                operation: "o".into(),
                judged: None,
            },
            EffectResult::Started { token: "t".into() },
        ),
        (
            Effect::AbortOperation {
                scope: OperationScope::Pool("p".into()),
                operation: "o".into(),
                judged: Some(Timestamp::UNIX_EPOCH),
            },
            refused,
        ),
        (
            Effect::PutPool {
                pool: "systmp".into(),
                body: json!({"properties": {"count": 1, "spotMaxPrice": -1.0}}),
                only: Some(Precondition::IfMatch("e".into())),
            },
            EffectResult::Unknown { why: "w".into() },
        ),
        (delete("system"), EffectResult::AlreadyDone),
        (Effect::Cordon { node: "n".into(), uid: "u".into() }, EffectResult::Done),
        (Effect::Uncordon { node: "n".into(), uid: "u".into() }, EffectResult::Done),
        (
            Effect::Evict { namespace: "a".into(), pod: "b".into(), uid: "u".into() },
            EffectResult::Done,
        ),
        (
            Effect::DeletePod {
                namespace: "a".into(),
                pod: "b".into(),
                uid: "u".into(),
                reason: "r".into(),
            },
            EffectResult::Done,
        ),
        (Effect::TagCluster { name: "n".into(), value: "v".into() }, EffectResult::Done),
    ];
    let mut all = vec![
        Entry::StepDone { step: Step::Snapshot, evidence: vec!["p".into()] },
        note(Step::DrainPool, vec!["l".into()]),
    ];
    for (effect, result) in effects {
        let key = effect.key();
        all.push(intent(effect));
        all.push(Entry::Outcome { key, result });
    }
    all.extend([
        Entry::Stopped { reason: Reason::Deadline, message: "m".into() },
        resumed("system"),
        Entry::AbortStarted(Box::new(session(&settings("system")))),
        Entry::Finished { finish: Finish::Aborted, left: vec!["x".to_owned().into()] },
    ]);
    all
}

/// New facts of a run without others.
fn note(step: Step, losses: Vec<String>) -> Entry {
    let mut facts = started("system", "r1", 0).facts;
    let workload = Workload { name: "n".into(), serving: 2 };
    facts.record(step, BTreeMap::from([("u".into(), workload)]), losses);
    Entry::Note(Box::new(Note { facts, backup: None, text: String::new() }))
}

#[test]
fn every_change_is_read_back_as_written() {
    let mut state = started("system", "r1", 0);
    for (second, entry) in (1..).zip(entries()) {
        state.change(at(second), &entry).unwrap();
        let text = encode(&state, &[]);
        let runs: Runs = decode::<PoolRepair>(&text).unwrap();
        assert_eq!(runs.last.as_ref(), Some(&state));
        let text = run_markdown(&state);
        assert!(text.contains("r1") && text.contains("Overridden: workloads: ticket 7"), "{text}");
    }
    assert_eq!(state.phase, Phase::Finished(Finish::Aborted));
    assert_eq!(
        state.attempt("abort the operation of the cluster").unwrap().token.as_deref(),
        Some("t")
    );
    assert_eq!(state.attempt("abort the operation of the cluster").unwrap().count, 1);
    assert!(state.facts.cordoned.contains("n"));
    assert_eq!(state.step(), Some(Step::ClearOperation));
}

/// Attempts at pods and nodes may be left out of a stored run; those at pools and operations never.
#[test]
fn effects_that_decide_later_steps_last() {
    for entry in entries() {
        let Entry::Intent(effect) = entry else { continue };
        let passes = ["cordon", "uncordon", "evict", "delete pod"];
        let key = effect.key();
        let lasts = !passes.iter().any(|verb| key.starts_with(&format!("{verb} ")));
        assert_eq!(effect.lasts(), lasts, "{key}");
    }
}

/// The limit holds over runs, whatever happened between them.
#[test]
fn run_that_loses_the_pods_of_a_large_pool_is_stored() {
    let mut run = started("system", "r-1", 0);
    let pod = |number: u32| format!("pod {}/{number}: its emptyDir is lost", "n".repeat(200));
    for step in [Step::DrainPool, Step::DrainTemporary] {
        let losses = (0..20_000).map(pod).collect();
        run.facts.record(step, BTreeMap::new(), losses);
    }
    assert!(encode::<PoolRepair>(&run, &[]).len() < 512 * 1024 * 3 / 4);
    let losses: Vec<String> = losses(&run).into_iter().map(|one| one.what).collect();
    // The plan has one as well.
    assert_eq!((losses.len(), losses[999].clone()), (1_001, pod(998)));
    assert_eq!(losses[1_000], "39001 more pods without a controller or with local data");
}

#[test]
fn third_recreation_within_a_day_is_rejected() {
    let mut runs = Runs::default();
    let hours = |hour: i64| at(hour * 3600);
    let mut go = |hour: i64, deletes: bool| {
        runs.archive(hours(hour));
        let mut run = started("system", &format!("r{hour}"), hour * 3600);
        let mut effects = vec![delete("systmp")];
        if deletes {
            effects.push(delete("system"));
        }
        for effect in effects {
            run.change(hours(hour), &intent(effect)).unwrap();
        }
        run.change(hours(hour), &Entry::Finished { finish: Finish::Complete, left: vec![] })
            .unwrap();
        runs.last = Some(run);
        runs.clone()
    };
    assert_eq!(breaker(&go(0, true), "system", at(60)), None);
    let twice = go(1, true);
    assert_eq!(twice.past[0].deleted, Some(at(0)));
    assert!(breaker(&twice, "system", at(3700)).unwrap().contains("2 times"));
    // Runs that delete nothing push none out.
    let many = (2..20).map(|hour| go(hour, false)).next_back().unwrap();
    assert!(breaker(&many, "system", hours(23)).is_some());
    assert_eq!(breaker(&many, "system", hours(24)), None, "the first one is a day old");
    assert!(breaker(&go(20, true), "system", hours(24)).is_some());
}
