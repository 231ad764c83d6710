//! Aborts of a stuck operation.

use mooring_workflow::{Finish, RunOutcome};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use mooring_repair::runtime::CommandResult;
use serde_json::json;

use super::harness::{Harness, MEDDLED, in_virtual_time};

/// Azure's abort has no operation id. An operation that starts before the last read is not aborted.
fn replace_operation(looks: Range<u64>) {
    let mut meddled = 0;
    for look in looks {
        let sent = in_virtual_time(async {
            let (mut harness, _running) = Harness::new("wedged-system-pool");
            harness.meddle = Some(look);
            harness.go().await;
            let sent = harness.sent.lock().unwrap();
            sent.clone()
        });
        let Some(at) = sent.iter().position(|sent| sent == MEDDLED) else { continue };
        meddled += 1;
        assert!(!sent[at..].iter().any(|sent| sent.ends_with("/abort")), "look {look}: {sent:?}");
    }
    assert!(meddled >= 2, "there is a look before the intent, and one right before the call");
}

#[test]
fn operation_that_replaced_another_first_is_never_aborted() {
    replace_operation(0..2);
}

mod slow {
    use super::*;

    /// The run is killed right after its abort, and a clock jumps: old failures count without new ones.
    #[test]
    fn run_is_resumed_long_after_its_abort_of_an_operation() {
        for minutes in [0, 7, 45, 300, 900] {
            in_virtual_time(async {
                let (mut harness, _running) = Harness::new("wedged-system-pool");
                harness.flags = Arc::new(|settings| {
                    settings.signatures.signatures[0].checks.clear();
                });
                let aborts = |harness: &Harness| {
                    let sent = harness.sent.lock().unwrap();
                    sent.iter().filter(|sent| sent.ends_with("/abort")).count()
                };
                let mut kill = 0;
                while aborts(&harness) == 0 {
                    assert!(harness.process(Some(kill)).go().await.is_none(), "never aborted");
                    kill += 1;
                }
                tokio::time::sleep(Duration::from_mins(minutes)).await;
                harness.process(None).completes().await;
                assert_eq!(aborts(&harness), 1);
            });
        }
    }

    #[test]
    fn operation_that_replaced_the_old_one_is_never_aborted() {
        replace_operation(0..8);
    }

    /// Azure does not document the codes of a 409. The running operation is read again, and the abort is retried while it runs;
    /// only a lock is final.
    #[tokio::test(start_paused = true)]
    async fn conflict_of_an_abort_is_resolved_by_reading_again() {
        for code in ["Conflict", "OperationNotAllowed", "SomethingNew", "ScopeLocked"] {
            let (harness, _running) = Harness::new("wedged-system-pool");
            let rule = json!({
                "when": {"service": "arm", "method": "POST", "path": "*/abort"},
                "then": {"status": {"status": 409, "code": code}}, "times": 2,
            });
            harness.shell.with(|world, now| {
                world.azure_mut().add_fault(serde_json::from_value(rule).unwrap(), now);
            });
            let ending = harness.go().await.unwrap();
            let sent = harness.sent.lock().unwrap();
            let aborts = sent.iter().filter(|sent| sent.ends_with("/abort")).count();
            if code == "ScopeLocked" {
                let CommandResult::Stopped(RunOutcome::Resumable { message, .. }) = ending else {
                    panic!("{ending:?}")
                };
                assert!(message.contains(code) && aborts == 1, "{aborts}: {message}");
            } else {
                let complete = CommandResult::Stopped(RunOutcome::Finished(Finish::Complete));
                assert_eq!(format!("{ending:?}"), format!("{complete:?}"), "{code}");
                assert_eq!(aborts, 3, "{code}");
            }
        }
    }
}
