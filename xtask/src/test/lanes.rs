//! Assigns suites to lanes, and orders them.

use std::collections::BTreeSet;

use super::build::Suite;

/// The main activity of a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lane {
    Processor,
    /// Suites that start processes and wait for them.
    Waiting,
}

/// Scope of a suite under `--quick`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quick {
    Run,
    Skip,
}

/// Suites that run at the same time: what two of them leave of two cores while they wait is enough for the third.
pub(super) const CONCURRENT: [Lane; 3] = [Lane::Processor, Lane::Waiting, Lane::Waiting];

/// Tests of the lane `waiting` wait for two thirds of their time.
const WAITING_THREADS: [&str; 2] = ["--test-threads", "4"];

/// Tests in modules of this name are skipped by `--quick`.
const SLOW: &str = "slow::";

/// The suites that are not short computations, with the seconds that they take on two cores.
const TABLE: &[(&str, Lane, f64, Quick)] = &[
    ("repair/it", Lane::Processor, 180.0, Quick::Run),
    ("controller/it", Lane::Processor, 120.0, Quick::Run),
    ("arm/it", Lane::Processor, 45.0, Quick::Run),
    ("simulator/conformance", Lane::Processor, 15.0, Quick::Run),
    ("mooring/lib", Lane::Processor, 12.0, Quick::Run),
    ("controller/lib", Lane::Processor, 12.0, Quick::Run),
    ("doc-tests", Lane::Processor, 6.0, Quick::Run),
    ("mooring/e2e", Lane::Waiting, 200.0, Quick::Skip),
    ("mooring-lab/it", Lane::Waiting, 170.0, Quick::Skip),
    ("mooring/it", Lane::Waiting, 160.0, Quick::Run),
    ("page/browser", Lane::Waiting, 100.0, Quick::Skip),
    ("finalizers/it", Lane::Waiting, 100.0, Quick::Run),
    ("agent/it", Lane::Waiting, 65.0, Quick::Run),
    ("simulator/external", Lane::Waiting, 30.0, Quick::Skip),
    ("testbed/it", Lane::Waiting, 5.0, Quick::Skip),
];

fn row(name: &str) -> (Lane, f64, Quick) {
    let found = TABLE.iter().find(|(known, ..)| *known == name);
    found.map_or((Lane::Processor, 1.0, Quick::Run), |(_, lane, seconds, quick)| {
        (*lane, *seconds, *quick)
    })
}

/// Returns the arguments of a test binary.
pub(super) fn arguments(suite: &str, is_quick: bool) -> Vec<&'static str> {
    let (lane, ..) = row(suite);
    let mut arguments = vec!["--show-output"];
    if lane == Lane::Waiting {
        arguments.extend(WAITING_THREADS);
    }
    if is_quick {
        arguments.extend(["--skip", SLOW]);
    }
    arguments
}

/// The suites of a run, longest first.
pub(super) struct LanePlan {
    /// Suites that have not been taken.
    left: Vec<Suite>,
    /// Suites that `--quick` does not run.
    pub(super) skipped: Vec<Suite>,
    /// Of all suites.
    names: BTreeSet<String>,
}

impl LanePlan {
    pub(super) fn new(mut suites: Vec<Suite>, quick: bool) -> Self {
        let names = suites.iter().map(|suite| suite.name.clone()).collect();
        suites.sort_by(|one, other| row(&other.name).1.total_cmp(&row(&one.name).1));
        let is_skipped = |suite: &Suite| quick && row(&suite.name).2 == Quick::Skip;
        let (skipped, left) = suites.into_iter().partition(is_skipped);
        Self { left, skipped, names }
    }

    /// Returns the number of suites that have not been taken.
    pub(super) fn len(&self) -> usize {
        self.left.len()
    }

    /// Takes the next suite of a lane, or of the other one when that lane is empty.
    pub(super) fn next(&mut self, lane: Lane) -> Option<Suite> {
        let own = self.left.iter().position(|suite| row(&suite.name).0 == lane);
        (!self.left.is_empty()).then(|| self.left.remove(own.unwrap_or_default()))
    }

    /// Returns names in the table without a suite.
    pub(super) fn stale_rows(&self) -> Vec<&'static str> {
        let names = TABLE.iter().map(|(name, ..)| *name);
        names.filter(|name| !self.names.contains(*name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Lane, LanePlan, Quick, Suite, TABLE, arguments};

    fn suite(name: &str) -> Suite {
        Suite {
            name: name.to_owned(),
            directory: "/r".into(),
            package: Default::default(),
            program: "/r/suite".into(),
            arguments: &[],
        }
    }

    fn known(lane: Lane) -> &'static str {
        TABLE.iter().find(|(_, of, ..)| *of == lane).unwrap().0
    }

    fn order(plan: &mut LanePlan, lane: Lane) -> Vec<String> {
        std::iter::from_fn(|| plan.next(lane)).map(|suite| suite.name).collect()
    }

    #[test]
    fn longest_suite_runs_first() {
        let (long, ..) = TABLE.iter().max_by(|one, other| one.2.total_cmp(&other.2)).unwrap();
        let mut plan = LanePlan::new(["a/new", long].map(suite).to_vec(), false);
        let lane = TABLE.iter().find(|(name, ..)| name == long).unwrap().1;
        assert_eq!(order(&mut plan, lane), [*long, "a/new"]);
    }

    #[test]
    fn empty_lane_takes_from_the_other() {
        let (waits, computes) = (known(Lane::Waiting), known(Lane::Processor));
        let make = || LanePlan::new([computes, waits].map(suite).to_vec(), false);
        assert_eq!(order(&mut make(), Lane::Waiting), [waits, computes]);
        assert_eq!(order(&mut make(), Lane::Processor), [computes, waits]);
    }

    #[test]
    fn quick_run_skips_suites_that_need_tools() {
        let slow = TABLE.iter().find(|(.., quick)| *quick == Quick::Skip).unwrap().0;
        let make = |quick| LanePlan::new(vec![suite(slow)], quick);
        assert_eq!((make(false).len(), make(false).skipped.len()), (1, 0));
        assert_eq!((make(true).len(), make(true).skipped.len()), (0, 1));
    }

    #[test]
    fn quick_run_skips_slow_modules() {
        assert_eq!(arguments("a/new", false), ["--show-output"]);
        assert_eq!(arguments("a/new", true), ["--show-output", "--skip", "slow::"]);
    }

    #[test]
    fn suite_that_waits_has_more_threads() {
        let threads = |lane| arguments(known(lane), false).contains(&"--test-threads");
        assert!(threads(Lane::Waiting) && !threads(Lane::Processor));
    }

    #[test]
    fn table_row_without_suite_is_reported() {
        let plan = LanePlan::new(vec![suite(TABLE[0].0)], false);
        assert_eq!(plan.stale_rows().len(), TABLE.len() - 1);
        assert!(!plan.stale_rows().contains(&TABLE[0].0));
    }
}
