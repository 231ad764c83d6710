//! A run in the cluster ends with its Lease.

use std::time::Duration;

use mooring_simulator::faults::{CallSelector, Fault, FaultRule};
use mooring_workflow::RunOutcome;
use mooring_workflow::command::CommandResult;
use mooring_workflow::lock::{LockWait, TIMES};

use crate::commands::{changes, drive, made, process};
use crate::sample::{SampleRun, session};
use crate::stores::{Server, fault, owner, start};

fn lease_writes_fail(from: u64, until: Option<u64>) -> FaultRule {
    let path = Some("*/leases/*".to_owned());
    let when = CallSelector { writes: Some(true), path, ..CallSelector::default() };
    let away = Fault::Status { status: 503, code: None, retry_after: None };
    FaultRule { when, from_seconds: from, until_seconds: until, ..fault(away, 1.0) }
}

#[tokio::test(start_paused = true)]
async fn lease_is_renewed_during_a_run_and_released_after_it() {
    let server = Server::with(Vec::new());
    let (process, _stop) = process("a");
    let (decisions, _) = changes(&process, &[("x", 300)]);
    let looks = async {
        tokio::time::sleep(Duration::from_secs(299)).await;
        server.store().holder().await.unwrap().unwrap()
    };
    let (result, lock) = tokio::join!(drive(&process, server.store(), decisions), looks);
    assert!(matches!(result, CommandResult::Stopped(RunOutcome::Finished(_))), "{result:?}");
    assert_eq!(lock.owner, owner("a"));
    let age = 299 - (lock.heartbeat.as_second() - start().as_second());
    assert!((0..=i64::try_from(TIMES.retry.as_secs()).unwrap()).contains(&age), "{age}");
    assert_eq!(server.store().holder().await.unwrap(), None);
}

/// The API server accepts the journal but not the Lease: the next holder may begin 30 s after the last renewal.
#[tokio::test(start_paused = true)]
async fn no_effect_is_made_while_the_lease_is_not_renewed() {
    for (due, until, is_made) in [(110, None, true), (130, None, false), (130, Some(140), true)] {
        let server = Server::with(vec![lease_writes_fail(101, until)]);
        let (process, _stop) = process("a");
        let (decisions, effects) = changes(&process, &[("x", due)]);
        let result = drive(&process, server.store(), decisions).await;
        let made = made(&effects);
        assert_eq!(made.len(), usize::from(is_made), "{due} {until:?}: {result:?}");
        if is_made {
            // The last renewal was at 100 s; later effects wait for the next one.
            let (_, second) = made[0];
            assert!(!(120..140).contains(&second), "{second}");
        } else {
            let CommandResult::Resumable(text) = result else { panic!("{result:?}") };
            assert_eq!(text, "failed to write the journal: the lock could not be renewed");
        }
    }
}

/// Between acquiring and starting, an operator reads the plan.
#[tokio::test(start_paused = true)]
async fn run_starts_only_while_its_lease_is_current() {
    for (seconds, starts) in [(5, true), (19, true), (20, false), (60, false)] {
        let server = Server::with(vec![lease_writes_fail(1, None)]);
        let (process, _stop) = process("a");
        let journal = crate::commands::acquire(&process, server.store()).await.unwrap();
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        let first = SampleRun::begin("r1", session(1), process.now());
        let (decisions, _) = changes(&process, &[]);
        let result: crate::commands::SampleResult =
            process.drive(journal, first, decisions, Box::new(|_, _, _| {})).await;
        let started = server.stored().await.is_some();
        assert_eq!(started, starts, "{seconds}: {result:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn run_ends_when_another_process_holds_its_lease() {
    let server = Server::with(Vec::new());
    let (process, _stop) = process("a");
    let (decisions, effects) = changes(&process, &[("x", 300)]);
    let takes = async {
        tokio::time::sleep(Duration::from_secs(101)).await;
        server.shell.with(|kubernetes, now| {
            let key = mooring_simulator::kubernetes::Key {
                namespace: "mooring-system".to_owned(),
                name: "repair-system".to_owned(),
            };
            let patch = serde_json::json!({"spec": {"holderIdentity": "b_1_b"}});
            kubernetes.change("leases.coordination.k8s.io", &key, &patch, now).unwrap();
        });
    };
    let (result, ()) = tokio::join!(drive(&process, server.store(), decisions), takes);
    let CommandResult::Resumable(text) = result else { panic!("{result:?}") };
    assert_eq!(text, "lock lost: another process took over this run");
    assert!(effects.borrow().is_empty());
    assert_eq!(server.store().holder().await.unwrap().unwrap().owner, owner("b"));
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_lock_names_its_holder() {
    let server = Server::with(Vec::new());
    let (first, _stop) = process("a");
    let held = crate::commands::acquire(&first, server.store()).await.unwrap();
    let (second, _also) = process("b");
    let mut said = Vec::new();
    let wait = LockWait::Until(jiff::SignedDuration::from_secs(3));
    let mut log = |text: &str| said.push(text.to_owned());
    let store = server.store();
    let waited = second.acquire::<crate::sample::Sample, ()>(store, wait, &mut log).await;
    assert!(matches!(waited, Err(CommandResult::Held(_))));
    assert_eq!(said.len(), 3);
    let text = "locked by a (pid 1), last heartbeat 2s ago; waiting for the lock to expire (30s)";
    assert_eq!(said[2], text);
    held.release().await;
    assert_eq!(server.store().holder().await.unwrap(), None);
}
