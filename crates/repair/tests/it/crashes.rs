//! A kill at any instant loses nothing, and faults in any order end like a clean run.
//!
//! | variable | meaning |
//! |---|---|
//! | `MOORING_SCHEDULES` | fault schedules that `slow` runs, 20,000 unless set |
//! | `MOORING_SEED` | the first one's seed; a failure prints both, to replay it alone |

use mooring_workflow::{Finish, Reason, RunOutcome};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::fake::scenarios::{
    CURABLE, STUCK, Scenario, barren, budget_that_never_clears, settings,
};
use crate::fake::{Chaos, Cloud, End, Ended, Kill, recover, resume, run_to_rest, undo, whole};
use jiff::SignedDuration;
use mooring_repair::plan::Step;
use mooring_repair::settings::Settings;
use mooring_testbed::on_all_cores;
use serde_json::Value;

fn outcome(end: &End) -> (String, Value) {
    let how = match &end.ended {
        Ended::Stopped(RunOutcome::Finished(finish)) => format!("{finish:?}"),
        Ended::Stopped(RunOutcome::Resumable { reason, .. }) => format!("{reason:?}"),
        other => format!("{other:?}"),
    };
    (how, end.cloud.borrow().end_state())
}

/// Result of a run without a kill.
fn clean(make: fn() -> Cloud) -> (String, Value) {
    outcome(&whole(make(), &hasty(), None))
}

/// Shorter timeouts for missing nodes, since every poll takes test time.
fn hasty() -> Settings {
    let mut settings = settings();
    settings.limits.pool = SignedDuration::from_mins(2);
    settings
}

fn all() -> impl Iterator<Item = Scenario> {
    CURABLE.into_iter().chain(STUCK)
}

/// States after a kill at each point of a clean run.
fn killed(make: fn() -> Cloud) -> Vec<Cloud> {
    let forks = RefCell::default();
    whole(make(), &hasty(), Some(&forks));
    forks.into_inner()
}

fn assert_repaired(end: &End, what: &str) {
    let cloud = end.cloud.borrow();
    let last: Vec<_> = cloud.journal.iter().rev().take(5).collect();
    let repaired = Ended::Stopped(RunOutcome::Finished(Finish::Complete));
    assert_eq!(end.ended, repaired, "{what}; backwards from the end: {last:#?}");
}

/// Nothing was deleted, created or cordoned: at most the stuck operation was aborted.
fn assert_untouched(end: &End, what: &str) {
    let state = end.cloud.borrow().end_state();
    assert_eq!(state["deletes"], serde_json::json!([]), "{what}");
    assert_eq!(state["cordoned"], 0, "{what}");
    assert!(state["pools"].get("systmp").is_none(), "{what}");
}

