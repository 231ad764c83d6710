//! Stores of a journal and their locks: durability, one of two writers, one holder.

use std::rc::Rc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use mooring_simulator::faults::{CallSelector, Fault, FaultRule};
use mooring_simulator::kubernetes::{
    Clock, ClockTask, InProcess, Key, Kubernetes, KubernetesOptions, Shell,
};
use mooring_workflow::journal::{encode, follow};
use mooring_workflow::lock::{JournalLock, LockError, LockOwner, LockWait, acquire};
use mooring_workflow::store::{JournalStore, NAMESPACE, SEGMENT_BYTES, StoreError};
use serde_json::Value;

use crate::sample::{SampleEntry as Entry, SampleRecord as Record, started};

pub(crate) fn start() -> Timestamp {
    "2026-11-15T05:00:00Z".parse().unwrap()
}

pub(crate) fn owner(name: &str) -> LockOwner {
    LockOwner { host: name.into(), pid: 1, holder: name.into() }
}

/// An API server in this process, with faults.
pub(crate) struct Server {
    pub(crate) shell: Shell,
    _running: ClockTask,
}

impl Server {
    pub(crate) fn with(faults: Vec<FaultRule>) -> Self {
        let options = KubernetesOptions { start: start(), faults, ..KubernetesOptions::default() };
        let mut kubernetes = Kubernetes::new(options);
        let namespace = serde_json::json!({"apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": "mooring-system"}});
        kubernetes.create(namespace, start()).unwrap();
        Self::of(kubernetes)
    }

    fn of(kubernetes: Kubernetes) -> Self {
        let shell = Shell::new(kubernetes, Clock::starting_at(start()));
        let running = shell.start();
        Self { shell, _running: running }
    }

    /// Replaces the text of the journal, as any client with write access can.
    pub(crate) fn put_journal(&self, text: &str) {
        let change = serde_json::json!({"data": {"journal": text}});
        let key = Key { namespace: "mooring-system".into(), name: "repair-system".into() };
        self.shell.with(|kubernetes, now| {
            kubernetes.change("configmaps", &key, &change, now).unwrap();
        });
    }

    /// The objects that hold the journal.
    fn maps(&self) -> Vec<String> {
        self.shell.with(|kubernetes, _| {
            let maps = kubernetes.objects("configmaps", Some("mooring-system"));
            maps.filter_map(|map| map["metadata"]["name"].as_str()).map(str::to_owned).collect()
        })
    }

    pub(crate) fn client(&self) -> mooring_kube::Client {
        let client = kube::Client::new(InProcess::new(self.shell.clone()), "default");
        mooring_kube::Client::new(client)
    }

    pub(crate) fn store(&self) -> JournalStore<Entry> {
        let (client, name) = (self.client(), "repair-system".to_owned());
        JournalStore::new(client, NAMESPACE, name, "A journal.")
    }
}

pub(crate) fn fault(then: Fault, probability: f64) -> FaultRule {
    FaultRule {
        when: CallSelector { writes: Some(true), ..CallSelector::default() },
        then,
        probability,
        from_seconds: 0,
        until_seconds: None,
        skip: 0,
        times: None,
    }
}

fn stopped(length: usize) -> Entry {
    crate::sample::stopped(&"m".repeat(length))
}

async fn append(store: &mut JournalStore<Entry>, records: &mut Vec<Record>, entry: Entry) {
    let record = follow(records.last(), "run", start(), entry);
    store.append(&record).await.unwrap();
    records.push(record);
}

/// Acquires the lock of a store for a process whose clock differs by `skew` seconds.
async fn acquire_by(
    store: &mut JournalStore<Entry>,
    name: &str,
    wait: LockWait,
    skew: i64,
) -> Result<(JournalLock, Vec<Record>), LockError> {
    let began = tokio::time::Instant::now();
    let start = start() + SignedDuration::from_secs(skew);
    let clock: mooring_workflow::world::Clock = Rc::new(move || start + began.elapsed());
    let (_stop, mut stopped) = tokio::sync::watch::channel(false);
    acquire(store, &owner(name), wait, &clock, &mut stopped, &mut |_| {}).await
}

