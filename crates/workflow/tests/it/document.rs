//! A run, the changes that it takes, and the document that holds it.

use jiff::SignedDuration;
use mooring_workflow::journal::{JournalError, decode, encode};
use mooring_workflow::{
    CompletedStep, EffectResult, Entry, Finish, Phase, Reason, Run, Runs, Workflow,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::sample::{
    Sample, SampleEntry, SampleRun, SampleStep, after, at, begun, change, done, finished, intent,
    noted, session, stopped,
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

/// One change of every kind, in a valid order.
fn entries() -> Vec<SampleEntry> {
    vec![
        done(SampleStep::Prepare),
        Entry::Note(Box::new(noted(&[], "n"))),
        intent("a"),
        outcome("a", operation("t")),
        stopped("m"),
        Entry::Resumed(Box::new(session(1))),
        Entry::AbortStarted(Box::new(session(1))),
        finished(),
    ]
}

fn stored(run: &SampleRun) -> SampleRun {
    decode(&encode(run, &[])).unwrap().last.unwrap()
}

#[test]
fn stored_run_equals_the_run_after_every_change() {
    let entries = entries();
    for length in 0..=entries.len() {
        let run = after(entries[..length].to_vec());
        assert_eq!(stored(&run), run);
        // It continues where it was.
        if let Some(next) = entries.get(length) {
            let (mut one, mut other) = (stored(&run), run);
            one.change(at(99), &next.clone()).unwrap();
            other.change(at(99), &next.clone()).unwrap();
            assert_eq!(one, other);
        }
    }
}

#[test]
fn position_names_the_current_step_rollback_or_end() {
    use SampleStep::{Change, Prepare, Verify};
    let mut entries = Vec::new();
    assert_eq!(after(entries.clone()).position(), "step 1/3 prepare");
    entries.push(done(Prepare));
    assert_eq!(after(entries.clone()).position(), "step 2/3 change");
    let aborting = Entry::AbortStarted(Box::new(session(1)));
    assert_eq!(after([&entries[..], &[aborting]].concat()).position(), "rollback");
    entries.extend([done(Change), done(Verify)]);
    assert_eq!(after(entries).position(), "end");
}

#[test]
fn rollback_ends_only_with_a_reason_that_ends_it() {
    let aborting = || vec![Entry::AbortStarted(Box::new(session(1)))];
    let stopped_by = |reason| Entry::Stopped { reason, message: "m".to_owned() };
    let after = |reason| after([aborting(), vec![stopped_by(reason)]].concat()).phase;
    assert_eq!(after(Reason::CheckFailed), Phase::Aborting);
    assert_ne!(after(Reason::NotUndoable), Phase::Aborting);
}

#[test]
fn document_of_another_version_or_shape_is_named() {
    let text = encode(&after(entries()), &[]);
    let read = |text: &str| decode::<Sample>(text).unwrap_err();
    let newer = text.replacen("document/v1", "document/v2", 1);
    let schema = JournalError::Schema("mooring.sample.document/v2".to_owned(), Sample::SCHEMA);
    assert_eq!(read(&newer), schema);
    assert!(matches!(read(""), JournalError::Unreadable(_)));
    assert!(matches!(read("{}"), JournalError::Schema(..)));
    let JournalError::Unreadable(why) = read(&text[..text.len() - 5]) else { panic!() };
    assert!(why.contains("column"), "{why}");
    // Nothing of an edited document is quoted.
    let foreign = text.replace("\"phase\":{\"finished\"", "\"phase\":{\"hunter2\"");
    assert_ne!(foreign, text);
    let JournalError::Unreadable(why) = read(&foreign) else { panic!() };
    assert_eq!(why, "it has an unknown or missing value");
}

#[test]
fn document_that_no_run_makes_is_rejected() {
    let run = after([done(SampleStep::Prepare), intent("a")]);
    let value: Value = serde_json::from_str(&encode(&run, &[])).unwrap();
    let read = |change: &dyn Fn(&mut Value)| {
        let mut value = value.clone();
        change(&mut value["run"]);
        decode::<Sample>(&value.to_string()).map(|runs| runs.last.is_some())
    };
    assert_eq!(read(&|_| ()), Ok(true));
    let because = |why: &str| Err(JournalError::Unreadable(why.to_owned()));
    assert_eq!(
        read(&|run| run["done"][0]["step"] = json!("change")),
        because("its steps are out of order")
    );
    assert_eq!(read(&|run| run["open"] = json!("x")), because("its last effect is missing"));
    assert_eq!(
        read(&|run| run["attempts"]["change a"]["seq"] = json!(3)),
        because("an effect is newer than the run")
    );
    assert_eq!(
        read(&|run| run["attempts"]["change a"]["effect"]["object"] = json!("b")),
        because("an effect has the name of another one")
    );
}

#[test]
fn changes_out_of_place_are_rejected() {
    let change = |run: &mut SampleRun, entry| run.change(at(9), &entry);
    for (tail, why) in [
        (vec![done(SampleStep::Change)], "another step"),
        (vec![done(SampleStep::Prepare), done(SampleStep::Prepare)], "another step"),
        (vec![outcome("a", EffectResult::Done)], "intent"),
        (vec![intent("a"), outcome("b", EffectResult::Done)], "intent"),
        (vec![intent("a"), outcome("a", refused()), outcome("a", refused())], "intent"),
        (vec![finished(), done(SampleStep::Prepare)], "finished"),
    ] {
        let mut run = begun();
        let last = tail.len() as u64;
        let mut results: Vec<_> = tail.into_iter().map(|entry| change(&mut run, entry)).collect();
        let Some(Err(JournalError::OutOfPlace(seq, text))) = results.pop() else { panic!("{why}") };
        assert_eq!(seq, last);
        assert!(text.contains(why), "{text}");
        assert!(results.iter().all(Result::is_ok));
    }
}

#[test]
fn run_describes_its_changes() {
    let run = after(entries());
    assert_eq!((run.id.as_str(), run.started, run.last, run.seq), ("r1", at(0), at(8), 8));
    assert_eq!(
        (run.phase, run.left),
        (Phase::Finished(Finish::Complete), vec!["a pool".to_owned().into()])
    );
    assert_eq!(run.facts, ["n"]);
    let run = after(entries()[..4].to_vec());
    assert_eq!((run.phase, run.step()), (Phase::Running, Some(SampleStep::Change)));
    assert!(!run.is_finished());
    assert!(run.has_done(SampleStep::Prepare) && !run.has_done(SampleStep::Change));
    let evidence = vec!["prepare is done".to_owned()];
    assert_eq!(run.done, [CompletedStep { step: SampleStep::Prepare, at: at(1), evidence }]);
    assert_eq!((run.step_since(), run.session_since()), (at(1), at(0)));
    assert_eq!(begun().step(), Some(SampleStep::Prepare));
    let all = Sample::STEPS.iter().map(|step| done(*step));
    assert_eq!(after(all).step(), None);
    let messages = [4, 5, 6].map(|length| after(entries()[..length].to_vec()).stopped);
    assert_eq!(messages, [None, Some("m".to_owned()), None], "until the next session");
}

#[test]
fn rollback_ends_with_the_run_or_its_reason() {
    let mut all = vec![Entry::AbortStarted(Box::new(session(1)))];
    assert_eq!(after(all.clone()).phase, Phase::Aborting);
    all.push(stopped("m"));
    assert_eq!(after(all.clone()).phase, Phase::Aborting);
    all.push(Entry::Stopped { reason: Reason::NotUndoable, message: "m".to_owned() });
    assert_eq!(after(all).phase, Phase::Running);
}

#[test]
fn session_of_another_plan_runs_all_steps_again() {
    for (generation, step) in [(1, SampleStep::Change), (2, SampleStep::Prepare)] {
        let all = vec![done(SampleStep::Prepare), Entry::Resumed(Box::new(session(generation)))];
        let run = after(all);
        assert_eq!(run.step(), Some(step));
        assert_eq!(run.session, session(generation));
        assert_eq!((run.step_since(), run.session_since()), (at(2), at(2)));
    }
}

#[test]
fn attempts_count_intents_and_keep_the_last_result() {
    let all = vec![
        intent("a"),
        outcome("a", operation("t1")),
        intent("b"),
        outcome("b", refused()),
        intent("a"),
        outcome("a", refused()),
        intent("c"),
    ];
    let run = after(all);
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
    let run = after(rejected);
    assert!(!run.attempt("change a").unwrap().may_have_happened(), "both were rejected");
    let unknown = [intent("a"), intent("a"), outcome("a", refused())];
    let run = after(unknown);
    assert!(run.attempt("change a").unwrap().may_have_happened(), "the result of one is lost");
}

#[test]
fn attempts_before_a_step_or_session_have_lower_numbers() {
    let mut all = vec![intent("a"), outcome("a", EffectResult::Done)];
    let relation = |all: &[SampleEntry]| {
        let run = after(all.to_vec());
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

/// A drain of a large pool evicts thousands of pods.
#[test]
fn stored_run_leaves_old_attempts_out_unless_they_last() {
    let mut run = begun();
    for number in 0..2_000 {
        let object = if number == 0 { "lasting".to_owned() } else { format!("o{number}") };
        run.change(at(number), &intent(&object)).unwrap();
        run.change(at(number), &outcome(&object, EffectResult::Done)).unwrap();
    }
    let stored = stored(&run);
    assert_eq!((run.attempts.len(), stored.attempts.len()), (2_000, 501));
    assert!(stored.attempt("change lasting").is_some());
    assert!(stored.attempt("change o1999").is_some() && stored.attempt("change o1").is_none());
    assert_eq!(stored.seq, 4_000);
}

#[test]
fn earlier_runs_are_kept_as_long_as_they_count() {
    let mut runs = Runs::<Sample>::default();
    let hour = |hour: i64| at(0) + SignedDuration::from_hours(hour);
    let mut gone = Vec::new();
    for number in 0..10 {
        let mut run = Run::begin(&format!("r{number}"), session(1), hour(number));
        // The first one deleted something.
        if number == 0 {
            run.change(hour(0), &intent("lasting")).unwrap();
        }
        run.change(hour(number), &finished()).unwrap();
        assert!(!runs.knows(&run.id));
        runs.last = Some(run);
        assert!(runs.knows(&format!("r{number}")));
        gone.extend(runs.archive(hour(number)));
        assert_eq!(runs.last, None);
    }
    assert_eq!(gone, ["r1", "r2"]);
    assert_eq!(runs.past[0].deleted, Some(hour(0)));
    assert!(runs.knows("r0") && !runs.knows("r1"));
    let text = encode(&begun(), &runs.past);
    assert_eq!(decode::<Sample>(&text).unwrap().past, runs.past);
    // A day later, it does not count any more.
    runs.last = Some(after([finished()]));
    assert_eq!(runs.finished().count(), 9);
    assert_eq!(runs.archive(hour(24)), ["r0"]);
    // An unfinished run is none of them.
    runs.last = Some(begun());
    assert_eq!(runs.finished().count(), 8);
}

proptest! {
    #[test]
    fn hostile_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = decode::<Sample>(&String::from_utf8_lossy(&bytes));
    }
}
