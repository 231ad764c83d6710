//! The queue of the buckets, under virtual time.

use std::sync::{Arc, Mutex as StdMutex};
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use jiff::Timestamp;

use super::admission::{MAX_VMS, MAX_WAITING};
use super::*;
use crate::client::Client;
use crate::cloud::{Cloud, CloudSettings};
use crate::identity::{IdentityError, Token};
use crate::metrics::BucketLevel;
use crate::world::{TransportError, World};

/// A world with tokio's clock only.
struct Clock(tokio::time::Instant);

impl World for Clock {
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH.checked_add(self.0.elapsed()).unwrap()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        tokio::time::sleep(duration).boxed()
    }

    fn random(&self) -> u64 {
        0
    }

    fn send(
        &self,
        _: http::Request<Bytes>,
    ) -> BoxFuture<'_, Result<http::Response<Bytes>, TransportError>> {
        async { Err(TransportError::unsent("no network here")) }.boxed()
    }

    fn token<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Token, IdentityError>> {
        async { Err(IdentityError::Setup("no identity here".to_owned())) }.boxed()
    }
}

/// Ten at once, one a second.
fn small() -> Budget {
    Budget::new(BudgetLimits {
        reads: BucketLimit::per_second_milli(10, 1000),
        ..BudgetLimits::default()
    })
}

