//! Shared parts of the commands of all workflows: acquiring a journal, driving its run, and the result.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use jiff::Timestamp;
use mooring_workflow::command::{CommandResult, HeldJournal, JournalStatus, Process};
use mooring_workflow::decision::StopKind;
use mooring_workflow::journal::{JournalError, follow};
use mooring_workflow::live::Adapter;
use mooring_workflow::lock::LockWait;
use mooring_workflow::store::{JournalStore, StoreError};
use mooring_workflow::{Decision, EffectResult, Reading, RunOutcome, Stop};
use tokio::sync::watch;

use crate::sample::{
    Change, Finish, Reason, Sample, SampleEntry, SampleRecord, Terms, chain, change, finished,
    shared, started, stopped,
};
use crate::stores::{Server, owner, start};

pub(crate) type SampleResult = CommandResult<RunOutcome<Sample>, ()>;

/// Services whose effects all succeed, each with the seconds since the start of the test.
#[derive(Clone, Default)]
pub(crate) struct Services {
    pub(crate) effects: Rc<RefCell<Vec<(String, i64)>>>,
    /// Set: reads are no longer valid.
    pub(crate) is_halted: Rc<Cell<bool>>,
}

impl Adapter<Sample> for Services {
    async fn read(&mut self, query: &&'static str, _: Timestamp) -> (&'static str, Reading<u32>) {
        (query, Reading::Known(1))
    }

    async fn perform(&mut self, effect: &Change, now: Timestamp) -> EffectResult {
        let second = now.as_second() - start().as_second();
        self.effects.borrow_mut().push((effect.object.clone(), second));
        EffectResult::Done
    }

    fn halted(&self) -> Option<Stop<Sample>> {
        let (kind, message) = (StopKind::Resumable, "signed out".to_owned());
        self.is_halted.get().then_some(Stop { kind, reason: Reason::Denied, message })
    }
}

/// A process whose clock follows tokio's, and the sender that interrupts it.
pub(crate) fn process(name: &str) -> (Process, watch::Sender<bool>) {
    let (sender, stop) = watch::channel(false);
    let began = tokio::time::Instant::now();
    let clock = Rc::new(move || start() + began.elapsed());
    (Process { owner: owner(name), clock, stop }, sender)
}

