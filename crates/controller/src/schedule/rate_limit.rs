//! The controller's part of Azure's rate limit of an identity.

use jiff::Timestamp;
use mooring_arm::{BucketLimit, BudgetLimits};

/// Returns half of Azure's limits of an identity, so that other users of the identity or the subscription are
/// not throttled: 125 at once and 12.5 a second. The Azure client has the same limits; this copy decides
/// *which* reads are requested, so that a trigger never waits for reads that could wait.
pub fn controller_limits() -> BudgetLimits {
    BudgetLimits::default().share(50)
}

/// Reserve for triggers. 200 nodes that fail at once need 200 reads: with 90 at once and 12.5 a second the
/// last is read after 8.8 s.
pub const TRIGGER_RESERVE: f64 = 90.0;

/// Reads requested by events: 30 at once and one every two seconds, so at most 60 in any minute. They are sent after
/// every scheduled read that is due, and only from the part of the rate limit that scheduled reads use.
const EVENT_READS: BucketLimit = BucketLimit::per_second_milli(30, 500);

#[derive(Clone, Debug)]
pub struct RateLimit {
    limit: BucketLimit,
    tokens: f64,
    at: Timestamp,
}

impl RateLimit {
    /// Returns a full bucket for all reads.
    #[must_use]
    pub fn new(now: Timestamp) -> Self {
        Self::full(controller_limits().reads, now)
    }

    /// Returns a full bucket for the reads requested by events.
    #[must_use]
    pub fn for_events(now: Timestamp) -> Self {
        Self::full(EVENT_READS, now)
    }

    fn full(limit: BucketLimit, now: Timestamp) -> Self {
        Self { limit, tokens: f64::from(limit.burst), at: now }
    }

    /// Returns true if one token can be taken that leaves at least `kept`.
    pub fn has(&mut self, kept: f64, now: Timestamp) -> bool {
        self.fill(now);
        self.tokens >= kept + 1.0
    }

    /// Takes one token if that leaves at least `kept`.
    pub fn take(&mut self, kept: f64, now: Timestamp) -> bool {
        let may = self.has(kept, now);
        if may {
            self.tokens -= 1.0;
        }
        may
    }

    pub fn available(&self) -> f64 {
        self.tokens
    }

    fn fill(&mut self, now: Timestamp) {
        let passed = now.duration_since(self.at).as_secs_f64();
        // A clock that was set back adds and removes nothing.
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
    fn rate_limit_is_half_of_the_azure_limit() {
        let mut limit = RateLimit::new(at(0));
        let taken = (0..60_000).step_by(10).filter(|now| limit.take(0.0, at(*now))).count();
        assert!((870..=875).contains(&taken), "125 + 60 s × 12.5 = 875, was {taken}");
    }

    #[test]
    fn events_request_at_most_60_reads_per_minute() {
        let mut limit = RateLimit::for_events(at(0));
        let taken: Vec<i64> =
            (0..300_000).step_by(10).filter(|now| limit.take(0.0, at(*now))).collect();
        for (first, from) in taken.iter().enumerate() {
            let within = taken[first..].iter().take_while(|at| **at < from + 60_000).count();
            assert!(within <= 60, "{within} from {from} ms on");
        }
        assert_eq!(taken.len(), 30 + 149);
    }

    #[test]
    fn background_reads_leave_enough_for_200_failures_at_once() {
        let mut limit = RateLimit::new(at(0));
        while limit.take(TRIGGER_RESERVE, at(0)) {}
        let mut now = 0;
        let mut read = 0;
        while read < 200 {
            if limit.take(0.0, at(now)) { read += 1 } else { now += 10 }
        }
        assert!(now <= 9_000, "{now} ms");
    }

    #[test]
    fn rate_limit_shows_what_is_left() {
        let mut limit = RateLimit::new(at(0));
        let is_left = |limit: &RateLimit, tokens: f64| (limit.available() - tokens).abs() < 0.01;
        assert!(is_left(&limit, 125.0));
        assert!(limit.take(0.0, at(0)) && limit.take(123.0, at(0)));
        assert!(!limit.take(123.0, at(0)) && !limit.has(123.0, at(0)));
        assert!(is_left(&limit, 123.0));
        assert!(limit.has(122.0, at(0)) && limit.has(123.0, at(80)));
        assert!(is_left(&limit, 124.0), "12.5 a second");
    }

    #[test]
    fn rate_limit_ignores_a_clock_set_back() {
        let mut limit = RateLimit::new(at(10_000));
        while limit.take(0.0, at(10_000)) {}
        assert!(!limit.take(0.0, at(0)));
        assert!(limit.take(0.0, at(1_000)));
    }
}