/// The same without waiting.
async fn acquire_now(
    store: &mut JournalStore<Entry>,
    name: &str,
) -> Result<(JournalLock, Vec<Record>), LockError> {
    acquire_by(store, name, LockWait::None, 0).await
}

const ONE_HOUR: LockWait = LockWait::Until(SignedDuration::from_mins(60));

/// The store with a run begun in it.
async fn begun(mut store: JournalStore<Entry>) -> (JournalStore<Entry>, Vec<Record>) {
    store.load().await.unwrap();
    let mut records = Vec::new();
    append(&mut store, &mut records, started()).await;
    (store, records)
}

#[tokio::test(start_paused = true)]
async fn records_and_lock_holder_are_visible_to_every_process() {
    let server = Server::with(Vec::new());
    let make = || server.store();
    let mut store = make();
    let (mut lock, mut records) = acquire_now(&mut store, "a").await.unwrap();
    assert!(records.is_empty());
    append(&mut store, &mut records, started()).await;
    append(&mut store, &mut records, stopped(10)).await;
    assert_eq!(make().load().await.unwrap(), records);
    let holder = make().holder().await.unwrap().unwrap();
    assert_eq!((holder.owner, holder.heartbeat), (owner("a"), start()));
    lock.release().await;
    assert_eq!(make().holder().await.unwrap(), None);
    assert_eq!(acquire_now(&mut make(), "b").await.unwrap().1, records, "at once");
}

#[tokio::test(start_paused = true)]
async fn store_has_a_printable_location() {
    let server = Server::with(Vec::new());
    assert_eq!(server.store().place(), "ConfigMap mooring-system/repair-system");
}

/// A record is only appended to the journal that it follows, regardless of the lock.
#[tokio::test(start_paused = true)]
async fn only_one_of_two_writers_succeeds() {
    let server = Server::with(Vec::new());
    let make = || server.store();
    let (mut one, mut records) = begun(make()).await;
    let mut two = make();
    two.load().await.unwrap();
    append(&mut one, &mut records, stopped(1)).await;
    let record = follow(records.first(), "run", start(), stopped(2));
    for _ in 0..2 {
        assert!(matches!(two.append(&record).await, Err(StoreError::LostLock)));
        assert!(matches!(two.keep(2, 1).await, Ok(()) | Err(StoreError::LostLock)));
    }
    assert_eq!(make().load().await.unwrap(), records);
    append(&mut one, &mut records, stopped(3)).await;
}

#[tokio::test(start_paused = true)]
async fn second_process_is_rejected_while_the_lock_is_held() {
    let server = Server::with(Vec::new());
    let make = || server.store();
    let (lock, _) = acquire_now(&mut make(), "a").await.unwrap();
    let Err(LockError::Busy(busy)) = acquire_now(&mut make(), "b").await else { panic!() };
    assert_eq!(busy.owner, owner("a"));
    drop(lock);
}

#[tokio::test(start_paused = true)]
async fn waiter_reads_all_records_of_the_last_holder() {
    let server = Server::with(Vec::new());
    let make = || server.store();
    let mut last = make();
    let (mut lock, mut records) = acquire_now(&mut last, "a").await.unwrap();
    let works = async {
        tokio::time::sleep(Duration::from_secs(20)).await;
        append(&mut last, &mut records, started()).await;
        lock.release().await;
    };
    let mut next = make();
    let (next, ()) = tokio::join!(acquire_by(&mut next, "b", ONE_HOUR, 0), works);
    assert_eq!(next.unwrap().1, records);
}

