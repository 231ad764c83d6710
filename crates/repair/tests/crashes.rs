//! A kill at any instant loses nothing, and faults in any order end as the clean run does.
//!
//! | variable | meaning |
//! |---|---|
//! | `MOORING_SCHEDULES` | fault schedules to run, 20,000 unless told |
//! | `MOORING_SEED` | the first one's seed; a failure prints both, to replay it alone |
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
use std::sync::atomic::{AtomicU64, Ordering};

use fake::scenarios::{CURABLE, Scenario, budget_that_never_clears, settings};
use fake::{Chaos, Cloud, End, Ended, Kill, recover, resume, run_to_rest, undo, whole};
use mooring_repair::journal::Finish;
use mooring_repair::machine::Reason;
use mooring_repair::plan::Step;
use mooring_repair::run::Rest;
use mooring_testbed::on_all_cores;
use serde_json::Value;

fn clean(make: fn() -> Cloud) -> Value {
    let end = whole(make(), &settings(), None);
    assert_repaired(&end, "clean");
    end.cloud.borrow().end_state()
}

/// The worlds that a clean run leaves behind if it is killed at its points, in their order.
fn killed(make: fn() -> Cloud) -> Vec<Cloud> {
    let forks = RefCell::default();
    whole(make(), &settings(), Some(&forks));
    forks.into_inner()
}

fn assert_repaired(end: &End, what: &str) {
    let cloud = end.cloud.borrow();
    let last: Vec<_> = cloud.journal.iter().rev().take(5).map(|record| &record.entry).collect();
    let repaired = Ended::Rested(Rest::Finished(Finish::Repaired));
    assert_eq!(end.ended, repaired, "{what}; backwards from the end: {last:#?}");
}

/// Nothing was deleted, made or cordoned: at most the stuck operation was aborted.
fn assert_untouched(end: &End, what: &str) {
    let state = end.cloud.borrow().end_state();
    assert_eq!(state["deletes"], serde_json::json!([]), "{what}");
    assert_eq!(state["cordoned"], 0, "{what}");
    assert!(state["pools"].get("systmp").is_none(), "{what}");
}

#[test]
fn a_wedged_pool_is_rebuilt() {
    let end = run_to_rest(Cloud::wedged(), &settings(), &[], None, 0);
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
    for (name, make) in CURABLE {
        let wanted = clean(make);
        let killed = killed(make);
        assert!(killed.len() > 60, "{name}: {}", killed.len());
        on_all_cores(0..killed.len() as u64, |point| {
            let end = recover(&killed[usize::try_from(point).unwrap()], &settings(), None);
            assert_repaired(&end, &format!("{name}, killed at {point}"));
            assert_eq!(end.cloud.borrow().end_state(), wanted, "{name}, killed at {point}");
        });
    }
}

/// The worlds that the tests of kills begin with are those that a process leaves behind when it dies.
#[test]
fn a_fork_is_what_a_kill_leaves_behind() {
    for (name, make) in CURABLE {
        for (point, fork) in (0..).zip(killed(make)) {
            let cloud = Rc::new(RefCell::new(make()));
            let ended = resume(&cloud, &settings(), &Kill::at(point), None);
            assert_eq!(ended, Ended::Killed, "{name}, {point}");
            let cloud = cloud.borrow();
            assert_eq!(cloud.journal, fork.journal, "{name}, {point}");
            assert_eq!(cloud.end_state(), fork.end_state(), "{name}, {point}");
            assert_eq!((cloud.now, cloud.effects), (fork.now, fork.effects), "{name}, {point}");
        }
    }
}

#[test]
fn two_kills_at_any_points_end_as_the_clean_run_does() {
    let schedules = AtomicU64::new(0);
    for (name, make) in CURABLE {
        let wanted = clean(make);
        let killed = killed(make);
        on_all_cores(0..killed.len() as u64, |first| {
            let again = RefCell::default();
            recover(&killed[usize::try_from(first).unwrap()], &settings(), Some(&again));
            for (second, left) in again.into_inner().iter().enumerate() {
                let what = format!("{name}, killed at {first}, then at {second}");
                let end = recover(left, &settings(), None);
                assert_repaired(&end, &what);
                assert_eq!(end.cloud.borrow().end_state(), wanted, "{what}");
                schedules.fetch_add(1, Ordering::Relaxed);
            }
        });
    }
    let schedules = schedules.into_inner();
    println!("{schedules} pairs");
    assert!(schedules >= 10_000, "{schedules}");
}

/// What is left when an abort came to its end: nothing that it could have undone.
fn assert_undone(end: &End, what: &str) {
    let cloud = end.cloud.borrow();
    match &end.ended {
        Ended::Rested(Rest::Finished(Finish::Aborted)) => {
            let state = cloud.end_state();
            assert_eq!(state["cordoned"], 0, "{what}");
            assert!(state["pools"].get("system").is_some(), "{what}");
            let temporary = cloud.nodes.iter().find(|node| node.pool == "systmp");
            let carries = temporary.is_some_and(|node| {
                cloud.pods.iter().any(|pod| pod.node.as_ref() == Some(&node.name))
            });
            let goes = cloud.pools.get("systmp").is_none_or(|pool| pool.operation.is_some());
            assert!(goes || carries, "{what}: an orphan");
        }
        Ended::Rested(Rest::Resumable { reason: Reason::NotUndoable, .. }) => {
            let end = recover(&cloud, &settings(), None);
            assert_repaired(&end, what);
        }
        other => panic!("{what}: {other:?}"),
    }
}

