//! Pools whose last nodes all failed.

use std::collections::{BTreeMap, VecDeque};

use jiff::{SignedDuration, Timestamp};

use crate::record::Entry;

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
    last: Option<Box<Entry>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailingPool {
    pub pool: String,
    /// Failures since a node joined; at most 50 are counted.
    pub failed: u32,
    pub last: Entry,
}

impl PoolWatch {
    pub fn joined(&mut self, pool: &str, at: Timestamp) {
        if let Some(outcomes) = self.outcomes(pool) {
            outcomes.joined = outcomes.joined.max(Some(at));
        }
    }

    /// Counts a failure. What only an event reports is not evidence.
    pub fn failed(&mut self, entry: &Entry) {
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