type Log = Arc<StdMutex<Vec<(&'static str, u64)>>>;

/// Sends a request in the background, and logs the second in which it was admitted.
fn ask(
    budget: &Budget,
    clock: &Arc<Clock>,
    log: &Log,
    who: &'static str,
    priority: Priority,
) -> tokio::task::JoinHandle<()> {
    let (budget, clock, log) = (budget.clone(), Arc::clone(clock), Arc::clone(log));
    tokio::spawn(async move {
        budget.admit(&*clock, &[BucketName::Reads], priority, Timestamp::MAX).await.unwrap();
        log.lock().unwrap().push((who, clock.0.elapsed().as_secs()));
    })
}

fn world() -> (Arc<Clock>, Log) {
    (Arc::new(Clock(tokio::time::Instant::now())), Arc::default())
}

async fn spend(budget: &Budget, clock: &Clock, number: usize) {
    for _ in 0..number {
        budget.admit(clock, &[BucketName::Reads], Priority::Trigger, Timestamp::MAX).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn queue_is_ordered_by_priority_and_arrival() {
    let (clock, log) = world();
    let budget = small();
    spend(&budget, &clock, 10).await;
    let mut asked = Vec::new();
    for (who, priority) in [
        ("sweep", Priority::Sweep),
        ("first", Priority::Routine),
        ("second", Priority::Routine),
        ("user", Priority::Interactive),
        ("trigger", Priority::Trigger),
    ] {
        asked.push(ask(&budget, &clock, &log, who, priority));
    }
    for task in asked {
        task.await.unwrap();
    }
    // Of ten tokens, interactive requests leave 1, routine ones 2, a sweep 5.
    let expected = ["trigger", "user", "first", "second", "sweep"];
    let order: Vec<_> = log.lock().unwrap().iter().map(|(who, _)| *who).collect();
    assert_eq!(order, expected);
    assert_eq!(budget.counts().0, 0, "the queue is empty");
}

#[tokio::test(start_paused = true)]
async fn sweep_leaves_half_of_the_bucket_to_triggers() {
    let (clock, _) = world();
    let budget = small();
    for _ in 0..5 {
        let waited = budget
            .admit(&*clock, &[BucketName::Reads], Priority::Sweep, Timestamp::MAX)
            .await
            .unwrap();
        assert_eq!(waited, Duration::ZERO);
    }
    let swept =
        budget.admit(&*clock, &[BucketName::Reads], Priority::Sweep, Timestamp::MAX).now_or_never();
    assert!(swept.is_none(), "the sixth waits");
    for _ in 0..5 {
        let waited = budget
            .admit(&*clock, &[BucketName::Reads], Priority::Trigger, Timestamp::MAX)
            .await
            .unwrap();
        assert_eq!(waited, Duration::ZERO);
    }
}

#[tokio::test(start_paused = true)]
async fn canceled_request_is_not_counted_and_admits_the_next() {
    let (clock, log) = world();
    let budget = small();
    spend(&budget, &clock, 10).await;
    let canceled: Vec<_> =
        (0..5).map(|_| ask(&budget, &clock, &log, "task", Priority::Trigger)).collect();
    let waiting = ask(&budget, &clock, &log, "waiting", Priority::Trigger);
    tokio::time::sleep(Duration::from_millis(500)).await;
    for task in &canceled {
        task.abort();
    }
    waiting.await.unwrap();
    assert_eq!(*log.lock().unwrap(), [("waiting", 1)], "not after six seconds");
}

#[tokio::test(start_paused = true)]
async fn request_for_a_busy_vm_does_not_block_the_others() {
    let (clock, log) = world();
    let budget = Budget::new(BudgetLimits {
        vm_reads: BucketLimit::per_minute(1, 1),
        ..BudgetLimits::default()
    });
    let vm = [BucketName::Reads, BucketName::Vm("vm1".to_owned())];
    budget.admit(&*clock, &vm, Priority::Trigger, Timestamp::MAX).await.unwrap();
    let blocked = tokio::spawn({
        let (budget, clock) = (budget.clone(), Arc::clone(&clock));
        async move { budget.admit(&*clock, &vm, Priority::Trigger, Timestamp::MAX).await }
    });
    tokio::task::yield_now().await;
    ask(&budget, &clock, &log, "other", Priority::Routine).await.unwrap();
    assert_eq!(*log.lock().unwrap(), [("other", 0)]);
    assert!(blocked.await.unwrap().unwrap() >= Duration::from_mins(1));
}

#[tokio::test(start_paused = true)]
async fn throttling_by_azure_blocks_all_requests() {
    let (clock, log) = world();
    let budget = small();
    spend(&budget, &clock, 1).await;
    budget.throttled(clock.now(), &[BucketName::Reads], true, Some(Duration::from_secs(17)));
    ask(&budget, &clock, &log, "later", Priority::Trigger).await.unwrap();
    assert_eq!(*log.lock().unwrap(), [("later", 17)]);
}

#[tokio::test(start_paused = true)]
async fn thousand_requests_are_sent_at_the_rate_limit() {
    let (clock, log) = world();
    let budget = Budget::new(BudgetLimits::default().share(50));
    let asked: Vec<_> =
        (0..1000).map(|_| ask(&budget, &clock, &log, "x", Priority::Trigger)).collect();
    for task in asked {
        task.await.unwrap();
    }
    let log = log.lock().unwrap();
    for second in 0..=70 {
        let gone = log.iter().filter(|(_, at)| *at < second).count() as u64;
        assert!(gone <= 125 + (second * 25).div_ceil(2), "{gone} within {second} s");
    }
    // (1,000 - 125) / 12.5 = 70 s.
    assert_eq!(log.last().map(|(_, at)| *at), Some(70));
}

#[tokio::test(start_paused = true)]
async fn queue_is_bounded() {
    let (clock, log) = world();
    let budget = Budget::new(BudgetLimits {
        reads: BucketLimit::per_second_milli(1, 1),
        ..BudgetLimits::default()
    });
    spend(&budget, &clock, 1).await;
    let waiting: Vec<_> =
        (0..MAX_WAITING).map(|_| ask(&budget, &clock, &log, "x", Priority::Sweep)).collect();
    // Long enough for all of them to be queued.
    tokio::time::sleep(Duration::from_millis(1)).await;
    let full = budget.admit(&*clock, &[BucketName::Reads], Priority::Trigger, Timestamp::MAX).await;
    assert_eq!(full, Err(NotAdmitted::Full));
    for task in waiting {
        task.abort();
    }
}

#[test]
fn number_of_vm_buckets_is_bounded() {
    let budget = Budget::new(BudgetLimits::default());
    let mut state = budget.lock();
    let now = Timestamp::UNIX_EPOCH;
    for number in 0..MAX_VMS + 10 {
        let name = BucketName::Vm(format!("vm{number}"));
        if state.ensure_bucket(&name, now) {
            // In use, so that it is not removed.
            state.buckets.get_mut(&name).unwrap().take(now, 1, 0).unwrap();
        }
    }
    assert_eq!((state.buckets.len(), state.unwatched_vms), (MAX_VMS, 10));
    assert!(state.ensure_bucket(&BucketName::Reads, now), "the limit is for VMs only");
    assert!(state.buckets.remove(&BucketName::Reads).is_some());
    let later = now.checked_add(Duration::from_hours(1)).unwrap();
    assert!(state.ensure_bucket(&BucketName::Vm("new".to_owned()), later));
    assert_eq!(state.buckets.len(), 1, "full buckets were removed");
}

#[test]
fn idle_bucket_of_a_vm_is_kept_below_the_limit() {
    let budget = Budget::new(BudgetLimits::default());
    let mut state = budget.lock();
    for name in ["vm1", "vm2"] {
        assert!(state.ensure_bucket(&BucketName::Vm(name.to_owned()), Timestamp::UNIX_EPOCH));
    }
    assert_eq!(state.buckets.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn metrics_of_a_client_contain_the_state_of_its_budget() {
    let (clock, _) = world();
    let budget = small();
    let names = [BucketName::Reads, BucketName::Vm("vm1".to_owned())];
    budget.admit(&*clock, &names, Priority::Trigger, Timestamp::MAX).await.unwrap();
    budget.lock().unwatched_vms = 7;
    let cloud = Cloud::new(CloudSettings::default()).unwrap();
    let metrics = Client::new(cloud, clock, budget).metrics();
    assert_eq!((metrics.waiting, metrics.watched_vms, metrics.unwatched_vms), (0, 1, 7));
    assert_eq!(metrics.buckets, [BucketLevel { bucket: "reads", left: 9, burst: 10 }]);
}

#[test]
fn requests_for_one_vm_share_its_bucket() {
    let vm = "/subscriptions/S/resourceGroups/RG/providers/Microsoft.Compute/virtualMachines/VM1";
    for path in [vm.to_owned(), format!("{vm}?x=y"), format!("{vm}/extensions/e")] {
        let names = buckets(Class::Read, &Method::GET, &path);
        assert_eq!(names.last(), Some(&BucketName::Vm(vm.to_ascii_lowercase())), "{path}");
    }
}

#[test]
#[allow(clippy::too_many_lines, reason = "one table")]
fn calls_are_counted_in_the_buckets_of_azure() {
    let rg = "/subscriptions/S/resourceGroups/RG/providers";
    let (get, put, post) = (&Method::GET, &Method::PUT, &Method::POST);
    let (read, write) = (Class::Read, Class::Idempotent);
    for (class, method, path, expected) in [
        (
            read,
            get,
            format!("{rg}/Microsoft.Compute/virtualMachines/VM1?$expand=instanceView"),
            "reads compute_reads vm",
        ),
        (
            read,
            get,
            format!("{rg}/Microsoft.Compute/virtualMachines/VM1/extensions/x"),
            "reads compute_reads vm",
        ),
        (read, get, format!("{rg}/Microsoft.Compute/virtualMachines"), "reads compute_lists"),
        (
            read,
            get,
            format!("{rg}/microsoft.Compute/virtualMachineScaleSets/v/networkInterfaces"),
            "reads compute_lists",
        ),
        (
            read,
            get,
            format!("{rg}/Microsoft.Compute/virtualMachineScaleSets/v/virtualMachines"),
            "reads compute_lists",
        ),
        (
            read,
            get,
            format!(
                "{rg}/Microsoft.Compute/virtualMachineScaleSets/v/virtualMachines/7/instanceView"
            ),
            "reads compute_reads",
        ),
        (
            write,
            &Method::PATCH,
            format!("{rg}/Microsoft.Compute/virtualMachineScaleSets/v"),
            "writes compute_writes",
        ),
        (
            Class::Once,
            post,
            format!("{rg}/Microsoft.Compute/virtualMachines/v/runCommand"),
            "writes compute_writes",
        ),
        (
            Class::Once,
            post,
            format!("{rg}/Microsoft.Compute/virtualMachineScaleSets/v/virtualMachines"),
            "writes compute_writes",
        ),
        (
            read,
            get,
            "/subscriptions/S/providers/Microsoft.Compute/locations/l/operations/o".to_owned(),
            "reads compute_operations",
        ),
        (
            read,
            get,
            format!("{rg}/Microsoft.ContainerService/managedClusters/c"),
            "reads aks_clusters",
        ),
        (write, put, format!("{rg}/Microsoft.ContainerService/managedClusters/c"), "writes aks"),
        (
            read,
            get,
            format!("{rg}/Microsoft.ContainerService/managedClusters/c/agentPools"),
            "reads aks",
        ),
        (
            write,
            put,
            format!("{rg}/Microsoft.ContainerService/managedClusters/c/agentPools/p"),
            "writes aks",
        ),
        (
            read,
            get,
            format!("{rg}/Microsoft.ContainerService/managedClusters/c/operations/latest"),
            "reads aks_operations",
        ),
        (
            read,
            get,
            "/subscriptions/S/providers/Microsoft.ContainerService/locations/l/operations/o"
                .to_owned(),
            "reads aks_operations",
        ),
        (
            write,
            &Method::PATCH,
            format!(
                "{rg}/Microsoft.ContainerService/managedClusters/c/providers/Microsoft.Resources/tags/default"
            ),
            "writes",
        ),
        (
            read,
            get,
            "/subscriptions/S/providers/Microsoft.Insights/eventtypes/management/values".to_owned(),
            "reads",
        ),
        (read, post, "/providers/Microsoft.ResourceGraph/resources".to_owned(), "reads graph"),
        (read, get, "/subscriptions".to_owned(), "reads"),
    ] {
        let found: Vec<_> = buckets(class, method, &path).iter().map(BucketName::as_str).collect();
        assert_eq!(found.join(" "), expected, "{method} {path}");
    }
}

#[test]
fn vm_bucket_ignores_case() {
    let name = |path: &str| buckets(Class::Read, &Method::GET, path).pop().unwrap();
    let rg = "/subscriptions/S/resourceGroups/RG/providers/Microsoft.Compute";
    assert_eq!(
        name(&format!("{rg}/virtualMachines/VM1")),
        name(&format!("{}/virtualmachines/vm1/extensions/e", rg.to_lowercase()))
    );
    assert_ne!(
        name(&format!("{rg}/virtualMachines/vm1")),
        name(&format!("{rg}/virtualMachines/vm10"))
    );
}
