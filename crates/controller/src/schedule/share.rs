//! Our share of what Azure lets one identity read.

use jiff::Timestamp;
use mooring_arm::{Limit, Limits};

/// Half of what Azure lets an identity read, so that whatever else uses the identity, or shares the
/// subscription's limits, is never starved by us: 125 at once and 12.5 a second. The client of Azure is
/// held to the same limits; this copy only decides *which* reads are asked for, so that a trigger never
/// stands in line behind looks that could wait.
pub fn ours() -> Limits {
    Limits::default().share(50)
}

/// What is kept for triggers. 200 nodes that fail at once need 200 reads: with 90 at once and 12.5 a
/// second the last is read after 8.8 s.
pub const KEPT_FOR_TRIGGERS: f64 = 90.0;

/// Reads that events ask for: 30 at once and one every two seconds, so at most 60 in any minute. They are asked for
/// after every scheduled read that is due, and only from the part of the budget that scheduled reads use.
const EVENT_READS: Limit = Limit::per_second_milli(30, 500);

/// A bucket that fills with time.
#[derive(Clone, Debug)]
pub struct Share {
    limit: Limit,
    tokens: f64,
    at: Timestamp,
}

impl Share {
    /// A full one, for all reads.
    #[must_use]
    pub fn new(now: Timestamp) -> Self {
        Self::full(ours().reads, now)
    }

    /// A full one, for the reads that events ask for.
    #[must_use]
    pub fn for_events(now: Timestamp) -> Self {
        Self::full(EVENT_READS, now)
    }

    fn full(limit: Limit, now: Timestamp) -> Self {
        Self { limit, tokens: f64::from(limit.burst), at: now }
    }

    /// Whether one can be taken that leaves at least `kept`.
    pub fn has(&mut self, kept: f64, now: Timestamp) -> bool {
        self.fill(now);
        self.tokens >= kept + 1.0
    }

    /// Takes one if that leaves at least `kept`.
    pub fn take(&mut self, kept: f64, now: Timestamp) -> bool {
        let may = self.has(kept, now);
        if may {
            self.tokens -= 1.0;
        }
        may
    }

    pub fn left(&self) -> f64 {
        self.tokens
    }

    fn fill(&mut self, now: Timestamp) {
        let passed = now.duration_since(self.at).as_secs_f64();
        // A clock that was set back gives nothing and takes nothing.
        let gained = passed.max(0.0) * f64::from(self.limit.milli_per_second) / 1000.0;
        self.tokens = (self.tokens + gained).min(f64::from(self.limit.burst));
        self.at = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: i64) -> Timestamp {
        Timestamp::from_millisecond(1_800_000_000_000 + milliseconds).unwrap()
    }

    #[test]
    fn never_more_than_half_of_what_azure_allows() {
        let mut share = Share::new(at(0));
        let taken = (0..60_000).step_by(10).filter(|now| share.take(0.0, at(*now))).count();
        assert!((870..=875).contains(&taken), "125 + 60 s × 12.5 = 875, was {taken}");
    }

    #[test]
    fn events_get_at_most_sixty_reads_in_any_minute() {
        let mut share = Share::for_events(at(0));
        let taken: Vec<i64> =
            (0..300_000).step_by(10).filter(|now| share.take(0.0, at(*now))).collect();
        for (first, from) in taken.iter().enumerate() {
            let within = taken[first..].iter().take_while(|at| **at < from + 60_000).count();
            assert!(within <= 60, "{within} from {from} ms on");
        }
        assert_eq!(taken.len(), 30 + 149);
    }

    #[test]
    fn background_reads_leave_enough_for_200_failures_at_once() {
        let mut share = Share::new(at(0));
        while share.take(KEPT_FOR_TRIGGERS, at(0)) {}
        let mut now = 0;
        let mut read = 0;
        while read < 200 {
            if share.take(0.0, at(now)) { read += 1 } else { now += 10 }
        }
        assert!(now <= 9_000, "{now} ms");
    }

    #[test]
    fn a_clock_that_is_set_back_gives_nothing() {
        let mut share = Share::new(at(10_000));
        while share.take(0.0, at(10_000)) {}
        assert!(!share.take(0.0, at(0)));
        assert!(share.take(0.0, at(1_000)));
    }
}