#[test]
fn an_abort_at_any_point_and_killed_at_any_point_undoes_or_leads_on() {
    for (name, make) in CURABLE {
        let killed = killed(make);
        on_all_cores(0..killed.len() as u64, |first| {
            let left = &killed[usize::try_from(first).unwrap()];
            if left.finish().is_some() {
                return;
            }
            let again = RefCell::default();
            assert_undone(&undo(left, Some(&again)), &format!("{name}, aborted at {first}"));
            for (second, left) in again.into_inner().iter().enumerate() {
                if left.finish().is_none() {
                    let what = format!("{name}, aborted at {first}, killed at {second}");
                    assert_undone(&undo(left, None), &what);
                }
            }
        });
    }
}

#[test]
fn faults_from_any_seed_end_as_the_clean_run_does_or_before_anything_was_touched() {
    let number = |name: &str, default| std::env::var(name).map_or(default, |n| n.parse().unwrap());
    let (first, schedules) = (number("MOORING_SEED", 1), number("MOORING_SCHEDULES", 20_000));
    let wanted = CURABLE.map(|(_, make)| clean(make));
    let (refused, begun) = (AtomicU64::new(0), AtomicU64::new(0));
    on_all_cores(first..first + schedules, |seed| {
        let begun = begun.fetch_add(1, Ordering::Relaxed);
        if begun > 0 && begun.is_multiple_of(50_000) {
            println!("{begun} of {schedules} schedules");
        }
        let at = usize::try_from(seed).unwrap() % CURABLE.len();
        let (name, make) = CURABLE[at];
        let what = format!("MOORING_SEED={seed} MOORING_SCHEDULES=1 ({name})");
        let chaos = RefCell::new(Chaos::new(seed, 25));
        let kills: Vec<u64> = (0..3).map(|_| chaos.borrow_mut().random.below(200)).collect();
        let end = run_to_rest(make(), &settings(), &kills, Some(&chaos), 60);
        let left_alone = [Finish::Refused, Finish::NothingToDo];
        if left_alone.iter().any(|finish| end.ended == Ended::Rested(Rest::Finished(*finish))) {
            // An answer that was old when the clock jumped shows evidence that is too old to act on, and a clock that was
            // set back an operation that is too young.
            assert_untouched(&end, &what);
            refused.fetch_add(1, Ordering::Relaxed);
            return;
        }
        assert_repaired(&end, &what);
        assert_eq!(end.cloud.borrow().end_state(), wanted[at], "{what}");
    });
    let refused = refused.into_inner();
    println!("{refused} of {schedules} left alone for lack of fresh evidence");
    assert!(refused <= 1 + schedules / 1_000, "{refused}");
}

/// Under faults, too, a budget that never clears keeps its pod and with it the pool.
#[test]
fn a_budget_that_never_clears_is_kept_whatever_else_fails() {
    on_all_cores(0..500, |seed| {
        let chaos = RefCell::new(Chaos::new(seed, 25));
        let end = run_to_rest(budget_that_never_clears(), &settings(), &[], Some(&chaos), 10);
        let ended = resume(&end.cloud, &settings(), &Kill::default(), None);
        let cloud = end.cloud.borrow();
        assert!(cloud.deletes.is_empty(), "seed {seed}");
        assert!(cloud.pods.iter().any(|pod| pod.name == "rigid-a"), "seed {seed}");
        let Ended::Rested(Rest::Resumable { reason, .. }) = &ended else {
            panic!("seed {seed}: {ended:?}")
        };
        assert_eq!(*reason, Reason::BudgetBlocks, "seed {seed}");
    });
}

/// An operator edits the pool in the middle of faults: it is never deleted with an edit that the snapshot lacks.
#[test]
fn an_edit_in_the_middle_of_faults_is_never_lost() {
    let (edited, schedules) = (AtomicU64::new(0), 1_000);
    on_all_cores(0..schedules, |seed| {
        let chaos = RefCell::new(Chaos::new(seed, 15));
        let cloud = Rc::new(RefCell::new(Cloud::wedged()));
        let kill = Kill::at(chaos.borrow_mut().random.below(90));
        resume(&cloud, &settings(), &kill, Some(&chaos));
        if cloud.borrow().finish().is_some() || !cloud.borrow().deletes.is_empty() {
            return;
        }
        edited.fetch_add(1, Ordering::Relaxed);
        let mut left = cloud.borrow().clone();
        let pool = left.pools.get_mut("system").unwrap();
        pool.edit()["properties"]["maxPods"] = 50.into();
        // Every write gives a new tag, which an old answer does not have.
        let state = pool.state().to_owned();
        pool.set_state(&state);
        let end = run_to_rest(left, &settings(), &[], Some(&chaos), 10);
        let cloud = end.cloud.borrow();
        assert_eq!(cloud.pools["system"].raw["properties"]["maxPods"], 50, "seed {seed}");
        assert!(cloud.pools["system"].wedged, "seed {seed}");
    });
    let edited = edited.into_inner();
    assert!(edited > schedules / 2, "{edited}");
}

/// An operator edits the pool at any time: it is never deleted with an edit that the snapshot lacks.
#[test]
fn an_edit_at_any_time_is_never_lost() {
    let killed = killed(Cloud::wedged);
    on_all_cores(0..killed.len() as u64, |point| {
        let mut cloud = killed[usize::try_from(point).unwrap()].clone();
        let what = format!("edited at {point}");
        if cloud.deletes.contains_key(&("system".into(), "run0".into())) {
            return;
        }
        cloud.pools.get_mut("system").unwrap().edit()["properties"]["maxPods"] = 50.into();
        let end = whole(cloud, &settings(), None);
        let cloud = end.cloud.borrow();
        assert_eq!(cloud.pools["system"].raw["properties"]["maxPods"], 50, "{what}");
        assert!(cloud.pools["system"].wedged, "{what}");
    });
}
