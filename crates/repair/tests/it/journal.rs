//! The journal of a repair: all effects, the limit of recreations, retention.

use mooring_repair::workflow::Fact;
use mooring_repair::workflow::Reason;
use mooring_workflow::Effect as _;
use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use mooring_repair::effects::{Effect, Precondition};
use mooring_repair::history::{breaker, retained, summaries};
use mooring_repair::operation::OperationScope;
use mooring_repair::plan::Step;
use mooring_repair::report::RunReport;
use mooring_repair::settings::Settings;
use mooring_repair::workflow::Run;
use mooring_repair::workflow::{Entry, Finish, Record, Workload};
use mooring_workflow::EffectResult;
use mooring_workflow::Phase;
use mooring_workflow::journal::{decode, encode, follow};
use mooring_workflow::lock::LockOwner;
use serde_json::json;

use crate::common::{session, target};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_779_000_000 + second).unwrap()
}

fn owner() -> LockOwner {
    LockOwner { host: "h".into(), pid: 7, holder: "x".into() }
}

fn settings(pool: &str) -> Settings {
    let mut settings = Settings::new(target(pool));
    settings.add_override("workloads=ticket 7").unwrap();
    settings
}

fn started(pool: &str) -> Entry {
    Entry::RunStarted(session(&settings(pool), owner()))
}

fn resumed(pool: &str) -> Entry {
    Entry::Resumed(session(&settings(pool), owner()))
}

fn intent(step: Step, effect: Effect) -> Entry {
    Entry::Intent { step, effect: Box::new(effect), attempt: 1 }
}

fn delete(pool: &str) -> Effect {
    Effect::DeletePool { pool: pool.into(), if_match: Some("e".into()) }
}

/// One record of every kind, in a valid order.
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
        started("system"),
        Entry::StepDone { step: Step::Snapshot, evidence: vec!["p".into()] },
        Entry::Fact(Fact::Workloads {
            step: Step::DrainPool,
            workloads: BTreeMap::from([("u".into(), Workload { name: "n".into(), serving: 2 })]),
            losses: vec!["l".into()],
        }),
    ];
    for (effect, result) in effects {
        let key = effect.key();
        all.push(intent(Step::ClearOperation, effect));
        all.push(Entry::Outcome { key, result });
    }
    all.extend([
        Entry::Stopped { reason: Reason::Deadline, message: "m".into() },
        resumed("system"),
        Entry::AbortStarted(session(&settings("system"), owner())),
        Entry::Finished { finish: Finish::Aborted, left: vec!["x".into()] },
    ]);
    all
}

fn chain(entries: Vec<Entry>) -> Vec<Record> {
    let mut records: Vec<Record> = Vec::new();
    for (index, entry) in entries.into_iter().enumerate() {
        let record = follow(records.last(), "r1", at(i64::try_from(index).unwrap()), entry);
        records.push(record);
    }
    records
}

#[test]
fn records_are_read_back_as_written() {
    let records = chain(entries());
    assert_eq!(decode::<Entry>(&records.iter().map(encode).collect::<String>()).unwrap(), records);
    let state = Run::replay(&records).unwrap().unwrap();
    assert_eq!(state.phase, Phase::Finished(Finish::Aborted));
    assert_eq!(
        state.attempt("abort the operation of the cluster").unwrap().token.as_deref(),
        Some("t")
    );
    assert_eq!(state.attempt("abort the operation of the cluster").unwrap().count, 1);
    assert!(state.facts.cordoned.contains("n"));
    assert_eq!(state.step(), Some(Step::ClearOperation));
}

#[test]
fn prefixes_of_a_journal_are_valid() {
    let records = chain(entries());
    assert_eq!(Run::replay(&[]).unwrap(), None);
    for length in 1..=records.len() {
        let state = Run::replay(&records[..length]).unwrap().unwrap();
        let mut by_one = Run::replay(&records[..1]).unwrap().unwrap();
        for record in &records[1..length] {
            by_one.take(record).unwrap();
        }
        assert_eq!(state, by_one);
        let report = RunReport::of(&records[..length]).unwrap().unwrap();
        assert!(report.markdown().contains("r1"));
        assert_eq!(report.overrides, ["workloads: ticket 7"]);
    }
}

#[test]
fn third_recreation_within_a_day_is_rejected() {
    let mut records: Vec<Record> = Vec::new();
    for (index, (pool, hour)) in
        [("system", 0), ("system", 1), ("user", 2), ("system", 10)].into_iter().enumerate()
    {
        let run = format!("r{index}");
        for entry in [
            started(pool),
            intent(Step::DeletePool, delete(pool)),
            intent(Step::DeleteTemporary, delete("systmp")),
        ] {
            records.push(follow(records.last(), &run, at(hour * 3600), entry));
        }
        let end = Entry::Finished { finish: Finish::Repaired, left: vec![] };
        records.push(follow(records.last(), &run, at(hour * 3600 + 60), end));
    }
    let runs = summaries(&records);
    assert_eq!(runs.len(), 4);
    assert_eq!(
        (runs[0].finish, runs[0].deleted, runs[0].last),
        (Some(Finish::Repaired), Some(at(0)), at(60))
    );
    assert_eq!((runs[0].step, runs[0].overrides.len()), (Some(Step::DeleteTemporary), 1));
    assert_eq!(breaker(&runs[..1], "system", at(60)), None);
    assert!(breaker(&runs[..2], "system", at(3700)).unwrap().contains("2 times"));
    assert_eq!(breaker(&runs, "user", at(37_000)), None);
    assert!(breaker(&runs, "system", at(24 * 3600 + 3599)).is_some());
    assert_eq!(breaker(&runs, "system", at(25 * 3600)), None);
}

#[test]
fn journal_keeps_recent_runs_and_counted_recreations() {
    // Ten runs, one an hour; only the first one deleted its pool.
    let mut records: Vec<Record> = Vec::new();
    for hour in 0..10 {
        let run = format!("r{hour}");
        let mut entries =
            vec![started("system"), Entry::StepDone { step: Step::Snapshot, evidence: vec![] }];
        if hour == 0 {
            entries.push(intent(Step::DeletePool, delete("system")));
        }
        entries.push(Entry::Finished { finish: Finish::Refused, left: vec![] });
        for entry in entries {
            records.push(follow(records.last(), &run, at(hour * 3600), entry));
        }
    }
    let runs = summaries(&records);
    assert_eq!((runs[1].step, runs[1].deleted), (Some(Step::Snapshot), None));
    let first_kept = |now: i64| records[records.len() - retained(&records, at(now))].run.clone();
    let day = 24 * 3600;
    assert_eq!(first_kept(10 * 3600), "r0", "it may count against a third recreation");
    assert_eq!(first_kept(day - 1), "r0");
    assert_eq!(first_kept(day), "r2", "eight runs are kept whatever they did");
    assert_eq!(retained(&records, at(day)), 8 * 3);
    assert_eq!(retained(&[], at(0)), 0);
    assert_eq!(breaker(&runs[..1], "system", at(day - 1)), None);
}
