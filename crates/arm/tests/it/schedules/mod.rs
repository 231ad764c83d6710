//! The client against the model of Azure, under thousands of seeded fault schedules and virtual time.
//!
//! A seed determines the schedule: scenario, fault rules, network, and calls. The checker compares the results that
//! the client reports with the state of the model.
//! `MOORING_SEED` runs one schedule with its trace; `MOORING_SCHEDULES` sets the number that `slow` runs.

mod checker;
mod plan;
mod steps;
mod world;

use std::sync::atomic::{AtomicU64, Ordering};

use plan::Plan;
use steps::{StepOutcome, StepReport};
use world::Record;

const SCHEDULES: u64 = 20_000;
const SHOWN: usize = 5;

fn run(seed: u64) -> Record {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.unwrap().block_on(steps::run(Plan::of(seed)))
}

/// Returns the command that runs a failed schedule again.
fn replay(seed: u64) -> String {
    format!(
        "MOORING_SEED={seed} cargo test -p mooring-arm --test it schedules::slow -- --nocapture"
    )
}

/// Runs every seed on all cores, and returns the violations in the order of the seeds.
fn survey(seeds: std::ops::Range<u64>, check: impl Fn(u64) -> Vec<String> + Sync) -> Vec<String> {
    let next = AtomicU64::new(seeds.start);
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let mut found: Vec<(u64, Vec<String>)> = std::thread::scope(|scope| {
        let work = || {
            let mut found = Vec::new();
            loop {
                let seed = next.fetch_add(1, Ordering::Relaxed);
                if seed >= seeds.end || found.len() >= SHOWN {
                    return found;
                }
                let wrong = check(seed);
                if !wrong.is_empty() {
                    found.push((seed, wrong));
                }
            }
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    found.sort();
    found
        .into_iter()
        .take(SHOWN)
        .map(|(seed, wrong)| format!("{}\n  {}", replay(seed), wrong.join("\n  ")))
        .collect()
}

/// Runs and checks the schedules of the first seeds.
fn check_first(schedules: u64) {
    let (requests, steps) = (AtomicU64::new(0), AtomicU64::new(0));
    let wrong = survey(0..schedules, |seed| {
        let record = run(seed);
        requests.fetch_add(record.seen.len() as u64, Ordering::Relaxed);
        steps.fetch_add(record.reports.len() as u64, Ordering::Relaxed);
        checker::check(&record)
    });
    println!("{schedules} schedules, {steps:?} steps, {requests:?} requests");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn first_fault_schedules_neither_lose_nor_repeat_writes() {
    check_first(500);
}

mod slow {
    use super::*;

    #[test]
    fn fault_schedules_neither_lose_nor_repeat_writes() {
        let number = |name: &str| std::env::var(name).ok().map(|number| number.parse().unwrap());
        if let Some(seed) = number("MOORING_SEED") {
            let record = run(seed);
            println!("{}", record.text());
            let wrong = checker::check(&record);
            assert!(wrong.is_empty(), "{}", wrong.join("\n"));
            return;
        }
        check_first(number("MOORING_SCHEDULES").unwrap_or(SCHEDULES));
    }
}

#[test]
fn same_seed_gives_the_same_trace() {
    let wrong = survey(0..200, |seed| {
        let (one, other) = (run(seed).text(), run(seed).text());
        if one == other { Vec::new() } else { vec!["two runs differ".to_owned()] }
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_ne!(run(1).text(), run(2).text());
}

/// The checker must reject a record that was falsified.
#[test]
fn checker_detects_false_reports_storms_leaks_and_repeats() {
    let is_end = |report: &StepReport| report.outcome == StepOutcome::Succeeded;
    // A schedule whose outcome the model can confirm: no other clients, and no hidden operations.
    let is_plain = |record: &Record| {
        let end = record.reports.iter().find(|report| is_end(report));
        let begun = end.is_some_and(|end| record.azure.begun_by(&end.correlation).next().is_some());
        begun && record.actors == 1 && record.seen.iter().all(|seen| seen.status != 404)
    };
    let plain = (0..SCHEDULES).find(|seed| is_plain(&run(*seed))).unwrap();
    let genuine = || run(plain);
    assert_eq!(checker::check(&genuine()), Vec::<String>::new());
    let detects = |what: &str, falsify: &dyn Fn(&mut Record)| {
        let mut record = genuine();
        falsify(&mut record);
        let wrong = checker::check(&record).join("\n");
        assert!(wrong.contains(what), "{what}: {wrong}");
    };
    let end = |record: &Record| record.reports.iter().position(is_end).unwrap();
    detects("the model accepted it", &|record| {
        let end = end(record);
        record.reports[end].outcome = StepOutcome::NotApplied;
    });
    detects("the model has", &|record| {
        let end = end(record);
        record.reports[end].outcome = StepOutcome::Failed;
    });
    detects("not within", &|record| record.reports[0].bound = 0);
    detects("shows a token", &|record| record.reports[0].error = "Bearer eyJ0eXAi".to_owned());
    detects("was sent to", &|record| record.seen[0].host = "elsewhere.example".to_owned());
    detects("attempts", &|record| {
        let again = vec![record.seen[0].clone(); 6];
        record.seen.extend(again);
    });
    detects("although the budget allows", &|record| {
        record.limits.reads = mooring_arm::BucketLimit::per_second_milli(0, 0);
        record.limits.writes = mooring_arm::BucketLimit::per_second_milli(0, 0);
        let again = vec![record.seen[0].clone(); 2];
        record.seen.extend(again);
    });
    detects("done 2 times", &|record| {
        let accepted = record.seen.iter().position(|seen| seen.is_write() && seen.is_accepted());
        let mut once = record.seen[accepted.unwrap()].clone();
        once.method = "POST".to_owned();
        once.request_id = "doubled".to_owned();
        record.seen.extend([once.clone(), once]);
    });
}
