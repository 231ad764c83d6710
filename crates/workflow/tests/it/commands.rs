//! Shared parts of the commands of all workflows: acquiring a journal, driving its run, and the result.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use jiff::Timestamp;
use mooring_simulator::faults::{CallSelector, Fault, FaultRule};
use mooring_workflow::command::{CommandResult, HeldJournal, JournalStatus, Process};
use mooring_workflow::journal::JournalError;
use mooring_workflow::lock::LockWait;
use mooring_workflow::store::{RunStore, StoreError};
use mooring_workflow::{Decision, Finish, Reason, RunOutcome};
use tokio::sync::watch;

use crate::sample::{
    Decisions, Sample, SampleRun, after, begun, change, finished, session, shared, stopped,
};
use crate::stores::{Server, fault, load, owner, start};

pub(crate) type SampleResult = CommandResult<()>;
pub(crate) type Effects = Rc<RefCell<Vec<(String, Timestamp)>>>;

/// The changes that were made, each with the seconds since the start of the test.
pub(crate) fn made(effects: &Effects) -> Vec<(String, i64)> {
    let second = |at: Timestamp| at.as_second() - start().as_second();
    effects.borrow().iter().map(|(object, at)| (object.clone(), second(*at))).collect()
}

/// A process whose clock follows tokio's, and the sender that interrupts it.
pub(crate) fn process(name: &str) -> (Process, watch::Sender<bool>) {
    let (sender, stop) = watch::channel(false);
    let began = tokio::time::Instant::now();
    let clock = Rc::new(move || start() + began.elapsed());
    (Process { owner: owner(name), clock, stop }, sender)
}

