//! Aborts of a stuck operation: what they end, what they leave alone, and what is known after them.

use std::sync::Arc;
use std::time::Duration;

use mooring_repair::shell::CommandResult;
use mooring_repair::workflow::Finish;
use mooring_repair::workflow::RunOutcome;
use serde_json::json;

use crate::bench::{Bench, MEDDLED, in_virtual_time};

/// The run dies right after its abort, and a clock jumps: nothing fails anew, and what failed is all that there is.
#[test]
fn a_run_is_resumed_after_its_own_abort_however_late() {
    for minutes in [0, 7, 45, 300, 900] {
        in_virtual_time(async {
            let (mut bench, _running) = Bench::new("wedged-system-pool");
            bench.flags = Arc::new(|settings| {
                settings.signatures.signatures[0].checks.clear();
            });
            let aborts = |bench: &Bench| {
                let sent = bench.sent.lock().unwrap();
                sent.iter().filter(|sent| sent.ends_with("/abort")).count()
            };
            let mut kill = 0;
            while aborts(&bench) == 0 {
                assert!(bench.process(Some(kill)).go().await.is_none(), "never aborted");
                kill += 1;
            }
            tokio::time::sleep(Duration::from_mins(minutes)).await;
            let ending = bench.process(None).go().await.unwrap();
            assert!(
                matches!(ending, CommandResult::Rested(RunOutcome::Finished(Finish::Repaired))),
                "{minutes}: {ending:?}"
            );
            assert_eq!(aborts(&bench), 1);
        });
    }
}

/// The abort of Azure names no operation. Whenever another one begins before the last look, it is left alone.
#[test]
fn an_operation_that_replaced_the_old_one_is_never_aborted() {
    let mut meddled = 0;
    for look in 0..8 {
        let sent = in_virtual_time(async {
            let (mut bench, _running) = Bench::new("wedged-system-pool");
            bench.meddle = Some(look);
            bench.go().await;
            let sent = bench.sent.lock().unwrap();
            sent.clone()
        });
        let Some(at) = sent.iter().position(|sent| sent == MEDDLED) else { continue };
        meddled += 1;
        assert!(!sent[at..].iter().any(|sent| sent.ends_with("/abort")), "look {look}: {sent:?}");
    }
    assert!(meddled >= 2, "there is a look before the intent, and one right before the call");
}

/// Azure does not document the codes of a 409. Whatever it is, what runs is read again, and the abort is sent again as
/// long as the operation runs; only a lock is final.
#[tokio::test(start_paused = true)]
async fn conflict_of_an_abort_is_settled_by_reading_again_whatever_its_code() {
    for code in ["Conflict", "OperationNotAllowed", "SomethingNew", "ScopeLocked"] {
        let (bench, _running) = Bench::new("wedged-system-pool");
        let rule = json!({
            "when": {"service": "arm", "method": "POST", "path": "*/abort"},
            "then": {"status": {"status": 409, "code": code}}, "times": 2,
        });
        bench.shell.with(|world, now| {
            world.azure_mut().add_fault(serde_json::from_value(rule).unwrap(), now);
        });
        let ending = bench.go().await.unwrap();
        let sent = bench.sent.lock().unwrap();
        let aborts = sent.iter().filter(|sent| sent.ends_with("/abort")).count();
        if code == "ScopeLocked" {
            let CommandResult::Rested(RunOutcome::Resumable { message, .. }) = ending else {
                panic!("{ending:?}")
            };
            assert!(message.contains(code) && aborts == 1, "{aborts}: {message}");
        } else {
            assert!(
                matches!(ending, CommandResult::Rested(RunOutcome::Finished(Finish::Repaired))),
                "{code}: {ending:?}"
            );
            assert_eq!(aborts, 3, "{code}");
        }
    }
}
