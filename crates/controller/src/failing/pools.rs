//! Pools whose last nodes all failed.

use std::collections::{BTreeMap, VecDeque};

use jiff::{SignedDuration, Timestamp};

use crate::record::FailureRecord;

const MIN_FAILURES: usize = 3;
const MAX_FAILURES: usize = 50;
const MAX_POOLS: usize = 512;
/// Time after the last failure at which a pool no longer counts as failing.
const FAILING_TTL: SignedDuration = SignedDuration::from_hours(24);

/// Outcomes of each pool, in any order.
#[derive(Debug, Default)]
pub struct PoolWatch {
    pools: BTreeMap<String, PoolOutcomes>,
}

#[derive(Debug, Default)]
struct PoolOutcomes {
    joined: Option<Timestamp>,
    /// Times of the last failures.
    failures: VecDeque<Timestamp>,
    last: Option<Box<FailureRecord>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailingPool {
    pub pool: String,
    /// Failures since a node joined; at most 50 are counted.
    pub failed: u32,
    pub last: FailureRecord,
}

impl PoolWatch {
    pub fn joined(&mut self, pool: &str, at: Timestamp) {
        if let Some(outcomes) = self.outcomes(pool) {
            outcomes.joined = outcomes.joined.max(Some(at));
        }
    }

    /// Counts a failure. What only an event reports is not evidence.
    pub fn failed(&mut self, entry: &FailureRecord) {
        if entry.unconfirmed {
            return;
        }
        let Some(outcomes) = self.outcomes(&entry.pool) else { return };
        outcomes.failures.push_back(entry.at);
        if outcomes.failures.len() > MAX_FAILURES {
            outcomes.failures.pop_front();
        }
        if outcomes.last.as_ref().is_none_or(|last| last.at <= entry.at) {
            outcomes.last = Some(Box::new(entry.clone()));
        }
    }

    pub fn failing(&self, now: Timestamp) -> Vec<FailingPool> {
        let failing = self.pools.iter().filter_map(|(pool, outcomes)| {
            let last = outcomes.last.as_ref()?;
            let since = outcomes.failures.iter().filter(|at| outcomes.joined < Some(**at));
            let failed = since.count();
            let is_failing = failed >= MIN_FAILURES && now.duration_since(last.at) <= FAILING_TTL;
            is_failing.then(|| FailingPool {
                pool: pool.clone(),
                failed: u32::try_from(failed).unwrap_or(u32::MAX),
                last: (**last).clone(),
            })
        });
        failing.collect()
    }

    /// Returns none for a standalone NodeClaim, and above the limit.
    fn outcomes(&mut self, pool: &str) -> Option<&mut PoolOutcomes> {
        let known = self.pools.contains_key(pool) || self.pools.len() < MAX_POOLS;
        (known && !pool.is_empty()).then(|| self.pools.entry(pool.to_owned()).or_default())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + seconds).unwrap()
    }

    fn entry(pool: &str, seconds: i64) -> FailureRecord {
        serde_json::from_value(json!({
            "id": format!("{pool}-{seconds}"), "at": at(seconds), "uid": "u", "nodeClaim": "c", "pool": pool,
            "node": "aks-c", "reason": "CSEFailed", "message": "m", "note": "n", "key": "k", "cause": "X",
        }))
        .unwrap()
    }

    fn failing(watch: &PoolWatch, seconds: i64) -> Vec<(String, u32, Timestamp)> {
        let failing = watch.failing(at(seconds)).into_iter();
        failing.map(|pool| (pool.pool, pool.failed, pool.last.at)).collect()
    }

    #[test]
    fn pool_fails_after_three_failures_since_a_node_joined() {
        let mut watch = PoolWatch::default();
        watch.joined("a", at(10));
        // A failure of the same moment is not later than the node that joined.
        for seconds in [9, 10, 11, 12] {
            watch.failed(&entry("a", seconds));
        }
        assert_eq!(failing(&watch, 20), []);
        watch.failed(&entry("a", 13));
        assert_eq!(failing(&watch, 20), [("a".to_owned(), 3, at(13))]);
        // Earlier outcomes may arrive later.
        watch.joined("a", at(8));
        watch.failed(&entry("a", 1));
        assert_eq!(failing(&watch, 20), [("a".to_owned(), 3, at(13))]);
        watch.joined("a", at(14));
        assert_eq!(failing(&watch, 20), []);
    }

    #[test]
    fn pool_fails_for_a_day_after_its_last_failure() {
        let mut watch = PoolWatch::default();
        for seconds in 1..=3 {
            watch.failed(&entry("a", seconds));
        }
        let day = FAILING_TTL.as_secs();
        assert_eq!(failing(&watch, 3 + day).len(), 1);
        assert_eq!(failing(&watch, 4 + day).len(), 0);
    }

    #[test]
    fn unconfirmed_and_standalone_failures_are_not_of_a_pool() {
        let mut watch = PoolWatch::default();
        for seconds in 1..=9 {
            watch.failed(&FailureRecord { unconfirmed: true, ..entry("a", seconds) });
            watch.failed(&entry("", seconds));
        }
        assert_eq!((failing(&watch, 9), watch.pools.len()), (vec![], 0));
    }

    #[test]
    fn failures_and_pools_are_bounded() {
        let mut watch = PoolWatch::default();
        for seconds in 1..=50 {
            watch.failed(&entry("a", seconds));
        }
        assert_eq!(failing(&watch, 60), [("a".to_owned(), 50, at(50))]);
        watch.failed(&entry("a", 51));
        assert_eq!(watch.pools["a"].failures.front(), Some(&at(2)), "the oldest is dropped");
        assert_eq!(failing(&watch, 60), [("a".to_owned(), 50, at(51))]);
        for pool in 0..2 * MAX_POOLS {
            watch.joined(&format!("pool-{pool}"), at(1));
        }
        assert_eq!(watch.pools.len(), MAX_POOLS);
        watch.joined("a", at(52));
        assert_eq!(failing(&watch, 60), [], "a known pool is still counted");
    }
}
