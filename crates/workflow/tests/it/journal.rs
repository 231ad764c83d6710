//! Records, their order, and the run that they describe.

use mooring_workflow::journal::{JournalError, decode, encode, follow, retained, verify};
use mooring_workflow::{EffectResult, Entry, Phase, Run, Step as _, Types as _};
use proptest::prelude::*;

use crate::sample::{
    Fact, Finish, Reason, Sample, SampleEntry, SampleRecord, SampleStep, at, chain, change, done,
    finished, intent, session, started, stopped,
};

fn outcome(object: &str, result: EffectResult) -> SampleEntry {
    Entry::Outcome { key: format!("change {object}"), result }
}

fn refused() -> EffectResult {
    let (code, message) = ("Throttled".to_owned(), "m".to_owned());
    EffectResult::Refused { status: 429, code, message, retry_after: None }
}

fn operation(token: &str) -> EffectResult {
    EffectResult::Started { token: token.to_owned() }
}

/// One entry of every kind, in a valid order.
fn entries() -> Vec<SampleEntry> {
    vec![
        started(),
        done(SampleStep::Prepare),
        Entry::Fact(Fact::Noted { text: "n".to_owned() }),
        intent("a"),
        outcome("a", operation("t")),
        stopped("m"),
        Entry::Resumed(Box::new(session(1))),
        Entry::AbortStarted(Box::new(session(1))),
        finished(),
    ]
}

fn text(records: &[SampleRecord]) -> String {
    records.iter().map(encode).collect()
}

fn replay(entries: Vec<SampleEntry>) -> Run<Sample> {
    Run::replay(&chain(entries)).unwrap().unwrap()
}

#[test]
fn decoded_records_equal_those_that_were_encoded() {
    let records = chain(entries());
    assert_eq!(decode::<SampleEntry>(&text(&records)).unwrap(), records);
    assert_eq!(decode::<SampleEntry>("").unwrap(), []);
    assert_eq!(
        records.iter().map(|record| record.seq).collect::<Vec<_>>(),
        [0, 1, 2, 3, 4, 5, 6, 7, 8]
    );
}

#[test]
fn every_prefix_of_a_journal_is_a_journal() {
    let records = chain(entries());
    assert_eq!(Run::<Sample>::replay(&[]).unwrap(), None);
    for length in 1..=records.len() {
        let mut run = Run::<Sample>::replay(&records[..1]).unwrap().unwrap();
        for record in &records[1..length] {
            run.take(record).unwrap();
        }
        assert_eq!(Run::replay(&records[..length]).unwrap(), Some(run));
    }
}

#[test]
fn position_names_the_current_step_rollback_or_end() {
    use SampleStep::{Change, Prepare, Verify};
    let mut entries = vec![started()];
    assert_eq!(replay(entries.clone()).position(), "step 1/3 prepare");
    entries.push(done(Prepare));
    assert_eq!(replay(entries.clone()).position(), "step 2/3 change");
    let aborting = Entry::AbortStarted(Box::new(session(1)));
    assert_eq!(replay([&entries[..], &[aborting]].concat()).position(), "rollback");
    entries.extend([done(Change), done(Verify)]);
    assert_eq!(replay(entries).position(), "end");
}

#[test]
fn rollback_ends_only_with_a_reason_that_ends_it() {
    let aborting = || vec![started(), Entry::AbortStarted(Box::new(session(1)))];
    let stopped_by = |reason| Entry::Stopped { reason, message: "m".to_owned() };
    let after = |reason| replay([aborting(), vec![stopped_by(reason)]].concat()).phase;
    assert_eq!(after(Reason::Denied), Phase::Aborting);
    assert_ne!(after(Reason::RolledBack), Phase::Aborting);
}

#[test]
fn torn_missing_and_misplaced_records_are_named() {
    let records = chain(entries());
    let newer = text(&records).replacen("journal/v1", "journal/v2", 1);
    let schema = JournalError::Schema(0, "mooring.sample.journal/v2".to_owned(), Sample::SCHEMA);
    assert_eq!(decode::<SampleEntry>(&newer), Err(schema));
    let torn = &text(&records)[..text(&records).len() - 5];
    let Err(JournalError::Unreadable(8, why)) = decode::<SampleEntry>(torn) else { panic!() };
    assert!(why.contains("column"), "{why}");

    let mut gap = records.clone();
    gap.remove(2);
    for error in [
        verify(&gap).unwrap_err(),
        Run::replay(&gap).unwrap_err(),
        decode::<SampleEntry>(&text(&gap)).unwrap_err(),
    ] {
        assert_eq!(error, JournalError::Broken(3));
    }
    let mut renumbered = records.clone();
    renumbered[2].seq = 7;
    assert_eq!(verify(&renumbered), Err(JournalError::Broken(7)));
}