/// A stopped process does not renew its Lease. When it continues, another process holds the run.
#[tokio::test(start_paused = true)]
async fn stopped_holder_in_the_cluster_loses_the_run() {
    for skew in [0, -600, 7200] {
        let server = Server::with(Vec::new());
        let (mut theirs, mut store) = (server.store(), server.store());
        let held = acquire_by(&mut theirs, "stopped", LockWait::None, skew).await;
        let (mut lock, mut records) = held.unwrap();
        append(&mut theirs, &mut records, started()).await;
        let began = tokio::time::Instant::now();
        let (_mine, found) = acquire_by(&mut store, "b", ONE_HOUR, 0).await.unwrap();
        let took = began.elapsed().as_secs();
        assert!((30..=31).contains(&took), "{skew}: {took}");
        assert_eq!(found, records);
        append(&mut store, &mut records, stopped(1)).await;
        let late = follow(records.first(), "run", start(), stopped(2));
        assert!(matches!(theirs.append(&late).await, Err(StoreError::LostLock)), "{skew}");
        assert!(matches!(lock.confirm().await, Err(StoreError::LostLock)), "{skew}");
        assert!(matches!(lock.keep().await, StoreError::LostLock), "{skew}");
        lock.release().await;
        assert_eq!(server.store().holder().await.unwrap().unwrap().owner, owner("b"));
        assert_eq!(server.store().load().await.unwrap(), records);
    }
}

/// Expiry counts from observed renewals, so that clocks may differ or jump.
#[tokio::test(start_paused = true)]
async fn running_holder_keeps_the_run_despite_clock_skew() {
    for skew in [0, -600, 7200] {
        let server = Server::with(Vec::new());
        let held = acquire_by(&mut server.store(), "a", LockWait::None, skew).await;
        let (mut lock, _) = held.unwrap();
        let two_minutes = LockWait::Until(SignedDuration::from_mins(2));
        tokio::select! {
            taken = async { acquire_by(&mut server.store(), "b", two_minutes, 0).await.map(drop) } => {
                assert!(matches!(taken, Err(LockError::Busy(_))), "{skew}: {taken:?}");
            }
            lost = lock.keep() => panic!("{skew}: {lost}"),
        }
    }
}

/// `apply` does not wait for a running process, but waits for the Lease of a dead one to expire.
#[tokio::test(start_paused = true)]
async fn lock_of_a_dead_process_is_acquired_without_a_wait_flag() {
    for (age, busy) in [(0, true), (29, true), (30, false), (86_400, false)] {
        let server = Server::with(Vec::new());
        drop(acquire_by(&mut server.store(), "dead", LockWait::None, -age).await.unwrap());
        let began = tokio::time::Instant::now();
        let taken = acquire_now(&mut server.store(), "b").await;
        assert_eq!(matches!(taken, Err(LockError::Busy(_))), busy, "{age}");
        let took = began.elapsed().as_secs();
        assert!(if busy { took == 0 } else { (30..=31).contains(&took) }, "{age}: {took}");
    }
}

#[tokio::test(start_paused = true)]
async fn interruption_ends_the_wait_for_a_lock() {
    let server = Server::with(Vec::new());
    let _held = acquire_now(&mut server.store(), "a").await.unwrap();
    let (stop, mut stopped) = tokio::sync::watch::channel(false);
    stop.send(true).unwrap();
    let clock: mooring_workflow::world::Clock = Rc::new(start);
    let mut store = server.store();
    let taken = acquire(&mut store, &owner("b"), ONE_HOUR, &clock, &mut stopped, &mut |_| {}).await;
    assert!(matches!(taken.map(drop), Err(LockError::Interrupted)));
}

