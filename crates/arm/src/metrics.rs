//! Counters of the client.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::request_class::Class;

/// Counters since the start and current levels.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ArmMetrics {
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
pub(crate) struct Counters(Mutex<ArmMetrics>);

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

    pub(crate) fn snapshot(&self) -> ArmMetrics {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn count(&self, change: impl FnOnce(&mut ArmMetrics)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_event_is_counted_once() {
        let counters = Counters::default();
        for (outcome, attempt) in [("500", 1), ("429", 2), ("429", 3), ("200", 4)] {
            counters.sent(Class::Read, outcome.to_owned(), attempt);
        }
        counters.sent(Class::Once, "200".to_owned(), 1);
        for milliseconds in [0, 20, 30] {
            counters.waited(Duration::from_millis(milliseconds));
        }
        (0..2).for_each(|_| counters.deadline());
        (0..3).for_each(|_| counters.budget_full());
        let requests = [
            (("read", "500"), 1),
            (("read", "429"), 2),
            (("read", "200"), 1),
            (("once", "200"), 1),
        ];
        let requests =
            requests.map(|((class, outcome), count)| ((class, outcome.to_owned()), count));
        let expected = ArmMetrics {
            requests: requests.into(),
            retries: 3,
            throttled: 2,
            deadlines: 2,
            waits: 2,
            waited: Duration::from_millis(50),
            budget_full: 3,
            ..ArmMetrics::default()
        };
        assert_eq!(counters.snapshot(), expected);
    }
}
