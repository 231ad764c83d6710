//! Faults by rule, and their replay.

use mooring_simulator::azure::Options;
use mooring_simulator::exchange::Outcome;
use mooring_simulator::faults::{Condition, Fault, OperationFault, Rule};
use serde_json::json;

use crate::support::{CLUSTER, Lab, Seen, seen};

fn rule(method: &str, then: Fault) -> Rule {
    let when = Condition { method: Some(method.to_owned()), ..Condition::default() };
    Rule { times: Some(1), ..Rule::new(when, then) }
}

fn lab(rules: &[Rule]) -> Lab {
    let mut lab = Lab::new("healthy");
    for rule in rules {
        lab.azure.add_fault(rule.clone(), lab.now);
    }
    lab
}

fn extra() -> String {
    format!("{CLUSTER}/agentPools/extra")
}

fn create(lab: &mut Lab) -> Outcome {
    let body = json!({"properties": {"count": 1, "vmSize": "Standard_D4s_v5"}});
    lab.outcome("PUT", &format!("{}?api-version=2025-02-01", extra()), Some(&body))
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
        let mut lab = lab(&[rule("PUT", fault.clone())]);
        let outcome = create(&mut lab);
        match fault {
            Fault::TimeoutBefore | Fault::TimeoutAfter => {
                assert!(matches!(outcome, Outcome::Silence));
            }
            Fault::DropBefore | Fault::DropAfter => assert!(matches!(outcome, Outcome::Dropped)),
            Fault::Truncate => {
                assert!(matches!(outcome, Outcome::CutShort(_, length) if length > 0));
            }
            _ => assert_eq!(seen(outcome).status, 503),
        }
        assert_eq!(lab.get(&extra()).status, there, "{fault:?}");
    }
}

#[test]
fn operations_end_otherwise_than_they_should() {
    let ends = |fate| {
        let mut lab = lab(&[rule("PUT", Fault::Operation(fate))]);
        let made: Seen = seen(create(&mut lab));
        lab.pass(400);
        let ended = lab.follow(&made);
        (
            ended.text("/status").to_owned(),
            ended.text("/error/code").to_owned(),
            lab.pool_state("extra"),
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
    let mut lab = lab(&[rule("PUT", Fault::NotFoundAfterAccept)]);
    let made = seen(create(&mut lab));
    assert_eq!(made.status, 201);
    assert_eq!(lab.follow(&made).status, 404);
    lab.pass(200);
    assert_eq!(lab.pool_state("extra"), "Succeeded");
}

#[test]
fn a_stale_read_shows_what_was() {
    let stale = Rule { skip: 1, ..rule("GET", Fault::Stale { seconds: 60 }) };
    let mut lab = lab(&[stale]);
    assert_eq!(lab.get(&extra()).status, 404);
    lab.pass(100);
    create(&mut lab);
    lab.pass(10);
    assert_eq!(lab.get(&extra()).status, 404, "a minute ago it was not there");
    assert_eq!(lab.get(&extra()).status, 200);
}

#[test]
fn the_clock_jumps() {
    let mut lab = lab(&[rule("GET", Fault::ClockJump { seconds: 300 })]);
    let made = seen(create(&mut lab));
    assert_eq!(lab.follow(&made).text("/status"), "Succeeded");
}

#[test]
fn the_same_seed_gives_the_same_trace_byte_for_byte() {
    let run = |seed| {
        let mut lab = Lab::with("wedged-system-pool", seed, Options::default());
        let some = Rule {
            probability: 0.3,
            times: None,
            ..rule("GET", Fault::Status { status: 429, code: None, retry_after: Some(1) })
        };
        lab.azure.add_fault(some, lab.now);
        for step in 0..60 {
            lab.pass(11);
            let _ =
                lab.outcome("GET", &format!("{CLUSTER}/agentPools?api-version=2025-02-01"), None);
            if step % 20 == 5 {
                let _ = create(&mut lab);
                let _ =
                    lab.outcome("POST", &format!("{CLUSTER}/abort?api-version=2025-02-01"), None);
            }
        }
        (lab.azure.trace().text(), lab.azure.state().to_string())
    };
    assert_eq!(run(7), run(7));
    assert_ne!(run(7).0, run(8).0);
    assert!(
        run(7).0.contains("seed 7") && run(7).0.contains("rule {"),
        "a trace tells how to replay it"
    );
}

#[test]
fn a_write_of_a_scale_set_that_fails_leaves_it_failed_and_not_updating() {
    let mut lab = lab(&[rule("PATCH", Fault::Operation(OperationFault::Failed))]);
    let set = lab.vmss("user").unwrap()["id"].as_str().unwrap().to_owned();
    let body = json!({"tags": {"a": "b"}});
    let target = format!("{set}?api-version=2024-07-01");
    assert_eq!(lab.call("PATCH", &target, Some(&body)).status, 200);
    lab.pass(120);
    let read = lab.call("GET", &target, None);
    assert_eq!(read.text("/properties/provisioningState"), "Failed");
}
