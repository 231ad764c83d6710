//! The client against the model of Azure, under thousands of seeded fault schedules and virtual time.
//!
//! A schedule is all that a seed decides: the scenario, the fault rules, the network, and what is asked of the
//! client. The judge compares what the client believes with what the model has written down.
//! `MOORING_SEED` runs one schedule with its trace, `MOORING_SCHEDULES` another number of them.

mod checker;
mod plan;
mod steps;
mod world;

use std::sync::atomic::{AtomicU64, Ordering};

use plan::Plan;
use steps::{Belief, Said};
use world::Record;

const SCHEDULES: u64 = 20_000;
/// With more, something is broken that the first ones show as well.
const SHOWN: usize = 5;

/// Runs one schedule to its end.
fn run(seed: u64) -> Record {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.unwrap().block_on(steps::act(Plan::of(seed)))
}

/// One line with which a failing schedule is run again.
fn replay(seed: u64) -> String {
    format!("MOORING_SEED={seed} cargo test -p mooring-arm --test it schedules -- --nocapture")
}

/// Every seed once, on all cores; what is wrong with each, in the order of the seeds.
fn survey(seeds: std::ops::Range<u64>, judge: impl Fn(u64) -> Vec<String> + Sync) -> Vec<String> {
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
                let wrong = judge(seed);
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

#[test]
fn no_schedule_of_faults_loses_or_doubles_a_write_storms_or_hangs() {
    if let Some(seed) = std::env::var("MOORING_SEED").ok().map(|seed| seed.parse().unwrap()) {
        let record = run(seed);
        println!("{}", record.text());
        let wrong = checker::check(&record);
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        return;
    }
    let (requests, steps) = (AtomicU64::new(0), AtomicU64::new(0));
    let asked = std::env::var("MOORING_SCHEDULES").ok();
    let schedules = asked.map_or(SCHEDULES, |number| number.parse().unwrap());
    let wrong = survey(0..schedules, |seed| {
        let record = run(seed);
        requests.fetch_add(record.seen.len() as u64, Ordering::Relaxed);
        steps.fetch_add(record.beliefs.len() as u64, Ordering::Relaxed);
        checker::check(&record)
    });
    println!("{schedules} schedules, {steps:?} steps, {requests:?} requests");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_same_seed_gives_the_same_trace_byte_for_byte() {
    let wrong = survey(0..200, |seed| {
        let (one, other) = (run(seed).text(), run(seed).text());
        if one == other { Vec::new() } else { vec!["two runs differ".to_owned()] }
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_ne!(run(1).text(), run(2).text());
}

/// A judge that never complains proves nothing: the same run, told otherwise than it was, must not pass.
#[test]
fn the_judge_sees_a_lie_a_storm_a_leak_and_a_double() {
    let is_end = |belief: &Belief| belief.said == Said::Succeeded;
    // One whose end the model can confirm: nobody else was there, and nothing was hidden.
    let is_plain = |record: &Record| {
        let end = record.beliefs.iter().find(|belief| is_end(belief));
        let begun = end.is_some_and(|end| record.azure.begun_by(&end.correlation).next().is_some());
        begun && record.actors == 1 && record.seen.iter().all(|seen| seen.status != 404)
    };
    let honest = || (0..SCHEDULES).map(run).find(is_plain).unwrap();
    assert_eq!(checker::check(&honest()), Vec::<String>::new());
    let complains = |what: &str, lie: &dyn Fn(&mut Record)| {
        let mut record = honest();
        lie(&mut record);
        let wrong = checker::check(&record).join("\n");
        assert!(wrong.contains(what), "{what}: {wrong}");
    };
    let end = |record: &Record| record.beliefs.iter().position(is_end).unwrap();
    complains("the model accepted it", &|record| {
        let end = end(record);
        record.beliefs[end].said = Said::NotApplied;
    });
    complains("the model has", &|record| {
        let end = end(record);
        record.beliefs[end].said = Said::Failed;
    });
    complains("not within", &|record| record.beliefs[0].bound = 0);
    complains("shows a token", &|record| record.beliefs[0].error = "Bearer eyJ0eXAi".to_owned());
    complains("was sent to", &|record| record.seen[0].host = "elsewhere.example".to_owned());
    complains("attempts", &|record| {
        let again = vec![record.seen[0].clone(); 6];
        record.seen.extend(again);
    });
    complains("although the budget allows", &|record| {
        record.limits.reads = mooring_arm::Limit::per_second_milli(0, 0);
        record.limits.writes = mooring_arm::Limit::per_second_milli(0, 0);
        let again = vec![record.seen[0].clone(); 2];
        record.seen.extend(again);
    });
    complains("done 2 times", &|record| {
        let accepted = record.seen.iter().position(|seen| seen.is_write() && seen.is_accepted());
        let mut once = record.seen[accepted.unwrap()].clone();
        once.method = "POST".to_owned();
        once.request_id = "doubled".to_owned();
        record.seen.extend([once.clone(), once]);
    });
}
