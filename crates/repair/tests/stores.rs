//! The journal's stores: what was promised to be durable is, and two writers never both succeed.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test may fail loudly"
)]

mod common;

use mooring_repair::shell::store;
use mooring_repair::workflow::Reason;
use std::time::Duration;

use jiff::Timestamp;
use mooring_repair::settings::Settings;
use mooring_repair::workflow::{Entry, Finish, Record};
use mooring_simulator::faults::{Condition, Fault, Rule};
use mooring_simulator::kubernetes::{Clock, InProcess, Key, Kubernetes, Options, Running, Shell};
use mooring_workflow::journal::{encode, follow};
use mooring_workflow::lock::Owner;
use mooring_workflow::store::NAMESPACE;
use mooring_workflow::store::SEGMENT_BYTES;
use mooring_workflow::store::{FileStore, Store, StoreError};
use serde_json::Value;

fn start() -> Timestamp {
    "2026-11-15T05:00:00Z".parse().unwrap()
}

fn later(seconds: u64) -> Timestamp {
    start() + Duration::from_secs(seconds)
}

fn owner(name: &str) -> Owner {
    Owner { host: name.into(), boot: "b".into(), pid: 1, start: 1, holder: name.into() }
}

/// An API server in this process, with faults.
struct Server {
    shell: Shell,
    _running: Running,
}

