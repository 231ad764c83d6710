//! Counters of the client.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::request::Class;

/// Counters since the start and current levels.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Metrics {
    /// Requests sent, by class (`read`, `idempotent`, `once`) and outcome (`200`, `429`, `no_answer`, `unsent`).
    pub requests: BTreeMap<(&'static str, String), u64>,
    pub retries: u64,
    /// Responses with status 429.
    pub throttled: u64,
    pub deadlines: u64,
    /// Requests that waited for the budget.
    pub waits: u64,
    /// Total time of those waits.
    pub waited: Duration,
    /// Calls rejected because the budget's queue was full.
    pub budget_full: u64,
    pub waiting: usize,
    pub watched_vms: usize,
    /// Requests for VMs without a bucket because there are too many.
    pub unwatched_vms: u64,
    pub buckets: Vec<BucketLevel>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BucketLevel {
    pub bucket: &'static str,
    pub left: u32,
    pub burst: u32,
}

#[derive(Debug, Default)]
pub(crate) struct Counters(Mutex<Metrics>);

impl Counters {
    pub(crate) fn sent(&self, class: Class, outcome: String, attempt: u32) {
        self.count(|metrics| {
            metrics.throttled += u64::from(outcome == "429");
            metrics.retries += u64::from(attempt > 1);
            *metrics.requests.entry((class.as_str(), outcome)).or_default() += 1;
        });
    }

    pub(crate) fn waited(&self, waited: Duration) {
        if waited > Duration::ZERO {
            self.count(|metrics| {
                metrics.waits += 1;
                metrics.waited += waited;
            });
        }
    }

    pub(crate) fn deadline(&self) {
        self.count(|metrics| metrics.deadlines += 1);
    }

    pub(crate) fn budget_full(&self) {
        self.count(|metrics| metrics.budget_full += 1);
    }

    pub(crate) fn snapshot(&self) -> Metrics {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn count(&self, change: impl FnOnce(&mut Metrics)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