#[tokio::test(start_paused = true)]
async fn lost_response_neither_duplicates_nor_loses_a_record() {
    for then in [
        Fault::DropAfter,
        Fault::DropBefore,
        Fault::Truncate,
        Fault::TimeoutAfter,
        Fault::Status { status: 503, code: None, retry_after: None },
        Fault::Status { status: 409, code: None, retry_after: None },
    ] {
        let server = Server::with(vec![fault(then.clone(), 0.3)]);
        let (mut store, mut records) = begun(server.store()).await;
        for number in 0..40 {
            // Some of them fill a part.
            let length = if number % 4 == 0 { SEGMENT_BYTES / 2 } else { number };
            append(&mut store, &mut records, stopped(length)).await;
        }
        assert_eq!(server.store().load().await.unwrap(), records, "{then:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn permanently_rejected_write_is_not_repeated() {
    for status in [400, 403, 413, 422] {
        let refuses = Fault::Status { status, code: None, retry_after: None };
        let server = Server::with(vec![fault(refuses, 1.0)]);
        let mut store = server.store();
        store.load().await.unwrap();
        let began = tokio::time::Instant::now();
        let locked = acquire_now(&mut server.store(), "a").await.map(drop);
        let Err(LockError::Store(StoreError::Unavailable(why))) = locked else {
            panic!("{status}: {locked:?}")
        };
        let appended = store.append(&follow(None, "run", start(), started())).await;
        let Err(StoreError::Unavailable(also)) = appended else { panic!("{status}: {appended:?}") };
        assert!(why.contains("by a fault rule") && also == why, "{status}: {why} {also}");
        assert_eq!(began.elapsed(), Duration::ZERO, "{status}");
    }
}

/// A run must not start over because its journal cannot be read.
#[tokio::test(start_paused = true)]
async fn unreadable_journal_is_not_an_empty_one() {
    for status in [401, 403, 500] {
        let refuses = Fault::Status { status, code: None, retry_after: None };
        let when = CallSelector { writes: Some(false), ..CallSelector::default() };
        let server = Server::with(vec![FaultRule { when, ..fault(refuses, 1.0) }]);
        let loaded = server.store().load().await;
        assert!(matches!(&loaded, Err(StoreError::Unavailable(_))), "{status}: {loaded:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn unavailable_store_is_abandoned_after_retries() {
    for status in [429, 500, 503] {
        let away = Fault::Status { status, code: None, retry_after: None };
        let server = Server::with(vec![fault(away, 1.0)]);
        let mut store = server.store();
        store.load().await.unwrap();
        for locks in [true, false] {
            let began = tokio::time::Instant::now();
            let failed = if locks {
                match acquire_now(&mut server.store(), "a").await.map(drop) {
                    Err(LockError::Store(error)) => error,
                    other => panic!("{status}: {other:?}"),
                }
            } else {
                store.append(&follow(None, "run", start(), started())).await.unwrap_err()
            };
            assert!(matches!(failed, StoreError::Unavailable(_)), "{status}: {failed:?}");
            let seconds = began.elapsed().as_secs();
            assert!((10..30).contains(&seconds), "{status}: given up after {seconds} s");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn long_journal_has_parts_and_old_parts_are_deleted() {
    let server = Server::with(Vec::new());
    let (mut store, mut records) = begun(server.store()).await;
    append(&mut store, &mut records, stopped(1)).await;
    assert_eq!(server.maps().len(), 1, "the first one is not full");
    for _ in 0..12 {
        append(&mut store, &mut records, stopped(SEGMENT_BYTES / 4)).await;
    }
    assert_eq!(server.store().load().await.unwrap(), records);
    // Three of these fit into one.
    assert_eq!(server.maps().len(), 4);
    store.keep(records.len(), 2).await.unwrap();
    assert_eq!(server.maps().len(), 1, "dropped parts are deleted");
    let left = server.store().load().await.unwrap();
    assert!(left.len() >= 2 && left.len() < 8, "{}", left.len());
    assert_eq!(left[..], records[records.len() - left.len()..]);
    append(&mut store, &mut records, stopped(1)).await;
    assert_eq!(server.store().load().await.unwrap().last(), records.last());
}

/// A part is completed only when the next record does not fit.
#[tokio::test(start_paused = true)]
async fn part_is_filled_to_its_last_byte() {
    for (over, objects) in [(0, 1), (1, 2)] {
        let server = Server::with(Vec::new());
        let (mut store, mut records) = begun(server.store()).await;
        let empty = follow(records.last(), "run", start(), stopped(0));
        let taken = encode(&records[0]).len() + encode(&empty).len();
        append(&mut store, &mut records, stopped(SEGMENT_BYTES - taken + over)).await;
        assert_eq!(server.maps().len(), objects, "{over} bytes too much");
        let began = tokio::time::Instant::now();
        append(&mut store, &mut records, stopped(1)).await;
        assert_eq!(server.maps().len(), 2);
        assert_eq!(began.elapsed(), Duration::ZERO, "no attempt was repeated");
        assert_eq!(server.store().load().await.unwrap(), records);
    }
}

/// Every part with a retained record is kept; all others are deleted.
#[tokio::test(start_paused = true)]
async fn exactly_the_unneeded_parts_are_deleted() {
    for retained in 0..=14 {
        let server = Server::with(Vec::new());
        let (mut store, mut records) = begun(server.store()).await;
        // Parts of different numbers of records.
        for share in [4, 4, 2, 2, 2, 4, 4, 8, 8, 8, 2, 2, 2] {
            append(&mut store, &mut records, stopped(SEGMENT_BYTES / share)).await;
        }
        let parts: Vec<usize> = server.shell.with(|kubernetes, _| {
            let key = |index: usize| Key {
                namespace: "mooring-system".into(),
                name: format!("repair-system-{index}"),
            };
            let part = |index| kubernetes.get("configmaps", &key(index));
            let lines = |part: &Value| part["data"]["journal"].as_str().unwrap().lines().count();
            (0..).map_while(part).map(lines).collect()
        });
        assert!(parts.len() > 3, "{parts:?}");
        let (mut gone, all) = (0, records.len());
        for part in parts {
            if gone + part > all - retained {
                break;
            }
            gone += part;
        }
        store.keep(all, retained).await.unwrap();
        let left = server.store().load().await.unwrap();
        assert_eq!(left, records[gone..], "{retained} of {all}");
        append(&mut store, &mut records, stopped(1)).await;
        assert_eq!(server.store().load().await.unwrap(), records[gone..], "{retained}");
    }
}

/// A process is suspended while it writes a full part; its successor has written more when it continues.
#[tokio::test(start_paused = true)]
async fn former_owner_never_overwrites_a_part() {
    let server = Server::with(Vec::new());
    let (mut former, mut records) = begun(server.store()).await;
    append(&mut former, &mut records, stopped(SEGMENT_BYTES / 2)).await;
    let late = follow(records.last(), "run", start(), stopped(SEGMENT_BYTES / 2));

    let mut successor = server.store();
    successor.load().await.unwrap();
    append(&mut successor, &mut records, stopped(1)).await;
    append(&mut successor, &mut records, stopped(SEGMENT_BYTES / 2)).await;

    let written = former.append(&late).await;
    assert!(matches!(written, Err(StoreError::LostLock)), "{written:?}");
    assert_eq!(server.store().load().await.unwrap(), records);
    append(&mut successor, &mut records, stopped(1)).await;
}

/// Without its records no run continues, and nothing else explains a missing head.
#[tokio::test(start_paused = true)]
async fn deleted_journal_is_a_lost_lock() {
    let server = Server::with(Vec::new());
    let (mut store, records) = begun(server.store()).await;
    let path = "/api/v1/namespaces/mooring-system/configmaps/repair-system";
    server.client().send(http::Method::DELETE, path, None).await.unwrap();
    let next = follow(records.last(), "run", start(), stopped(1));
    let written = store.append(&next).await;
    assert!(matches!(written, Err(StoreError::LostLock)), "{written:?}");
    assert_eq!(server.store().load().await.unwrap(), []);
}

/// A crash may leave a part that the head does not count.
#[tokio::test(start_paused = true)]
async fn uncounted_part_is_overwritten() {
    let server = Server::with(Vec::new());
    server.shell.with(|kubernetes, now| {
        let part = serde_json::json!({
            "apiVersion": "v1", "kind": "ConfigMap", "data": {"journal": "half"},
            "metadata": {"name": "repair-system-0", "namespace": "mooring-system"},
        });
        kubernetes.create(part, now).unwrap();
    });
    let (mut store, mut records) = begun(server.store()).await;
    for _ in 0..3 {
        append(&mut store, &mut records, stopped(SEGMENT_BYTES / 2)).await;
    }
    assert_eq!(server.store().load().await.unwrap(), records);
}

#[tokio::test(start_paused = true)]
async fn missing_namespace_names_the_manifest() {
    let server = Server::of(Kubernetes::new(KubernetesOptions {
        start: start(),
        ..KubernetesOptions::default()
    }));
    let mut store = server.store();
    store.load().await.unwrap();
    let appended = store.append(&follow(None, "run", start(), started())).await.unwrap_err();
    let Err(LockError::Store(locked)) = acquire_now(&mut store, "a").await else { panic!() };
    for error in [appended.to_string(), locked.to_string()] {
        let hint = "kubectl apply -f packaging/roles/mooring-repair-cluster.yaml";
        assert!(error.contains(hint), "{error}");
    }
}
