//! Faults by rule, and their replay.

use mooring_simulator::azure::AzureOptions;
use mooring_simulator::exchange::ServerReply;
use mooring_simulator::faults::{CallSelector, Fault, FaultRule, OperationFault};
use serde_json::json;

use super::support::{CLUSTER, Harness, Reply, seen};

fn rule(method: &str, then: Fault) -> FaultRule {
    let when = CallSelector { method: Some(method.to_owned()), ..CallSelector::default() };
    FaultRule { times: Some(1), ..FaultRule::new(when, then) }
}

fn harness(rules: &[FaultRule]) -> Harness {
    let mut harness = Harness::new("healthy");
    for rule in rules {
        harness.azure.add_fault(rule.clone(), harness.now);
    }
    harness
}

fn extra() -> String {
    format!("{CLUSTER}/agentPools/extra")
}

fn create(harness: &mut Harness) -> ServerReply {
    let body = json!({"properties": {"count": 1, "vmSize": "Standard_D4s_v5"}});
    harness.outcome("PUT", &format!("{}?api-version=2025-02-01", extra()), Some(&body))
}

#[test]
fn lost_before_has_no_effect_and_lost_after_has_it() {
    for (fault, there) in [
        (Fault::TimeoutBefore, 404),
        (Fault::TimeoutAfter, 200),
        (Fault::DropBefore, 404),
        (Fault::DropAfter, 200),
        (Fault::Truncate, 200),
        (Fault::Status { status: 503, code: None, retry_after: None }, 404),
    ] {
        let mut harness = harness(&[rule("PUT", fault.clone())]);
        let outcome = create(&mut harness);
        match fault {
            Fault::TimeoutBefore | Fault::TimeoutAfter => {
                assert!(matches!(outcome, ServerReply::Silence));
            }
            Fault::DropBefore | Fault::DropAfter => {
                assert!(matches!(outcome, ServerReply::Dropped));
            }
            Fault::Truncate => {
                assert!(matches!(outcome, ServerReply::CutShort(_, length) if length > 0));
            }
            _ => assert_eq!(seen(outcome).status, 503),
        }
        assert_eq!(harness.get(&extra()).status, there, "{fault:?}");
    }
}

#[test]
fn operations_end_otherwise_than_they_should() {
    let ends = |fault| {
        let mut harness = harness(&[rule("PUT", Fault::Operation(fault))]);
        let made: Reply = seen(create(&mut harness));
        harness.pass(400);
        let ended = harness.follow(&made);
        (
            ended.text("/status").to_owned(),
            ended.text("/error/code").to_owned(),
            harness.pool_state("extra"),
        )
    };
    let three = |a: &str, b: &str, c: &str| (a.to_owned(), b.to_owned(), c.to_owned());
    assert_eq!(ends(OperationFault::Failed), three("Failed", "InternalOperationError", "Failed"));
    assert_eq!(ends(OperationFault::Canceled), three("Canceled", "OperationCanceled", "Canceled"));
    assert_eq!(
        ends(OperationFault::Replaced),
        three("Canceled", "OperationPreempted", "Succeeded")
    );
}

#[test]
fn an_accepted_operation_can_be_lost() {
    let mut harness = harness(&[rule("PUT", Fault::NotFoundAfterAccept)]);
    let made = seen(create(&mut harness));
    assert_eq!(made.status, 201);
    assert_eq!(harness.follow(&made).status, 404);
    harness.pass(200);
    assert_eq!(harness.pool_state("extra"), "Succeeded");
}

#[test]
fn a_stale_read_shows_what_was() {
    let stale = FaultRule { skip: 1, ..rule("GET", Fault::Stale { seconds: 60 }) };
    let mut harness = harness(&[stale]);
    assert_eq!(harness.get(&extra()).status, 404);
    harness.pass(100);
    create(&mut harness);
    harness.pass(10);
    assert_eq!(harness.get(&extra()).status, 404, "a minute ago it was not there");
    assert_eq!(harness.get(&extra()).status, 200);
}

#[test]
fn the_clock_jumps() {
    let mut harness = harness(&[rule("GET", Fault::ClockJump { seconds: 300 })]);
    let made = seen(create(&mut harness));
    assert_eq!(harness.follow(&made).text("/status"), "Succeeded");
}

#[test]
fn the_same_seed_gives_the_same_trace_byte_for_byte() {
    let run = |seed| {
        let mut harness = Harness::with("wedged-system-pool", seed, AzureOptions::default());
        let some = FaultRule {
            probability: 0.3,
            times: None,
            ..rule("GET", Fault::Status { status: 429, code: None, retry_after: Some(1) })
        };
        harness.azure.add_fault(some, harness.now);
        for step in 0..60 {
            harness.pass(11);
            let _ = harness.outcome(
                "GET",
                &format!("{CLUSTER}/agentPools?api-version=2025-02-01"),
                None,
            );
            if step % 20 == 5 {
                let _ = create(&mut harness);
                let _ = harness.outcome(
                    "POST",
                    &format!("{CLUSTER}/abort?api-version=2025-02-01"),
                    None,
                );
            }
        }
        (harness.azure.trace().text(), harness.azure.state().to_string())
    };
    assert_eq!(run(7), run(7));
    assert_ne!(run(7).0, run(8).0);
    assert!(
        run(7).0.contains("seed 7") && run(7).0.contains("rule {"),
        "a trace tells how to replay it"
    );
}

#[test]
fn failed_scale_set_write_leaves_it_failed() {
    let mut harness = harness(&[rule("PATCH", Fault::Operation(OperationFault::Failed))]);
    let set = harness.vmss("user").unwrap()["id"].as_str().unwrap().to_owned();
    let body = json!({"tags": {"a": "b"}});
    let target = format!("{set}?api-version=2024-07-01");
    assert_eq!(harness.call("PATCH", &target, Some(&body)).status, 200);
    harness.pass(120);
    let read = harness.call("GET", &target, None);
    assert_eq!(read.text("/properties/provisioningState"), "Failed");
}