/// A workflow that makes these changes, each at or after its second, and finishes; and what it made.
pub(crate) fn changes(process: &Process, objects: &[(&'static str, i64)]) -> (Decisions, Effects) {
    let mut rest = objects.to_vec();
    let clock = Rc::clone(&process.clock);
    let mut decisions = Decisions::new(move |_| {
        let Some((object, second)) = rest.first().copied() else {
            return Ok(Decision::Finish(Finish::Complete, Vec::new()));
        };
        let until = start() + Duration::from_secs(u64::try_from(second).unwrap());
        if clock() < until {
            return Ok(Decision::Wait { until, why: "for its time".to_owned() });
        }
        rest.remove(0);
        Ok(Decision::Apply(Box::new(change(object))))
    });
    decisions.clock = Rc::clone(&process.clock);
    let effects = Rc::clone(&decisions.effects);
    (decisions, effects)
}

pub(crate) async fn acquire(
    process: &Process,
    store: RunStore,
) -> Result<HeldJournal<Sample>, SampleResult> {
    process.acquire(store, LockWait::None, &mut |_| {}).await
}

/// Starts a run in an empty journal and drives it.
pub(crate) async fn drive(
    process: &Process,
    store: RunStore,
    decisions: Decisions,
) -> SampleResult {
    let journal = match acquire(process, store).await {
        Ok(journal) => journal,
        Err(result) => return result,
    };
    let run = SampleRun::begin("r1", session(1), process.now());
    process.drive(journal, run, decisions, Box::new(|_, _, _| {})).await
}

async fn write(server: &Server, run: &SampleRun) {
    let mut store = server.store();
    load(&mut store).await.unwrap();
    store.save(run, &[]).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn run_is_driven_to_its_end_and_its_lock_released() {
    let server = Server::with(Vec::new());
    let (process, _stop) = process("a");
    let (decisions, effects) = changes(&process, &[("x", 0), ("y", 90)]);
    let shown = shared(Vec::new());
    let journal = acquire(&process, server.store()).await.unwrap();
    let first = SampleRun::begin("r1", session(1), process.now());
    let watcher = |_: &_, decision: &Decision<Sample>, now: Timestamp| {
        shown.borrow_mut().push((format!("{decision:?}"), now));
    };
    let result: SampleResult = process.drive(journal, first, decisions, Box::new(watcher)).await;
    let CommandResult::Stopped(RunOutcome::Finished(Finish::Complete)) = result else {
        panic!("{result:?}")
    };
    assert_eq!(made(&effects), [("x".to_owned(), 0), ("y".to_owned(), 90)]);
    assert_eq!(server.stored().await.unwrap().seq, 5);
    assert_eq!(server.store().holder().await.unwrap(), None);
    let shown = shown.borrow();
    assert_eq!(shown.len(), 4);
    assert!(shown[1].0.starts_with("Wait"), "{shown:?}");
    assert_eq!(shown[2].1, start() + Duration::from_secs(90));
}

#[tokio::test(start_paused = true)]
async fn interruption_ends_a_wait_at_once() {
    let server = Server::with(Vec::new());
    let (process, stop) = process("a");
    let (decisions, effects) = changes(&process, &[("x", 900)]);
    let running = drive(&process, server.store(), decisions);
    let interrupts = async {
        tokio::time::sleep(Duration::from_secs(20)).await;
        stop.send(true).unwrap();
    };
    let began = tokio::time::Instant::now();
    let (result, ()) = tokio::join!(running, interrupts);
    let CommandResult::Stopped(RunOutcome::Resumable { reason, .. }) = result else {
        panic!("{result:?}")
    };
    assert_eq!((reason, began.elapsed().as_secs()), (Reason::Interrupted, 20));
    assert!(effects.borrow().is_empty());
}

#[tokio::test(start_paused = true)]
async fn wait_continues_without_a_source_of_interruptions() {
    let server = Server::with(Vec::new());
    let (process, stop) = process("a");
    drop(stop);
    let (decisions, effects) = changes(&process, &[("x", 900)]);
    let result = drive(&process, server.store(), decisions).await;
    assert!(matches!(result, CommandResult::Stopped(RunOutcome::Finished(_))), "{result:?}");
    assert_eq!(made(&effects), [("x".to_owned(), 900)]);
}

#[tokio::test(start_paused = true)]
async fn only_an_unfinished_run_is_resumed() {
    let (process, _stop) = process("a");
    for (name, run, want) in [
        ("empty", None, "no run found in ConfigMap "),
        ("over", Some(after([finished()])), "run r1 is finished"),
        ("unfinished", Some(after([stopped("m")])), ""),
    ] {
        let server = Server::with(Vec::new());
        if let Some(run) = &run {
            write(&server, run).await;
        }
        let found = process.acquire_unfinished(server.store(), LockWait::None, &mut |_| {}).await;
        match found {
            Ok((journal, found)) => {
                assert_eq!((want, Some(&found)), ("", run.as_ref()));
                assert_eq!(journal.runs.last, run);
                assert!(server.store().holder().await.unwrap().is_some());
                journal.release().await;
            }
            Err((result, found)) => {
                let result: SampleResult = result;
                let CommandResult::Nothing(text) = result else { panic!("{result:?}") };
                assert!(text.starts_with(want) && !want.is_empty(), "{text}");
                assert_eq!(found.last, run);
            }
        }
        assert_eq!(server.store().holder().await.unwrap(), None, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn damaged_journal_is_not_continued() {
    let server = Server::with(Vec::new());
    let (process, _stop) = process("a");
    write(&server, &begun()).await;
    server.put("{}\n");
    let Err(CommandResult::Failed(text)) = acquire(&process, server.store()).await else {
        panic!()
    };
    assert!(text.contains("schema") && text.contains("docs/RUNBOOK.md"), "{text}");
    assert!(text.starts_with("ConfigMap mooring-system/repair-system"), "{text}");
    assert_eq!(server.store().holder().await.unwrap(), None, "the lock is released");
    let Err(text) = JournalStatus::<Sample>::read(server.store()).await else { panic!() };
    assert!(text.contains("docs/RUNBOOK.md"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn status_shows_the_run_and_the_holder() {
    let server = Server::with(Vec::new());
    let (process, _stop) = process("a");
    write(&server, &begun()).await;
    let held = acquire(&process, server.store()).await.unwrap();
    let status = JournalStatus::<Sample>::read(server.store()).await.unwrap();
    assert_eq!(status.unfinished(), Some(&begun()));
    assert_eq!(status.lock.unwrap().owner, owner("a"));
    assert_eq!(status.place, "ConfigMap mooring-system/repair-system");
    held.release().await;
    assert_eq!(JournalStatus::<Sample>::read(server.store()).await.unwrap().lock, None);
}

#[tokio::test(start_paused = true)]
async fn second_process_gets_the_holder_or_is_interrupted() {
    let server = Server::with(Vec::new());
    let (first, _stop) = process("a");
    let held = acquire(&first, server.store()).await.unwrap();
    let (second, stop) = process("b");
    let Err(CommandResult::Held(lock)) = acquire(&second, server.store()).await else { panic!() };
    assert_eq!(lock.owner, owner("a"));
    stop.send(true).unwrap();
    let hour = LockWait::Until(jiff::SignedDuration::from_hours(1));
    let waited: Result<_, SampleResult> =
        second.acquire::<Sample, _>(server.store(), hour, &mut |_| {}).await;
    let Err(CommandResult::Resumable(text)) = waited else { panic!() };
    assert_eq!(text, "stopped while waiting for the lock");
    held.release().await;
}

#[tokio::test(start_paused = true)]
async fn run_does_not_start_in_a_journal_that_was_continued() {
    let server = Server::with(Vec::new());
    let (process, _stop) = process("a");
    let journal = acquire(&process, server.store()).await.unwrap();
    write(&server, &after([finished()])).await;
    let first = SampleRun::begin("r2", session(1), process.now());
    let (decisions, effects) = changes(&process, &[("x", 0)]);
    let result: SampleResult =
        process.drive(journal, first, decisions, Box::new(|_, _, _| {})).await;
    let CommandResult::Failed(text) = result else { panic!("{result:?}") };
    assert_eq!(text, "lock lost: another process took over this run");
    assert!(effects.borrow().is_empty());
}

#[test]
fn store_errors_are_damage_or_an_unavailable_journal() {
    let failed = |error: &StoreError| -> SampleResult { CommandResult::failed(error) };
    let away = StoreError::Unavailable("disk full".to_owned());
    assert!(matches!(failed(&away), CommandResult::NoJournal(text) if text.contains("disk full")));
    let large = StoreError::TooLarge(7, 6);
    assert!(matches!(failed(&large), CommandResult::NoJournal(text) if text.contains("7 bytes")));
    let broken = StoreError::Journal(JournalError::OutOfPlace(3, "w"));
    assert!(matches!(failed(&broken), CommandResult::Failed(text) if text.contains("change 3")));
    assert!(matches!(failed(&StoreError::LostLock), CommandResult::Failed(_)));
}

/// A plan that leaves no room for its progress is refused before the first change.
#[tokio::test(start_paused = true)]
async fn run_that_does_not_fit_is_not_started() {
    for (share, starts) in [(4, true), (2, false)] {
        let server = Server::with(Vec::new());
        let (process, _stop) = process("a");
        let (decisions, effects) = changes(&process, &[("x", 0)]);
        let journal = acquire(&process, server.store()).await.unwrap();
        let mut first = SampleRun::begin("r1", session(1), process.now());
        first.change(process.now(), &stopped(&"m".repeat(512 * 1024 / share))).unwrap();
        let result: SampleResult =
            process.drive(journal, first, decisions, Box::new(|_, _, _| {})).await;
        assert_eq!(matches!(result, CommandResult::Stopped(_)), starts, "{share}: {result:?}");
        assert_eq!(server.stored().await.is_some(), starts);
        assert_eq!(effects.borrow().len(), usize::from(starts));
    }
}

/// The copy exists before the intent, and goes with its run.
#[tokio::test(start_paused = true)]
async fn effect_with_a_copy_is_made_only_with_the_copy() {
    let server = Server::with(Vec::new());
    let (process, _stop) = process("a");
    let result =
        drive(&process, server.store(), changes(&process, &[("saved", 0), ("saved", 1)]).0).await;
    assert!(matches!(result, CommandResult::Stopped(_)), "{result:?}");
    let maps = server.maps();
    assert_eq!(maps.len(), 2, "the same copy is written once: {maps:?}");
    let copy = maps.iter().find(|name| name.starts_with("repair-system-")).unwrap();
    let path = format!("/api/v1/namespaces/mooring-system/configmaps/{copy}");
    let body = server.client().get(&path).await.unwrap().body;
    assert_eq!(
        (&body["immutable"], &body["data"]["object"]),
        (&true.into(), &"copy of saved".into())
    );
    let stored = server.stored().await.unwrap();
    let hash = &stored.attempt("change saved").unwrap().effect.backup.as_ref().unwrap().hash;
    assert_eq!(*hash, mooring_workflow::canonical::hash_bytes(b"copy of saved"));

    // Eight runs later, nothing refers to it.
    for number in 0..10 {
        let journal = acquire(&process, server.store()).await.unwrap();
        let next = SampleRun::begin(&format!("later-{number}"), session(1), process.now());
        let (decisions, _) = changes(&process, &[]);
        let ended: SampleResult =
            process.drive(journal, next, decisions, Box::new(|_, _, _| {})).await;
        assert!(matches!(ended, CommandResult::Stopped(_)), "{ended:?}");
        assert_eq!(server.maps().len(), if number < 8 { 2 } else { 1 }, "{number}");
    }
}

#[tokio::test(start_paused = true)]
async fn effect_whose_copy_is_refused_or_differs_is_not_made() {
    let refusal = FaultRule {
        when: CallSelector {
            method: Some("POST".to_owned()),
            path: Some("*/configmaps".to_owned()),
            ..CallSelector::default()
        },
        skip: 1,
        ..fault(Fault::Status { status: 403, code: None, retry_after: None }, 1.0)
    };
    for faults in [vec![refusal], Vec::new()] {
        let is_refused = !faults.is_empty();
        let server = Server::with(faults);
        if !is_refused {
            // Someone else knows the name.
            let (process, _stop) = process("a");
            drive(&process, server.store(), changes(&process, &[("saved", 0)]).0).await;
            server.replace_copy().await;
        }
        let (process, _stop) = process("a");
        let (decisions, effects) = changes(&process, &[("saved", 0)]);
        let journal = acquire(&process, server.store()).await.unwrap();
        let run = SampleRun::begin("r1", session(1), process.now());
        let result: SampleResult =
            process.drive(journal, run, decisions, Box::new(|_, _, _| {})).await;
        assert!(matches!(result, CommandResult::Resumable(_)), "{result:?}");
        assert!(effects.borrow().is_empty());
    }
}