/// A workflow that makes these changes, each at or after its second, and finishes.
pub(crate) fn changes(objects: &[(&'static str, i64)]) -> Terms {
    let rest = shared(objects.to_vec());
    Terms::new(move |cx| {
        let mut rest = rest.borrow_mut();
        let Some((object, second)) = rest.first().copied() else {
            return Ok(Decision::Finish(Finish::Changed, Vec::new()));
        };
        let until = start() + Duration::from_secs(u64::try_from(second).unwrap());
        if cx.now < until {
            return Ok(Decision::Wait { until, why: "for its time".to_owned() });
        }
        rest.remove(0);
        Ok(Decision::Apply(Box::new(change(object))))
    })
}

pub(crate) async fn acquire(
    process: &Process,
    store: JournalStore<SampleEntry>,
) -> Result<HeldJournal<Sample>, SampleResult> {
    process.acquire(store, LockWait::None, &mut |_| {}).await
}

/// Starts a run in an empty journal and drives it.
pub(crate) async fn drive(
    process: &Process,
    store: JournalStore<SampleEntry>,
    terms: &Terms,
    services: &Services,
) -> SampleResult {
    let journal = match acquire(process, store).await {
        Ok(journal) => journal,
        Err(result) => return result,
    };
    let first = follow(journal.records.last(), "r1", process.now(), started());
    process.drive(journal, first, terms, services.clone(), Box::new(|_, _, _| {})).await
}

/// Writes a journal.
async fn write(server: &Server, entries: Vec<SampleEntry>) -> Vec<SampleRecord> {
    let mut store = server.store();
    store.load().await.unwrap();
    let records = chain(entries);
    for record in &records {
        store.append(record).await.unwrap();
    }
    records
}

#[tokio::test(start_paused = true)]
async fn run_is_driven_to_its_end_and_its_lock_released() {
    let server = Server::with(Vec::new());
    let (process, _stop) = process("a");
    let services = Services::default();
    let terms = changes(&[("x", 0), ("y", 90)]);
    let shown = shared(Vec::new());
    let journal = acquire(&process, server.store()).await.unwrap();
    let first = follow(None, "r1", process.now(), started());
    let watcher = |_: &_, decision: &Decision<Sample>, now: Timestamp| {
        shown.borrow_mut().push((format!("{decision:?}"), now));
    };
    let result: SampleResult =
        process.drive(journal, first, &terms, services.clone(), Box::new(watcher)).await;
    let CommandResult::Stopped(RunOutcome::Finished(Finish::Changed)) = result else {
        panic!("{result:?}")
    };
    assert_eq!(*services.effects.borrow(), [("x".to_owned(), 0), ("y".to_owned(), 90)]);
    assert_eq!(server.store().load().await.unwrap().len(), 6);
    assert_eq!(server.store().holder().await.unwrap(), None);
    let shown = shown.borrow();
    assert_eq!(shown.len(), 4);
    assert!(shown[1].0.starts_with("Wait"), "{shown:?}");
    assert_eq!(shown[2].1, start() + Duration::from_secs(90));
}

#[tokio::test(start_paused = true)]
async fn services_can_halt_a_run() {
    let server = Server::with(Vec::new());
    let (process, _stop) = process("a");
    let (terms, services) = (changes(&[("x", 0)]), Services::default());
    services.is_halted.set(true);
    let result = drive(&process, server.store(), &terms, &services).await;
    let CommandResult::Stopped(RunOutcome::Resumable { reason, message }) = result else {
        panic!("{result:?}")
    };
    assert_eq!((reason, message.as_str()), (Reason::Denied, "signed out"));
    assert!(services.effects.borrow().is_empty());
}

#[tokio::test(start_paused = true)]
async fn interruption_ends_a_wait_at_once() {
    let server = Server::with(Vec::new());
    let (process, stop) = process("a");
    let (terms, services) = (changes(&[("x", 900)]), Services::default());
    let running = drive(&process, server.store(), &terms, &services);
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
    assert!(services.effects.borrow().is_empty());
}

#[tokio::test(start_paused = true)]
async fn wait_continues_without_a_source_of_interruptions() {
    let server = Server::with(Vec::new());
    let (process, stop) = process("a");
    drop(stop);
    let (terms, services) = (changes(&[("x", 900)]), Services::default());
    let result = drive(&process, server.store(), &terms, &services).await;
    assert!(matches!(result, CommandResult::Stopped(RunOutcome::Finished(_))), "{result:?}");
    assert_eq!(*services.effects.borrow(), [("x".to_owned(), 900)]);
}

#[tokio::test(start_paused = true)]
async fn only_an_unfinished_run_is_resumed() {
    let (process, _stop) = process("a");
    for (name, entries, want) in [
        ("empty", vec![], "no run found in ConfigMap "),
        ("over", vec![started(), finished()], "run r1 is finished"),
        ("unfinished", vec![started(), stopped("m")], ""),
    ] {
        let server = Server::with(Vec::new());
        let records = write(&server, entries).await;
        let found = process.acquire_unfinished(server.store(), LockWait::None, &mut |_| {}).await;
        match found {
            Ok((journal, run)) => {
                assert_eq!((want, run.id.as_str()), ("", "r1"));
                assert_eq!(journal.records, records);
                assert!(server.store().holder().await.unwrap().is_some());
                journal.release().await;
            }
            Err((result, found)) => {
                let result: SampleResult = result;
                let CommandResult::Nothing(text) = result else { panic!("{result:?}") };
                assert!(text.starts_with(want) && !want.is_empty(), "{text}");
                assert_eq!(found, records);
            }
        }
        assert_eq!(server.store().holder().await.unwrap(), None, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn damaged_journal_is_not_continued() {
    let server = Server::with(Vec::new());
    let (process, _stop) = process("a");
    // A record of a run inside another: each line is intact.
    write(&server, vec![started(), started()]).await;
    let found = process.acquire_unfinished(server.store(), LockWait::None, &mut |_| {}).await;
    let Err((result, _)) = found else { panic!() };
    let result: SampleResult = result;
    let CommandResult::Failed(text) = result else { panic!("{result:?}") };
    assert!(text.contains("record 1") && text.contains("docs/RUNBOOK.md"), "{text}");
    assert_eq!(server.store().holder().await.unwrap(), None);

    server.put_journal("{}\n");
    let Err(CommandResult::Failed(text)) = acquire(&process, server.store()).await else {
        panic!()
    };
    assert!(text.contains("record 0") && text.contains("docs/RUNBOOK.md"), "{text}");
    assert!(text.starts_with("ConfigMap mooring-system/repair-system"), "{text}");
    assert_eq!(server.store().holder().await.unwrap(), None, "the lock is released");
    let Err(text) = JournalStatus::read(server.store()).await else { panic!() };
    assert!(text.contains("docs/RUNBOOK.md"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn status_shows_the_records_and_the_holder() {
    let server = Server::with(Vec::new());
    let (process, _stop) = process("a");
    let records = write(&server, vec![started()]).await;
    let held = acquire(&process, server.store()).await.unwrap();
    let status = JournalStatus::read(server.store()).await.unwrap();
    assert_eq!((status.records, status.lock.unwrap().owner), (records, owner("a")));
    assert_eq!(status.place, "ConfigMap mooring-system/repair-system");
    held.release().await;
    assert_eq!(JournalStatus::read(server.store()).await.unwrap().lock, None);
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
        second.acquire::<Sample, _, _>(server.store(), hour, &mut |_| {}).await;
    let Err(CommandResult::Resumable(text)) = waited else { panic!() };
    assert_eq!(text, "stopped while waiting for the lock");
    held.release().await;
}

#[tokio::test(start_paused = true)]
async fn run_does_not_start_in_a_journal_that_was_continued() {
    let server = Server::with(Vec::new());
    let (process, _stop) = process("a");
    let journal = acquire(&process, server.store()).await.unwrap();
    write(&server, vec![started(), finished()]).await;
    let first = follow(None, "r2", process.now(), started());
    let services = Services::default();
    let terms = changes(&[("x", 0)]);
    let result: SampleResult =
        process.drive(journal, first, &terms, services.clone(), Box::new(|_, _, _| {})).await;
    let CommandResult::Failed(text) = result else { panic!("{result:?}") };
    assert_eq!(text, "lock lost: another process took over this run");
    assert!(services.effects.borrow().is_empty());
}

#[test]
fn store_errors_are_damage_or_an_unavailable_journal() {
    let failed = |error: &StoreError| -> SampleResult { CommandResult::failed(error) };
    let away = StoreError::Unavailable("disk full".to_owned());
    assert!(matches!(failed(&away), CommandResult::NoJournal(text) if text.contains("disk full")));
    let broken = StoreError::Journal(JournalError::Broken(3));
    assert!(matches!(failed(&broken), CommandResult::Failed(text) if text.contains("record 3")));
    assert!(matches!(failed(&StoreError::LostLock), CommandResult::Failed(_)));
}