#[test]
fn unknown_records_are_not_quoted() {
    let foreign = SampleRecord { ..chain(vec![started()])[0].clone() };
    let line = encode(&foreign).replace("run-started", "run-paused");
    let Err(JournalError::Unreadable(0, why)) = decode::<SampleEntry>(&line) else { panic!() };
    assert_eq!(why, "unknown kind of record");
}

#[test]
fn first_record_starts_the_journal_or_follows_an_archived_one() {
    let records = chain(entries());
    verify::<SampleEntry>(&[]).unwrap();
    verify(&records[..1]).unwrap();
    verify(&records[4..]).unwrap();
    let last = SampleRecord { seq: u64::MAX, ..records[1].clone() };
    let next = follow(Some(&last), "r1", at(0), started());
    assert_eq!(verify(&[last, next]), Err(JournalError::Broken(u64::MAX)));
    // Without its start, the rest of a run is not a run.
    assert_eq!(Run::replay(&records[3..]).unwrap(), None);
}

#[test]
fn records_out_of_place_are_rejected() {
    for (tail, why) in [
        (vec![done(SampleStep::Change)], "another step"),
        (vec![done(SampleStep::Prepare), done(SampleStep::Prepare)], "another step"),
        (vec![outcome("a", EffectResult::Done)], "intent"),
        (vec![intent("a"), outcome("b", EffectResult::Done)], "intent"),
        (vec![intent("a"), outcome("a", refused()), outcome("a", refused())], "intent"),
        (vec![started()], "unfinished"),
        (vec![finished(), done(SampleStep::Prepare)], "finished"),
    ] {
        let mut all = vec![started()];
        all.extend(tail);
        let last = u64::try_from(all.len() - 1).unwrap();
        match Run::replay(&chain(all)) {
            Err(JournalError::OutOfPlace(seq, text)) => {
                assert_eq!(seq, last);
                assert!(text.contains(why), "{text}");
            }
            other => panic!("{why}: {other:?}"),
        }
    }
    let first = chain(vec![started()]).remove(0);
    let foreign = follow(Some(&first), "r2", at(1), stopped("m"));
    let mixed = Run::replay(&[first.clone(), foreign]);
    assert_eq!(mixed, Err(JournalError::OutOfPlace(1, "it belongs to another run")));
    let again = follow(Some(&first), "r1", at(1), started());
    let mut run = Run::replay(&[first]).unwrap().unwrap();
    assert_eq!(run.take(&again), Err(JournalError::OutOfPlace(1, "the run has started")));
}

#[test]
fn run_describes_its_records() {
    let run = replay(entries());
    assert_eq!((run.id.as_str(), run.started, run.seq), ("r1", at(0), 8));
    assert_eq!(
        (run.phase, run.left),
        (Phase::Finished(Finish::Changed), vec!["a pool".to_owned()])
    );
    assert_eq!(run.facts, ["n at 2"]);
    let run = replay(entries()[..5].to_vec());
    assert_eq!((run.phase, run.step()), (Phase::Running, Some(SampleStep::Change)));
    assert!(!run.is_finished());
    assert!(run.has_done(SampleStep::Prepare) && !run.has_done(SampleStep::Change));
    assert_eq!(run.done, [(SampleStep::Prepare, vec!["prepare is done".to_owned()])]);
    assert_eq!((run.step_since(), run.session_since()), (at(1), at(0)));
    assert_eq!(replay(vec![started()]).step(), Some(SampleStep::Prepare));
    let all = SampleStep::ALL.iter().map(|step| done(*step));
    assert_eq!(replay([started()].into_iter().chain(all).collect()).step(), None);
    let last_run = [chain(vec![started(), finished()]), Vec::new()].concat();
    let next = follow(last_run.last(), "r2", at(9), started());
    let records = [last_run, vec![next]].concat();
    assert_eq!(Run::<Sample>::replay(&records).unwrap().unwrap().id, "r2");
}

