//! The store of a run and its lock: durability, one of two writers, one holder.

use std::rc::Rc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use mooring_simulator::faults::{CallSelector, Fault, FaultRule};
use mooring_simulator::kubernetes::{
    Clock, ClockTask, InProcess, Key, Kubernetes, KubernetesOptions, Shell, WebhookDenial,
};
use mooring_workflow::Runs;
use mooring_workflow::journal::{JournalError, encode};
use mooring_workflow::lock::{JournalLock, LockError, LockOwner, LockWait};
use mooring_workflow::store::{IfMissing, NAMESPACE, RunStore, StoreError, check_namespace};

use crate::sample::{Sample, SampleEntry as Entry, SampleRun, begun};

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

    /// Replaces the document, as any client with write access can.
    pub(crate) fn put(&self, text: &str) {
        let change = serde_json::json!({"data": {"run": text}});
        let key = Key { namespace: "mooring-system".into(), name: "repair-system".into() };
        self.shell.with(|kubernetes, now| {
            kubernetes.change("configmaps", &key, &change, now).unwrap();
        });
    }

    /// The names of all `ConfigMap`s.
    pub(crate) fn maps(&self) -> Vec<String> {
        self.shell.with(|kubernetes, _| {
            let maps = kubernetes.objects("configmaps", Some("mooring-system"));
            maps.filter_map(|map| map["metadata"]["name"].as_str()).map(str::to_owned).collect()
        })
    }

    /// Replaces the only copy of an object.
    pub(crate) async fn replace_copy(&self) {
        let maps = self.maps();
        let name = maps.into_iter().find(|name| name.starts_with("repair-system-")).unwrap();
        let path = format!("/api/v1/namespaces/mooring-system/configmaps/{name}");
        self.client().send(http::Method::DELETE, &path, None).await.unwrap();
        self.shell.with(|kubernetes, now| {
            let another = serde_json::json!({
                "apiVersion": "v1", "kind": "ConfigMap", "data": {"object": "another"},
                "immutable": true, "metadata": {"name": name, "namespace": "mooring-system"},
            });
            kubernetes.create(another, now).unwrap();
        });
    }

    pub(crate) fn client(&self) -> mooring_k8s::Client {
        let client = kube::Client::new(InProcess::new(self.shell.clone()), "default");
        mooring_k8s::Client::new(client)
    }

    pub(crate) fn store(&self) -> RunStore {
        let (client, name) = (self.client(), "repair-system".to_owned());
        RunStore::new(client, NAMESPACE, name, "A journal.")
    }

    pub(crate) async fn stored(&self) -> Option<SampleRun> {
        load(&mut self.store()).await.unwrap().last
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

pub(crate) async fn load(store: &mut RunStore) -> Result<Runs<Sample>, StoreError> {
    store.load().await
}

fn stopped(length: usize) -> Entry {
    crate::sample::stopped(&"m".repeat(length))
}

async fn save(store: &mut RunStore, run: &SampleRun) -> Result<(), StoreError> {
    store.save(run, &[]).await
}

/// Applies a change and stores the run.
async fn change(store: &mut RunStore, run: &mut SampleRun, entry: Entry) {
    run.change(start(), &entry).unwrap();
    save(store, run).await.unwrap();
}

/// Acquires the lock of a store for a process whose clock differs by `skew` seconds.
async fn acquire_by(
    store: &mut RunStore,
    name: &str,
    wait: LockWait,
    skew: i64,
) -> Result<(JournalLock, Runs<Sample>), LockError> {
    let began = tokio::time::Instant::now();
    let start = start() + SignedDuration::from_secs(skew);
    let clock: mooring_workflow::Clock = Rc::new(move || start + began.elapsed());
    let (_stop, mut stopped) = tokio::sync::watch::channel(false);
    store.acquire(&owner(name), wait, &clock, &mut stopped, &mut |_| {}).await
}

/// The same without waiting.
async fn acquire_now(
    store: &mut RunStore,
    name: &str,
) -> Result<(JournalLock, Runs<Sample>), LockError> {
    acquire_by(store, name, LockWait::None, 0).await
}

const ONE_HOUR: LockWait = LockWait::Until(SignedDuration::from_mins(60));

/// The store with a run begun in it.
async fn with_run(mut store: RunStore) -> (RunStore, SampleRun) {
    load(&mut store).await.unwrap();
    let run = begun();
    save(&mut store, &run).await.unwrap();
    (store, run)
}

#[tokio::test(start_paused = true)]
async fn run_and_lock_holder_are_visible_to_every_process() {
    let server = Server::with(Vec::new());
    let mut store = server.store();
    let (mut lock, runs) = acquire_now(&mut store, "a").await.unwrap();
    assert_eq!(runs, Runs::default());
    let mut run = begun();
    save(&mut store, &run).await.unwrap();
    change(&mut store, &mut run, stopped(10)).await;
    assert_eq!(server.stored().await, Some(run.clone()));
    let holder = server.store().holder().await.unwrap().unwrap();
    assert_eq!((holder.owner, holder.heartbeat), (owner("a"), start()));
    lock.release().await;
    assert_eq!(server.store().holder().await.unwrap(), None);
    let found = acquire_now(&mut server.store(), "b").await.unwrap().1;
    assert_eq!(found.last, Some(run), "at once");
    assert_eq!(server.maps(), ["repair-system"]);
}

#[tokio::test(start_paused = true)]
async fn store_has_a_printable_location() {
    let server = Server::with(Vec::new());
    assert_eq!(server.store().place(), "ConfigMap mooring-system/repair-system");
}

/// A run is only stored over the one that was loaded, regardless of the lock.
#[tokio::test(start_paused = true)]
async fn only_one_of_two_writers_succeeds() {
    let server = Server::with(Vec::new());
    let (mut one, mut run) = with_run(server.store()).await;
    let mut two = server.store();
    let mut other = load(&mut two).await.unwrap().last.unwrap();
    change(&mut one, &mut run, stopped(1)).await;
    other.change(start(), &stopped(2)).unwrap();
    for _ in 0..2 {
        assert!(matches!(save(&mut two, &other).await, Err(StoreError::LostLock)));
    }
    assert_eq!(server.stored().await, Some(run.clone()));
    change(&mut one, &mut run, stopped(3)).await;
    // Nor where none was loaded.
    let mut new = server.store();
    assert!(matches!(save(&mut new, &begun()).await, Err(StoreError::LostLock)));
}

#[tokio::test(start_paused = true)]
async fn second_process_is_rejected_while_the_lock_is_held() {
    let server = Server::with(Vec::new());
    let (lock, _) = acquire_now(&mut server.store(), "a").await.unwrap();
    let Err(LockError::Busy(busy)) = acquire_now(&mut server.store(), "b").await else { panic!() };
    assert_eq!(busy.owner, owner("a"));
    drop(lock);
}

#[tokio::test(start_paused = true)]
async fn waiter_reads_the_last_change_of_the_holder() {
    let server = Server::with(Vec::new());
    let mut last = server.store();
    let (mut lock, _) = acquire_now(&mut last, "a").await.unwrap();
    let works = async {
        tokio::time::sleep(Duration::from_secs(20)).await;
        save(&mut last, &begun()).await.unwrap();
        lock.release().await;
    };
    let mut next = server.store();
    let (next, ()) = tokio::join!(acquire_by(&mut next, "b", ONE_HOUR, 0), works);
    assert_eq!(next.unwrap().1.last, Some(begun()));
}

/// A stopped process does not renew its Lease. When it continues, another process holds the run.
#[tokio::test(start_paused = true)]
async fn stopped_holder_in_the_cluster_loses_the_run() {
    for skew in [0, -600, 7200] {
        let server = Server::with(Vec::new());
        let (mut theirs, mut store) = (server.store(), server.store());
        let held = acquire_by(&mut theirs, "stopped", LockWait::None, skew).await;
        let (mut lock, _) = held.unwrap();
        save(&mut theirs, &begun()).await.unwrap();
        let began = tokio::time::Instant::now();
        let (_mine, found) = acquire_by(&mut store, "b", ONE_HOUR, 0).await.unwrap();
        let took = began.elapsed().as_secs();
        assert!((30..=31).contains(&took), "{skew}: {took}");
        let mut run = found.last.unwrap();
        assert_eq!(run, begun());
        change(&mut store, &mut run, stopped(1)).await;
        let late = save(&mut theirs, &begun()).await;
        assert!(matches!(late, Err(StoreError::LostLock)), "{skew}");
        assert!(matches!(lock.confirm().await, Err(StoreError::LostLock)), "{skew}");
        assert!(matches!(lock.keep().await, StoreError::LostLock), "{skew}");
        lock.release().await;
        assert_eq!(server.store().holder().await.unwrap().unwrap().owner, owner("b"));
        assert_eq!(server.stored().await, Some(run));
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
    let clock: mooring_workflow::Clock = Rc::new(start);
    let mut store = server.store();
    let taken =
        store.acquire::<Sample>(&owner("b"), ONE_HOUR, &clock, &mut stopped, &mut |_| {}).await;
    assert!(matches!(taken.map(drop), Err(LockError::Interrupted)));
}

#[tokio::test(start_paused = true)]
async fn lost_response_neither_repeats_nor_loses_a_change() {
    for then in [
        Fault::DropAfter,
        Fault::DropBefore,
        Fault::Truncate,
        Fault::TimeoutAfter,
        Fault::Status { status: 503, code: None, retry_after: None },
        Fault::Status { status: 409, code: None, retry_after: None },
    ] {
        let server = Server::with(vec![fault(then.clone(), 0.3)]);
        let (mut store, mut run) = with_run(server.store()).await;
        for length in 0..40 {
            change(&mut store, &mut run, stopped(length)).await;
        }
        assert_eq!(server.stored().await, Some(run), "{then:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn permanently_rejected_write_is_not_repeated() {
    for status in [400, 403, 413, 422] {
        let refuses = Fault::Status { status, code: None, retry_after: None };
        let server = Server::with(vec![fault(refuses, 1.0)]);
        let mut store = server.store();
        load(&mut store).await.unwrap();
        let began = tokio::time::Instant::now();
        let locked = acquire_now(&mut server.store(), "a").await.map(drop);
        let Err(LockError::Store(StoreError::Unavailable(why))) = locked else {
            panic!("{status}: {locked:?}")
        };
        let appended = save(&mut store, &begun()).await;
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
        let loaded = load(&mut server.store()).await;
        assert!(matches!(&loaded, Err(StoreError::Unavailable(_))), "{status}: {loaded:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn unavailable_store_is_abandoned_after_retries() {
    for status in [429, 500, 503] {
        let away = Fault::Status { status, code: None, retry_after: None };
        let server = Server::with(vec![fault(away, 1.0)]);
        let mut store = server.store();
        load(&mut store).await.unwrap();
        for locks in [true, false] {
            let began = tokio::time::Instant::now();
            let failed = if locks {
                match acquire_now(&mut server.store(), "a").await.map(drop) {
                    Err(LockError::Store(error)) => error,
                    other => panic!("{status}: {other:?}"),
                }
            } else {
                save(&mut store, &begun()).await.unwrap_err()
            };
            assert!(matches!(failed, StoreError::Unavailable(_)), "{status}: {failed:?}");
            let seconds = began.elapsed().as_secs();
            assert!((10..30).contains(&seconds), "{status}: given up after {seconds} s");
        }
    }
}

/// Without its document no run continues, and nothing else explains a missing one.
#[tokio::test(start_paused = true)]
async fn deleted_document_is_a_lost_lock() {
    let server = Server::with(Vec::new());
    let (mut store, mut run) = with_run(server.store()).await;
    let path = "/api/v1/namespaces/mooring-system/configmaps/repair-system";
    server.client().send(http::Method::DELETE, path, None).await.unwrap();
    run.change(start(), &stopped(1)).unwrap();
    let written = save(&mut store, &run).await;
    assert!(matches!(written, Err(StoreError::LostLock)), "{written:?}");
    assert_eq!(server.stored().await, None);
}

/// A journal of another version, or an object that someone else made, is not an empty one.
#[tokio::test(start_paused = true)]
async fn foreign_object_is_neither_read_nor_replaced() {
    let server = Server::with(Vec::new());
    server.shell.with(|kubernetes, now| {
        let foreign = serde_json::json!({
            "apiVersion": "v1", "kind": "ConfigMap", "data": {"journal": "{}"},
            "metadata": {"name": "repair-system", "namespace": "mooring-system"},
        });
        kubernetes.create(foreign, now).unwrap();
    });
    let mut store = server.store();
    let loaded = load(&mut store).await;
    let unreadable =
        |error: &StoreError| matches!(error, StoreError::Journal(JournalError::Unreadable(_)));
    assert!(loaded.is_err_and(|error| unreadable(&error)));
    let mut other = server.store();
    assert!(matches!(save(&mut other, &begun()).await, Err(StoreError::LostLock)));
}

/// Nothing is written that does not fit.
#[tokio::test(start_paused = true)]
async fn document_is_stored_up_to_its_last_byte() {
    let server = Server::with(Vec::new());
    let (mut store, run) = with_run(server.store()).await;
    let mut empty = run.clone();
    empty.change(start(), &stopped(0)).unwrap();
    let free = 512 * 1024 - encode(&empty, &[]).len();
    for over in [0, 1] {
        let mut run = run.clone();
        run.change(start(), &stopped(free + over)).unwrap();
        let saved = save(&mut store, &run).await;
        if over == 0 {
            saved.unwrap();
        } else {
            let Err(StoreError::TooLarge(bytes, most)) = saved else { panic!("{saved:?}") };
            assert_eq!(bytes, most + 1);
        }
        assert_eq!(server.stored().await.unwrap().stopped.unwrap().len(), free);
    }
}

#[tokio::test(start_paused = true)]
async fn missing_namespace_names_the_manifest() {
    let server = Server::of(Kubernetes::new(KubernetesOptions {
        start: start(),
        ..KubernetesOptions::default()
    }));
    let mut store = server.store();
    load(&mut store).await.unwrap();
    let appended = save(&mut store, &begun()).await.unwrap_err();
    let Err(LockError::Store(locked)) = acquire_now(&mut store, "a").await else { panic!() };
    for error in [appended.to_string(), locked.to_string()] {
        let hint = "kubectl apply -f packaging/roles/mooring-repair-cluster.yaml";
        assert!(error.contains(hint), "{error}");
    }
}

/// A policy of the cluster may allow no `ConfigMap` in some namespaces.
#[tokio::test(start_paused = true)]
async fn denying_webhook_is_named_with_a_namespace_that_works() {
    let deny = |name: Option<&str>| {
        let server = Server::with(Vec::new());
        server.shell.with(|kubernetes, _| {
            kubernetes.deny(WebhookDenial {
                webhook: "policy.example.com".into(),
                resource: "configmaps".into(),
                operations: vec!["CREATE".into()],
                name: name.map(str::to_owned),
                message: "no ConfigMap here".into(),
            });
        });
        server
    };
    for (name, hint) in [
        (Some("repair-system"), "this works: `--journal configmap/default`"),
        (None, "another namespace may work: `--journal configmap/NAMESPACE`"),
    ] {
        let server = deny(name);
        let mut store = server.store();
        load(&mut store).await.unwrap();
        let why = save(&mut store, &begun()).await.unwrap_err().to_string();
        assert!(why.contains("webhook policy.example.com allows no journal"), "{why}");
        assert!(why.contains("no ConfigMap here") && why.ends_with(hint), "{why}");
    }
    let check = check_namespace(&deny(None).client(), NAMESPACE, IfMissing::DryRun).await;
    assert_eq!(check.outcome, mooring_workflow::Outcome::Fail);
    assert!(check.detail().contains("webhook policy.example.com"), "{}", check.detail());
}
