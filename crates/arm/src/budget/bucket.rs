//! A token bucket in whole numbers, so that rounding causes no additional waits.

use std::time::Duration;

use jiff::Timestamp;

use super::limits::BucketLimit;

/// Parts of a token: at a rate of `n` thousandths of a token per second, `n` parts are added each nanosecond.
const TOKEN: u128 = 1_000_000_000_000;

#[derive(Debug, Clone)]
pub(crate) struct Bucket {
    limit: BucketLimit,
    level: u128,
    at: Timestamp,
    /// End of the pause that Azure requested.
    closed_until: Option<Timestamp>,
}

impl Bucket {
    pub(crate) fn full(limit: BucketLimit, now: Timestamp) -> Self {
        Self { limit, level: u128::from(limit.burst) * TOKEN, at: now, closed_until: None }
    }

    /// Takes `cost` tokens if `cost + reserve` are available; otherwise returns the time until then.
    pub(crate) fn take(&mut self, now: Timestamp, cost: u32, reserve: u32) -> Result<(), Duration> {
        match self.wait(now, cost, reserve) {
            Duration::ZERO => {
                self.level = self.level.saturating_sub(u128::from(cost) * TOKEN);
                Ok(())
            }
            wait => Err(wait),
        }
    }

    /// Returns the time until `cost + reserve` tokens, at most the bucket's size, are available.
    pub(crate) fn wait(&mut self, now: Timestamp, cost: u32, reserve: u32) -> Duration {
        self.refill(now);
        let needed = u128::from(cost.saturating_add(reserve).min(self.limit.burst)) * TOKEN;
        let lacking = needed.saturating_sub(self.level);
        let nanos = lacking.div_ceil(u128::from(self.limit.milli_per_second.max(1)));
        let refill = Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        refill.max(self.closed_until.map_or(Duration::ZERO, |until| between(now, until)))
    }

    /// Lowers the level to what Azure reported. Never raises it: other clients may use the same bucket.
    pub(crate) fn at_most(&mut self, now: Timestamp, left: u32) {
        self.refill(now);
        self.level = self.level.min(u128::from(left) * TOKEN);
    }

    /// Empties the bucket and closes it for a pause, after a 429.
    pub(crate) fn close(&mut self, now: Timestamp, pause: Duration) {
        self.refill(now);
        self.level = 0;
        let until = now.checked_add(pause).unwrap_or(now);
        self.closed_until = Some(self.closed_until.map_or(until, |before| before.max(until)));
    }

    /// Returns true if the pause that Azure requested lasts until `time`.
    pub(crate) fn is_closed_until(&self, time: Timestamp) -> bool {
        self.closed_until.is_some_and(|until| until >= time)
    }

    pub(crate) fn remaining(&mut self, now: Timestamp) -> u32 {
        self.refill(now);
        u32::try_from(self.level / TOKEN).unwrap_or(u32::MAX)
    }

    pub(crate) fn burst(&self) -> u32 {
        self.limit.burst
    }

    /// Returns true if the bucket is full and open, like a new one, and can be removed.
    pub(crate) fn is_idle(&mut self, now: Timestamp) -> bool {
        self.refill(now);
        self.level == u128::from(self.limit.burst) * TOKEN && self.closed_until.is_none()
    }

    fn refill(&mut self, now: Timestamp) {
        // A clock that jumps back adds and removes nothing.
        let gained = between(self.at, now).as_nanos() * u128::from(self.limit.milli_per_second);
        self.at = now;
        self.level = self.level.saturating_add(gained).min(u128::from(self.limit.burst) * TOKEN);
        if self.closed_until.is_some_and(|until| until <= now) {
            self.closed_until = None;
        }
    }
}

/// Returns the time from `from` to `to`, or zero.
fn between(from: Timestamp, to: Timestamp) -> Duration {
    Duration::try_from(to.duration_since(from)).unwrap_or(Duration::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millisecond(1_000_000 + millis).unwrap()
    }

    #[test]
    fn bucket_holds_its_burst_and_refills_at_its_rate() {
        // 12.5 tokens a second: one each 80 ms.
        let mut bucket = Bucket::full(BucketLimit::per_second_milli(3, 12_500), at(0));
        for _ in 0..3 {
            assert_eq!(bucket.take(at(0), 1, 0), Ok(()));
        }
        assert_eq!(bucket.take(at(0), 1, 0), Err(Duration::from_millis(80)));
        assert_eq!(bucket.take(at(79), 1, 0), Err(Duration::from_millis(1)));
        assert_eq!(bucket.take(at(80), 1, 0), Ok(()));
        assert_eq!(bucket.remaining(at(10_000)), 3);
    }

    #[test]
    fn returned_wait_is_always_sufficient() {
        for rate in [1, 7, 200, 333, 12_500, 133_333] {
            let mut bucket = Bucket::full(BucketLimit::per_second_milli(1, rate), at(0));
            bucket.take(at(0), 1, 0).unwrap();
            let wait = bucket.take(at(0), 1, 0).unwrap_err();
            assert_eq!(bucket.take(at(0).checked_add(wait).unwrap(), 1, 0), Ok(()), "{rate}");
        }
    }

    #[test]
    fn reserve_remains_for_higher_priorities() {
        let mut bucket = Bucket::full(BucketLimit::per_second_milli(10, 1000), at(0));
        for _ in 0..5 {
            bucket.take(at(0), 1, 5).unwrap();
        }
        assert_eq!(bucket.take(at(0), 1, 5), Err(Duration::from_secs(1)));
        assert_eq!(bucket.take(at(0), 1, 0), Ok(()));
    }

    #[test]
    fn throttling_closes_the_bucket_also_if_the_clock_jumps_back() {
        let mut bucket = Bucket::full(BucketLimit::per_second_milli(10, 1000), at(0));
        bucket.close(at(0), Duration::from_secs(17));
        assert_eq!(bucket.take(at(16_000), 1, 0), Err(Duration::from_secs(1)));
        assert_eq!(bucket.take(at(-5000), 1, 0), Err(Duration::from_secs(22)));
        assert_eq!(bucket.take(at(17_000), 1, 0), Ok(()));
    }

    #[test]
    fn reported_level_only_lowers_the_bucket() {
        let mut bucket = Bucket::full(BucketLimit::per_second_milli(250, 25_000), at(0));
        bucket.at_most(at(0), 11_999);
        assert_eq!(bucket.remaining(at(0)), 250);
        bucket.at_most(at(0), 2);
        assert_eq!(bucket.remaining(at(0)), 2);
    }
}