#[test]
fn rollback_ends_with_the_run_or_its_reason() {
    let mut all = vec![started(), Entry::AbortStarted(Box::new(session(1)))];
    assert_eq!(replay(all.clone()).phase, Phase::Aborting);
    all.push(stopped("m"));
    assert_eq!(replay(all.clone()).phase, Phase::Aborting);
    all.push(Entry::Stopped { reason: Reason::RolledBack, message: "m".to_owned() });
    assert_eq!(replay(all).phase, Phase::Running);
}

#[test]
fn session_of_another_plan_runs_all_steps_again() {
    for (generation, step) in [(1, SampleStep::Change), (2, SampleStep::Prepare)] {
        let all = vec![
            started(),
            done(SampleStep::Prepare),
            Entry::Resumed(Box::new(session(generation))),
        ];
        let run = replay(all);
        assert_eq!(run.step(), Some(step));
        assert_eq!(run.session, session(generation));
        assert_eq!((run.step_since(), run.session_since()), (at(2), at(2)));
    }
}

#[test]
fn attempts_count_intents_and_keep_the_last_result() {
    let all = vec![
        started(),
        intent("a"),
        outcome("a", operation("t1")),
        intent("b"),
        outcome("b", refused()),
        intent("a"),
        outcome("a", refused()),
        intent("c"),
    ];
    let run = replay(all);
    let attempt = run.attempt("change a").unwrap();
    assert_eq!((attempt.count, attempt.first, attempt.at, attempt.seq), (2, at(1), at(6), 6));
    assert_eq!(attempt.effect, change("a"));
    assert_eq!((attempt.result.clone(), attempt.token.as_deref()), (Some(refused()), Some("t1")));
    assert!(attempt.may_have_happened(), "the first one was accepted");
    assert!(!run.attempt("change b").unwrap().may_have_happened(), "it was rejected");
    let last = run.attempt("change c").unwrap();
    assert_eq!((last.result.clone(), last.at, last.seq), (None, at(7), 7));
    assert!(last.may_have_happened(), "its result is unknown");
    assert_eq!(run.attempt("change d"), None);
    let rejected = [intent("a"), outcome("a", refused()), intent("a"), outcome("a", refused())];
    let run = replay([started()].into_iter().chain(rejected).collect());
    assert!(!run.attempt("change a").unwrap().may_have_happened(), "both were rejected");
    let unknown = [intent("a"), intent("a"), outcome("a", refused())];
    let run = replay([started()].into_iter().chain(unknown).collect());
    assert!(run.attempt("change a").unwrap().may_have_happened(), "the result of one is lost");
}

#[test]
fn attempts_before_a_step_or_session_have_lower_numbers() {
    let mut all = vec![started(), intent("a"), outcome("a", EffectResult::Done)];
    let relation = |all: &[SampleEntry]| {
        let run = replay(all.to_vec());
        let attempt = run.attempt("change a").unwrap();
        (run.is_before_step(attempt), run.is_before_session(attempt))
    };
    assert_eq!(relation(&all), (false, false));
    all.push(done(SampleStep::Prepare));
    assert_eq!(relation(&all), (true, false));
    all.push(Entry::Resumed(Box::new(session(1))));
    assert_eq!(relation(&all), (true, true));
    all.push(intent("a"));
    assert_eq!(relation(&all), (false, false));
}

#[test]
fn journal_keeps_the_last_runs_and_those_that_are_needed() {
    let mut records: Vec<SampleRecord> = Vec::new();
    for run in ["r0", "r1", "r2", "r3"] {
        for entry in [started(), done(SampleStep::Prepare), finished()] {
            records.push(follow(records.last(), run, at(0), entry));
        }
    }
    assert_eq!(retained(&records, 2, |_| false), 6);
    assert_eq!(retained(&records, 2, |run| run == "r1"), 9);
    assert_eq!(retained(&records, 2, |run| run == "r3"), 6);
    assert_eq!(retained(&records, 9, |_| false), 12);
    assert_eq!(retained::<Sample>(&[], 2, |_| true), 0);
    assert_eq!(retained(&records[1..], 9, |_| false), 9, "the rest of a run is not kept");
    assert_eq!(retained(&records[1..3], 9, |_| false), 2, "unless nothing else exists");
}

proptest! {
    #[test]
    fn hostile_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let text = String::from_utf8_lossy(&bytes);
        if let Ok(records) = decode::<SampleEntry>(&text) {
            let _ = Run::replay(&records);
        }
    }
}
