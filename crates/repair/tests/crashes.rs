//! A kill at any instant loses nothing.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test may fail loudly"
)]
#![allow(
    dead_code,
    unused_imports,
    unreachable_pub,
    reason = "the model is shared by several tests"
)]

mod fake;

use std::cell::RefCell;
use std::rc::Rc;

use fake::{Chaos, Cloud, End, Ended, Kill, resume, run_to_rest};
use mooring_repair::journal::Finish;
use mooring_repair::plan::Step;
use mooring_repair::run::Rest;
use mooring_repair::settings::{Settings, Target};

fn settings() -> Settings {
    Settings::new(Target {
        subscription: "s".into(),
        resource_group: "g".into(),
        cluster: "c".into(),
        pool: "system".into(),
    })
}

fn clean() -> End {
    run_to_rest(Cloud::wedged(), &settings(), &[], None, 0)
}

fn assert_repaired(end: &End, what: &str) {
    assert_eq!(end.ended, Ended::Rested(Rest::Finished(Finish::Repaired)), "{what}");
}

#[test]
fn a_wedged_pool_is_rebuilt() {
    let end = clean();
    assert_repaired(&end, "clean");
    let cloud = end.cloud.borrow();
    assert_eq!(cloud.steps(), Step::ALL);
    let state = cloud.end_state();
    assert_eq!(state["nodes"], serde_json::json!([3, 2, 0]));
    assert_eq!(state["cordoned"], 0);
    assert_eq!(state["serving"], serde_json::json!([2, 1]));
    assert_eq!(state["cluster"], "Succeeded");
    assert_eq!(state["deletes"], serde_json::json!([["system", 1], ["systmp", 1]]));
    assert_eq!(state["pools"]["system"]["wedged"], false);
}

#[test]
fn a_kill_at_any_point_ends_as_the_clean_run_does() {
    let wanted = clean().cloud.borrow().end_state();
    let kill = Kill::default();
    let cloud = Rc::new(RefCell::new(Cloud::wedged()));
    resume(&cloud, &settings(), &kill, None);
    let points = kill.points();
    assert!(points > 60, "{points}");
    for point in 0..points {
        let end = run_to_rest(Cloud::wedged(), &settings(), &[point], None, 2);
        assert_repaired(&end, &format!("killed at {point}"));
        assert_eq!(end.cloud.borrow().end_state(), wanted, "killed at {point}");
    }
}

/// Pairs of kills. All of them are tried, in shares, so that the test command stays short: a share is every
/// `SHARES`-th first kill with all second ones. `MOORING_ALL_PAIRS=1` tries all shares.
#[test]
fn two_kills_at_any_points_end_as_the_clean_run_does() {
    const SHARES: usize = 8;
    let wanted = clean().cloud.borrow().end_state();
    let kill = Kill::default();
    resume(&Rc::new(RefCell::new(Cloud::wedged())), &settings(), &kill, None);
    let all = std::env::var_os("MOORING_ALL_PAIRS").is_some();
    let mut schedules = 0;
    for first in (0..kill.points()).step_by(if all { 1 } else { SHARES }) {
        for second in 0.. {
            let end = run_to_rest(Cloud::wedged(), &settings(), &[first, second], None, 3);
            assert_repaired(&end, &format!("killed at {first}, then at {second}"));
            assert_eq!(
                end.cloud.borrow().end_state(),
                wanted,
                "killed at {first}, then at {second}"
            );
            schedules += 1;
            // The second process ended before it reached this point.
            if end.processes < 3 {
                break;
            }
        }
    }
    assert!(schedules >= if all { 8_000 } else { 1_000 }, "{schedules}");
}

#[test]
fn faults_from_any_seed_end_as_the_clean_run_does() {
    let wanted = clean().cloud.borrow().end_state();
    let schedules: u64 = std::env::var("MOORING_SCHEDULES").map_or(300, |n| n.parse().unwrap());
    let first: u64 = std::env::var("MOORING_SEED").map_or(1, |n| n.parse().unwrap());
    for seed in first..first + schedules {
        let chaos = RefCell::new(Chaos::new(seed, 25));
        let kills: Vec<u64> = (0..3).map(|_| chaos.borrow_mut().random.below(200)).collect();
        let end = run_to_rest(Cloud::wedged(), &settings(), &kills, Some(&chaos), 60);
        assert_repaired(&end, &format!("MOORING_SEED={seed} MOORING_SCHEDULES=1"));
        assert_eq!(
            end.cloud.borrow().end_state(),
            wanted,
            "MOORING_SEED={seed} MOORING_SCHEDULES=1"
        );
    }
}