impl Server {
    fn with(faults: Vec<Rule>) -> Self {
        let options = Options { start: start(), faults, ..Options::default() };
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

    /// The objects that hold the journal.
    fn maps(&self) -> Vec<String> {
        self.shell.with(|kubernetes, _| {
            let maps = kubernetes.objects("configmaps", Some("mooring-system"));
            maps.filter_map(|map| map["metadata"]["name"].as_str()).map(str::to_owned).collect()
        })
    }

    fn store(&self) -> Store<Entry> {
        let client = kube::Client::new(InProcess::new(self.shell.clone()), "default");
        store(mooring_kube::Client::new(client), NAMESPACE, "system")
    }
}

fn fault(then: Fault, probability: f64) -> Rule {
    Rule {
        when: Condition { writes: Some(true), ..Condition::default() },
        then,
        probability,
        from_seconds: 0,
        until_seconds: None,
        skip: 0,
        times: None,
    }
}

fn begins() -> Entry {
    Entry::RunStarted(common::session(&Settings::new(common::target("system")), owner("a")))
}

fn stopped(length: usize) -> Entry {
    Entry::Stopped { reason: Reason::Deadline, message: "m".repeat(length) }
}

async fn append(store: &mut Store<Entry>, records: &mut Vec<Record>, entry: Entry) {
    let record = follow(records.last(), "run", start(), entry);
    store.append(&record, start()).await.unwrap();
    records.push(record);
}

/// The store with its lock taken, and a run begun in it.
async fn begun(mut store: Store<Entry>) -> (Store<Entry>, Vec<Record>) {
    store.load().await.unwrap();
    store.lock(&owner("a"), start()).await.unwrap();
    let mut records = Vec::new();
    append(&mut store, &mut records, begins()).await;
    (store, records)
}

#[tokio::test(start_paused = true)]
async fn what_was_appended_is_there_for_everybody() {
    let server = Server::with(Vec::new());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("journal");
    let files = || Store::File(FileStore::new(&file));
    for make in [&(|| server.store()) as &dyn Fn() -> Store<Entry>, &files] {
        let mut store = make();
        assert!(store.load().await.unwrap().records.is_empty());
        store.lock(&owner("a"), start()).await.unwrap();
        let mut records = Vec::new();
        append(&mut store, &mut records, begins()).await;
        append(&mut store, &mut records, stopped(10)).await;
        store.beat(later(5)).await.unwrap();
        let seen = make().load().await.unwrap();
        assert_eq!(seen.records, records);
        let lock = seen.lock.unwrap();
        assert_eq!(lock.owner, owner("a"));
        assert_eq!(lock.heartbeat, later(5));
        store.unlock().await.unwrap();
        assert!(make().load().await.unwrap().lock.is_none());
    }
}

/// A run that writes much and has no time for signs of life is alive.
#[tokio::test(start_paused = true)]
async fn a_record_in_the_cluster_is_a_sign_of_life() {
    let server = Server::with(Vec::new());
    let mut store = server.store();
    store.load().await.unwrap();
    store.lock(&owner("a"), start()).await.unwrap();
    store.append(&follow(None, "run", later(20), begins()), later(20)).await.unwrap();
    assert_eq!(server.store().load().await.unwrap().lock.unwrap().heartbeat, later(20));
}

#[tokio::test(start_paused = true)]
async fn a_store_says_where_it_is() {
    let file: Store<Entry> = Store::File(FileStore::new("/var/lib/journal".as_ref()));
    assert_eq!(file.place(), "file /var/lib/journal");
    let server = Server::with(Vec::new());
    assert_eq!(server.store().place(), "ConfigMap mooring-system/repair-system");
}

#[tokio::test(start_paused = true)]
async fn of_two_writers_only_one_succeeds() {
    let server = Server::with(Vec::new());
    let (mut one, mut two) = (server.store(), server.store());
    one.load().await.unwrap();
    two.load().await.unwrap();
    one.lock(&owner("a"), start()).await.unwrap();
    assert!(matches!(two.lock(&owner("b"), start()).await, Err(StoreError::LostLock)));
    // The second one takes the lock over; the first one cannot write any more, not even a sign of life.
    two.load().await.unwrap();
    two.lock(&owner("b"), start()).await.unwrap();
    let record = follow(None, "run", start(), begins());
    assert!(matches!(one.append(&record, start()).await, Err(StoreError::LostLock)));
    assert!(matches!(one.beat(start()).await, Err(StoreError::LostLock)));
    assert!(matches!(one.unlock().await, Err(StoreError::LostLock)));
    two.append(&record, start()).await.unwrap();
    assert_eq!(server.store().load().await.unwrap().lock.unwrap().owner, owner("b"));
}

#[tokio::test(start_paused = true)]
async fn a_file_has_one_owner_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("journal");
    let (mut one, mut two): (Store<Entry>, Store<Entry>) =
        (Store::File(FileStore::new(&file)), Store::File(FileStore::new(&file)));
    one.load().await.unwrap();
    two.load().await.unwrap();
    one.lock(&owner("a"), start()).await.unwrap();
    assert!(matches!(two.lock(&owner("b"), start()).await, Err(StoreError::LostLock)));
    let record = follow(None, "run", start(), begins());
    assert!(matches!(two.append(&record, start()).await, Err(StoreError::LostLock)));
    // A process that is gone has given its lock back, whatever the file says.
    drop(one);
    two.load().await.unwrap();
    two.lock(&owner("b"), start()).await.unwrap();
    two.append(&record, start()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn whoever_takes_a_file_over_has_what_its_last_owner_wrote_before_it_let_go() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("journal");
    let make = || -> Store<Entry> { Store::File(FileStore::new(&file)) };
    let mut next = make();
    let loaded = next.load().await.unwrap();
    let (mut last, records) = begun(make()).await;
    last.unlock().await.unwrap();
    drop(last);
    let taken = next.take(&owner("b"), start(), loaded).await.unwrap();
    assert_eq!(taken.records, records);
    let mut records = taken.records;
    append(&mut next, &mut records, Entry::Finished { finish: Finish::Aborted, left: vec![] })
        .await;
    assert_eq!(make().load().await.unwrap().records, records);
}

#[tokio::test(start_paused = true)]
async fn a_lock_file_is_its_owners_alone_and_never_a_link() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let folder = tempfile::tempdir().unwrap();
    let lock_file = folder.path().join("journal.lock");
    let make = || -> Store<Entry> { Store::File(FileStore::new(&folder.path().join("journal"))) };
    let mut store = make();
    store.load().await.unwrap();
    store.lock(&owner("a"), start()).await.unwrap();
    let mode = std::fs::metadata(&lock_file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    drop(store);
    // Somebody else's file, which must not be written, and not be taken for a lock that is free.
    let other = folder.path().join("other");
    std::fs::write(&other, "theirs").unwrap();
    std::fs::remove_file(&lock_file).unwrap();
    symlink(&other, &lock_file).unwrap();
    let loaded = make().load().await;
    assert!(matches!(loaded, Err(StoreError::Unavailable(_))), "{loaded:?}");
    let locked = make().lock(&owner("a"), start()).await;
    assert!(matches!(locked, Err(StoreError::Unavailable(_))), "{locked:?}");
    assert_eq!(std::fs::read_to_string(&other).unwrap(), "theirs");
}

#[tokio::test(start_paused = true)]
async fn a_file_forgets_all_but_the_last_records() {
    let folder = tempfile::tempdir().unwrap();
    let make = || -> Store<Entry> { Store::File(FileStore::new(&folder.path().join("journal"))) };
    let (mut store, mut records) = begun(make()).await;
    for length in 0..4 {
        append(&mut store, &mut records, stopped(length)).await;
    }
    store.keep(records.len(), 2).await.unwrap();
    append(&mut store, &mut records, stopped(9)).await;
    assert_eq!(make().load().await.unwrap().records, records[3..]);
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_never_doubles_a_record_and_never_loses_one() {
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
            store.beat(start()).await.unwrap();
        }
        assert_eq!(server.store().load().await.unwrap().records, records, "{then:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_write_that_is_refused_for_good_says_why_and_is_not_repeated() {
    for status in [400, 403, 413, 422] {
        let refuses = Fault::Status { status, code: None, retry_after: None };
        let server = Server::with(vec![fault(refuses, 1.0)]);
        let mut store = server.store();
        store.load().await.unwrap();
        let began = tokio::time::Instant::now();
        let locked = store.lock(&owner("a"), start()).await;
        let Err(StoreError::Unavailable(why)) = locked else { panic!("{status}: {locked:?}") };
        assert!(why.contains("by a fault rule"), "{status}: {why}");
        assert_eq!(began.elapsed(), Duration::ZERO, "{status}");
    }
}

/// Taken for an empty one, a journal that may not be read would be begun anew.
#[tokio::test(start_paused = true)]
async fn a_journal_that_may_not_be_read_is_not_an_empty_one() {
    for status in [401, 403, 500] {
        let refuses = Fault::Status { status, code: None, retry_after: None };
        let when = Condition { writes: Some(false), ..Condition::default() };
        let server = Server::with(vec![Rule { when, ..fault(refuses, 1.0) }]);
        let loaded = server.store().load().await;
        assert!(matches!(&loaded, Err(StoreError::Unavailable(_))), "{status}: {loaded:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_that_stays_away_is_given_up() {
    for status in [429, 500, 503] {
        let away = Fault::Status { status, code: None, retry_after: None };
        let server = Server::with(vec![fault(away, 1.0)]);
        let mut store = server.store();
        store.load().await.unwrap();
        let began = tokio::time::Instant::now();
        let locked = store.lock(&owner("a"), start()).await;
        assert!(matches!(&locked, Err(StoreError::Unavailable(_))), "{status}: {locked:?}");
        let seconds = began.elapsed().as_secs();
        assert!((10..30).contains(&seconds), "{status}: given up after {seconds} s");
    }
}

#[tokio::test(start_paused = true)]
async fn a_long_journal_goes_into_parts_and_old_parts_are_forgotten() {
    let server = Server::with(Vec::new());
    let (mut store, mut records) = begun(server.store()).await;
    append(&mut store, &mut records, stopped(1)).await;
    assert_eq!(server.maps().len(), 1, "there is room for more in the first one");
    for _ in 0..12 {
        append(&mut store, &mut records, stopped(SEGMENT_BYTES / 4)).await;
    }
    assert_eq!(server.store().load().await.unwrap().records, records);
    // Three of these fit into one.
    assert_eq!(server.maps().len(), 4);
    store.keep(records.len(), 2).await.unwrap();
    assert_eq!(server.maps().len(), 1, "what is forgotten is deleted");
    let left = server.store().load().await.unwrap().records;
    assert!(left.len() >= 2 && left.len() < 8, "{}", left.len());
    assert_eq!(left[..], records[records.len() - left.len()..]);
    append(&mut store, &mut records, stopped(1)).await;
    assert_eq!(server.store().load().await.unwrap().records.last(), records.last());
}

/// A part is put aside when the next record does not fit any more, and not earlier.
#[tokio::test(start_paused = true)]
async fn a_part_is_filled_to_its_last_byte() {
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
        assert_eq!(began.elapsed(), Duration::ZERO, "nothing was tried twice");
        assert_eq!(server.store().load().await.unwrap().records, records);
    }
}

/// Whatever is to be kept is kept, and every part of which nothing is to be kept is gone.
#[tokio::test(start_paused = true)]
async fn no_more_and_no_less_than_whole_parts_are_forgotten() {
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
        let left = server.store().load().await.unwrap().records;
        assert_eq!(left, records[gone..], "{retained} of {all}");
        append(&mut store, &mut records, stopped(1)).await;
        assert_eq!(server.store().load().await.unwrap().records, records[gone..], "{retained}");
    }
}

/// A process that slept while it put a full part aside wakes when its successor has put more there.
#[tokio::test(start_paused = true)]
async fn a_part_of_the_journal_is_never_overwritten_by_a_former_owner() {
    let server = Server::with(Vec::new());
    let (mut former, mut records) = begun(server.store()).await;
    append(&mut former, &mut records, stopped(SEGMENT_BYTES / 2)).await;
    let late = follow(records.last(), "run", start(), stopped(SEGMENT_BYTES / 2));

    let mut successor = server.store();
    successor.load().await.unwrap();
    successor.lock(&owner("b"), start()).await.unwrap();
    append(&mut successor, &mut records, stopped(1)).await;
    append(&mut successor, &mut records, stopped(SEGMENT_BYTES / 2)).await;

    let written = former.append(&late, start()).await;
    assert!(matches!(written, Err(StoreError::LostLock)), "{written:?}");
    assert_eq!(server.store().load().await.unwrap().records, records);
    append(&mut successor, &mut records, stopped(1)).await;
}

/// A part that a crash left behind is in nobody's way.
#[tokio::test(start_paused = true)]
async fn a_part_that_the_head_does_not_count_is_written_again() {
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
    assert_eq!(server.store().load().await.unwrap().records, records);
}

#[tokio::test(start_paused = true)]
async fn missing_namespace_names_the_manifest() {
    let server = Server::of(Kubernetes::new(Options { start: start(), ..Options::default() }));
    let mut store = server.store();
    store.load().await.unwrap();
    let error = store.lock(&owner("a"), start()).await.unwrap_err().to_string();
    assert!(
        error.contains("kubectl apply -f packaging/roles/mooring-repair-cluster.yaml"),
        "{error}"
    );
}