#[test]
fn wedged_pool_is_rebuilt() {
    let end = run_to_rest(Cloud::wedged(), &hasty(), &[], None, 0);
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
fn clean_run_repairs_or_stops_as_expected() {
    for (name, make) in CURABLE {
        assert_eq!(clean(make).0, "Complete", "{name}");
    }
    let stops = STUCK.map(|(_, make)| clean(make).0);
    assert_eq!(stops, ["Blocked", "StepTimeout", "StepTimeout"]);
}

#[test]
fn kill_at_any_point_ends_like_a_clean_run() {
    for (name, make) in all() {
        let wanted = clean(make);
        let killed = killed(make);
        assert!(killed.len() >= 16, "{name}: {}", killed.len());
        on_all_cores(0..killed.len() as u64, |point| {
            let end = recover(&killed[usize::try_from(point).unwrap()], &hasty(), None);
            assert_eq!(outcome(&end), wanted, "{name}, killed at {point}");
        });
    }
}

#[test]
fn fork_equals_the_state_after_a_kill() {
    for (name, make) in all() {
        let killed = killed(make);
        on_all_cores(0..killed.len() as u64, |point| {
            let fork = &killed[usize::try_from(point).unwrap()];
            let cloud = Rc::new(RefCell::new(make()));
            let ended = resume(&cloud, &hasty(), &Kill::at(point), None);
            assert_eq!(ended, Ended::Killed, "{name}, {point}");
            let cloud = cloud.borrow();
            assert_eq!(cloud.journal, fork.journal, "{name}, {point}");
            assert_eq!(cloud.end_state(), fork.end_state(), "{name}, {point}");
            assert_eq!((cloud.now, cloud.effects), (fork.now, fork.effects), "{name}, {point}");
        });
    }
}

/// Kills a run at one of `every` points, and what resumes it at every point; returns the number of pairs.
fn kill_twice(worlds: impl Iterator<Item = Scenario>, every: u64) -> u64 {
    let pairs = AtomicU64::new(0);
    for (name, make) in worlds {
        let wanted = clean(make);
        let killed = killed(make);
        on_all_cores(0..(killed.len() as u64).div_ceil(every), |first| {
            let first = first * every;
            let again = RefCell::default();
            recover(&killed[usize::try_from(first).unwrap()], &hasty(), Some(&again));
            for (second, left) in again.into_inner().iter().enumerate() {
                let what = format!("{name}, killed at {first}, then at {second}");
                assert_eq!(outcome(&recover(left, &hasty(), None)), wanted, "{what}");
                pairs.fetch_add(1, Ordering::Relaxed);
            }
        });
    }
    let pairs = pairs.into_inner();
    println!("{pairs} pairs");
    pairs
}

#[test]
fn two_kills_at_some_points_end_like_a_clean_run() {
    let pairs = kill_twice(all().take(1), 7);
    assert!(pairs >= 1_000, "{pairs}");
}

/// Verifies that a finished abort rolled back everything that it could.
fn assert_undone(end: &End, wanted: &str, what: &str) {
    let cloud = end.cloud.borrow();
    match &end.ended {
        Ended::Stopped(RunOutcome::Finished(Finish::Aborted)) => {
            let state = cloud.end_state();
            assert_eq!(state["cordoned"], 0, "{what}");
            assert!(state["pools"].get("system").is_some(), "{what}");
            let is_usable =
                |pool: &str| cloud.nodes.iter().any(|node| node.pool == pool && node.usable());
            let carries = cloud
                .nodes
                .iter()
                .filter(|node| node.pool == "systmp")
                .any(|node| cloud.pods.iter().any(|pod| pod.node.as_ref() == Some(&node.name)));
            let stays = cloud.pools.contains_key("systmp");
            assert!(!stays || carries || !is_usable("system"), "{what}: it stays for nothing");
        }
        Ended::Stopped(RunOutcome::Resumable { reason: Reason::NotUndoable, .. }) => {
            let end = recover(&cloud, &hasty(), None);
            assert_eq!(outcome(&end).0, wanted, "{what}");
        }
        other => panic!("{what}: {other:?}"),
    }
}

/// Aborts a run at every point, and kills the abort at every point.
fn abort_and_kill(worlds: impl Iterator<Item = Scenario>) {
    for (name, make) in worlds {
        let (wanted, _) = clean(make);
        let killed = killed(make);
        on_all_cores(0..killed.len() as u64, |first| {
            let left = &killed[usize::try_from(first).unwrap()];
            if left.finish().is_some() {
                return;
            }
            let again = RefCell::default();
            let what = format!("{name}, aborted at {first}");
            assert_undone(&undo(left, Some(&again)), &wanted, &what);
            for (second, left) in again.into_inner().iter().enumerate() {
                if left.finish().is_none() {
                    let what = format!("{name}, aborted at {first}, killed at {second}");
                    assert_undone(&undo(left, None), &wanted, &what);
                }
            }
        });
    }
}

#[test]
fn killed_abort_of_one_world_rolls_back_or_requires_resume() {
    abort_and_kill(all().take(1));
}

/// Runs fault schedules from a seed on.
fn run_schedules(first: u64, schedules: u64) {
    let kinds: [fn(&Faults<'_>); 4] = [cured, budget_kept, edit_kept, nodes_awaited];
    let wanted = CURABLE.map(|(_, make)| clean(make).1);
    let (alone, edited, begun) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    on_all_cores(first..first + schedules, |seed| {
        let begun = begun.fetch_add(1, Ordering::Relaxed);
        if begun > 0 && begun.is_multiple_of(50_000) {
            println!("{begun} of {schedules} schedules");
        }
        // Five of eight are repaired.
        let kind = kinds[usize::try_from((seed % 8).saturating_sub(4)).unwrap()];
        let chaos = RefCell::new(Chaos::new(seed, 25));
        kind(&Faults { seed, chaos, wanted: &wanted, alone: &alone, edited: &edited });
    });
    let (alone, edited) = (alone.into_inner(), edited.into_inner());
    println!("{alone} of {schedules} left alone for lack of fresh evidence");
    assert!(alone <= 1 + schedules / 1_000, "{alone}");
    assert!(schedules < 1_000 || edited > schedules / 20, "{edited}");
}

#[test]
fn first_faults_end_like_a_clean_run_or_need_an_operator() {
    run_schedules(1, 300);
}

/// One schedule of faults.
struct Faults<'a> {
    seed: u64,
    chaos: RefCell<Chaos>,
    wanted: &'a [Value],
    /// Schedules without a change, and with an edit of the pool.
    alone: &'a AtomicU64,
    edited: &'a AtomicU64,
}

impl Faults<'_> {
    fn below(&self, limit: u64) -> u64 {
        self.chaos.borrow_mut().random.below(limit)
    }

    fn what(&self, name: &str) -> String {
        format!("MOORING_SEED={} MOORING_SCHEDULES=1 ({name})", self.seed)
    }

    fn run(&self, cloud: Cloud, kills: &[u64], most: u32) -> End {
        run_to_rest(cloud, &settings(), kills, Some(&self.chaos), most)
    }

    /// Returns true if checks blocked before any change: after a clock jump, evidence may be too old or an operation too recent.
    fn left_alone(&self, end: &End, what: &str) -> bool {
        let left_alone = [Finish::Refused, Finish::NothingToDo]
            .iter()
            .any(|finish| end.ended == Ended::Stopped(RunOutcome::Finished(*finish)));
        if left_alone {
            assert_untouched(end, what);
            self.alone.fetch_add(1, Ordering::Relaxed);
        }
        left_alone
    }
}

fn cured(faults: &Faults<'_>) {
    let at = usize::try_from(faults.below(CURABLE.len() as u64)).unwrap();
    let (name, make) = CURABLE[at];
    let what = faults.what(name);
    let kills: Vec<u64> = (0..3).map(|_| faults.below(200)).collect();
    let end = faults.run(make(), &kills, 60);
    if !faults.left_alone(&end, &what) {
        assert_repaired(&end, &what);
        assert_eq!(end.cloud.borrow().end_state(), faults.wanted[at], "{what}");
    }
}

/// A PDB that never allows a disruption keeps its pod, and with it the pool.
fn budget_kept(faults: &Faults<'_>) {
    let what = faults.what("budget that never clears");
    let end = faults.run(budget_that_never_clears(), &[], 10);
    if faults.left_alone(&end, &what) {
        return;
    }
    let ended = resume(&end.cloud, &settings(), &Kill::default(), None);
    let cloud = end.cloud.borrow();
    assert!(cloud.deletes.is_empty(), "{what}");
    assert!(cloud.pods.iter().any(|pod| pod.name == "rigid-a"), "{what}");
    let Ended::Stopped(RunOutcome::Resumable { reason, .. }) = &ended else {
        panic!("{what}: {ended:?}")
    };
    assert_eq!(*reason, Reason::Blocked, "{what}");
}

fn edit_kept(faults: &Faults<'_>) {
    let what = faults.what("edit");
    let cloud = Rc::new(RefCell::new(Cloud::wedged()));
    let kill = Kill::at(faults.below(90));
    resume(&cloud, &settings(), &kill, Some(&faults.chaos));
    if cloud.borrow().finish().is_some() || !cloud.borrow().deletes.is_empty() {
        return;
    }
    faults.edited.fetch_add(1, Ordering::Relaxed);
    let mut left = cloud.borrow().clone();
    let pool = left.pools.get_mut("system").unwrap();
    pool.edit()["properties"]["maxPods"] = 50.into();
    // Every write sets a new eTag, which stale responses do not have.
    let state = pool.state().to_owned();
    pool.set_state(&state);
    let end = faults.run(left, &[], 10);
    let cloud = end.cloud.borrow();
    assert_eq!(cloud.pools["system"].raw["properties"]["maxPods"], 50, "{what}");
    assert!(cloud.pools["system"].wedged, "{what}");
}

/// Missing nodes are waited for without other changes; once they join, the run ends like a clean one.
fn nodes_awaited(faults: &Faults<'_>) {
    let late = if faults.below(2) == 0 { "systmp" } else { "system" };
    let what = faults.what(&format!("nodes of {late} that do not come"));
    let end = faults.run(barren(late), &[], 3);
    if faults.left_alone(&end, &what) {
        return;
    }
    let mut cloud = end.cloud.borrow().clone();
    assert!(cloud.finish().is_none(), "{what}: {:?}", end.ended);
    if late == "systmp" {
        assert!(cloud.deletes.is_empty(), "{what}");
    }
    cloud.nodes_come_after_all();
    let end = faults.run(cloud, &[], 60);
    assert_repaired(&end, &what);
    assert_eq!(end.cloud.borrow().end_state(), faults.wanted[0], "{what}");
}

/// A pool is never deleted with an edit that the snapshot lacks.
#[test]
fn edit_at_any_time_is_never_lost() {
    let killed = killed(Cloud::wedged);
    on_all_cores(0..killed.len() as u64, |point| {
        let mut cloud = killed[usize::try_from(point).unwrap()].clone();
        let what = format!("edited at {point}");
        if cloud.deletes.contains_key(&("system".into(), "run0".into())) {
            return;
        }
        cloud.pools.get_mut("system").unwrap().edit()["properties"]["maxPods"] = 50.into();
        let end = whole(cloud, &hasty(), None);
        let cloud = end.cloud.borrow();
        assert_eq!(cloud.pools["system"].raw["properties"]["maxPods"], 50, "{what}");
        assert!(cloud.pools["system"].wedged, "{what}");
    });
}

mod slow {
    use super::*;

    #[test]
    fn two_kills_at_any_points_end_like_a_clean_run() {
        let pairs = kill_twice(all(), 1);
        assert!(pairs >= 10_000, "{pairs}");
    }

    #[test]
    fn abort_killed_at_any_point_rolls_back_or_requires_resume() {
        abort_and_kill(all());
    }

    #[test]
    fn faults_end_like_a_clean_run_or_need_an_operator() {
        let number =
            |name: &str, default| std::env::var(name).map_or(default, |n| n.parse().unwrap());
        run_schedules(number("MOORING_SEED", 1), number("MOORING_SCHEDULES", 20_000));
    }
}
