//! Token buckets, and the published limits of Azure that they keep.

use std::time::Duration;

use jiff::Timestamp;

/// A token bucket's size and refill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BucketLimit {
    pub burst: u32,
    /// Thousandths of a request per second.
    pub milli_per_second: u32,
}

impl BucketLimit {
    pub const fn per_second_milli(burst: u32, milli_per_second: u32) -> Self {
        Self { burst, milli_per_second }
    }

    /// Creates a limit from requests per minute, rounded down.
    pub const fn per_minute(burst: u32, per_minute: u32) -> Self {
        Self { burst, milli_per_second: per_minute * 50 / 3 }
    }

    /// Returns a part of the limit, at least 1.
    #[must_use]
    pub fn percent(self, percent: u32) -> Self {
        let part = |whole: u32| {
            u32::try_from(u64::from(whole) * u64::from(percent) / 100).unwrap_or(u32::MAX).max(1)
        };
        Self { burst: part(self.burst), milli_per_second: part(self.milli_per_second) }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BudgetLimits {
    /// The resource manager's reads, per subscription, region and principal: 250, refilled at 25/s.
    pub reads: BucketLimit,
    /// Its writes and deletes: 200, refilled at 10/s.
    pub writes: BucketLimit,
    /// Compute: reads of one VM, instance view included: 12 a minute, 36 at once.
    pub vm_reads: BucketLimit,
    /// Compute: reads of single VMs in the subscription: 8,000 a minute.
    pub compute_reads: BucketLimit,
    /// Compute: lists: 300 a minute, 900 at once.
    pub compute_lists: BucketLimit,
    /// Compute: writes: 500 a minute, 1,500 at once.
    pub compute_writes: BucketLimit,
    /// Compute: states of operations: 5,000 a minute.
    pub compute_operations: BucketLimit,
    /// AKS: everything but the two below, per subscription: 60, refilled at 1/s.
    pub aks: BucketLimit,
    /// AKS: reads of clusters: 60, refilled at 1/s.
    pub aks_clusters: BucketLimit,
    /// AKS: states of operations: 200, refilled at 2/s.
    pub aks_operations: BucketLimit,
    /// Resource Graph: 15 queries in 5 s.
    pub graph: BucketLimit,
}

impl Default for BudgetLimits {
    fn default() -> Self {
        Self {
            reads: BucketLimit::per_second_milli(250, 25_000),
            writes: BucketLimit::per_second_milli(200, 10_000),
            vm_reads: BucketLimit::per_minute(36, 12),
            compute_reads: BucketLimit::per_minute(24_000, 8_000),
            compute_lists: BucketLimit::per_minute(900, 300),
            compute_writes: BucketLimit::per_minute(1_500, 500),
            compute_operations: BucketLimit::per_minute(15_000, 5_000),
            aks: BucketLimit::per_second_milli(60, 1_000),
            aks_clusters: BucketLimit::per_second_milli(60, 1_000),
            aks_operations: BucketLimit::per_second_milli(200, 2_000),
            graph: BucketLimit::per_second_milli(15, 3_000),
        }
    }
}

impl BudgetLimits {
    /// Returns a share of all limits, for a process that must leave the rest to other clients.
    #[must_use]
    pub fn share(&self, percent: u32) -> Self {
        Self {
            reads: self.reads.percent(percent),
            writes: self.writes.percent(percent),
            vm_reads: self.vm_reads.percent(percent),
            compute_reads: self.compute_reads.percent(percent),
            compute_lists: self.compute_lists.percent(percent),
            compute_writes: self.compute_writes.percent(percent),
            compute_operations: self.compute_operations.percent(percent),
            aks: self.aks.percent(percent),
            aks_clusters: self.aks_clusters.percent(percent),
            aks_operations: self.aks_operations.percent(percent),
            graph: self.graph.percent(percent),
        }
    }
}

/// Parts of a token: at a rate of `n` thousandths of a token per second, `n` parts are added each nanosecond.
const TOKEN: u128 = 1_000_000_000_000;

/// A token bucket.
#[derive(Debug, Clone)]
pub struct Bucket {
    limit: BucketLimit,
    level: u128,
    at: Timestamp,
    /// End of the pause that Azure requested.
    closed_until: Option<Timestamp>,
}

impl Bucket {
    pub fn full(limit: BucketLimit, now: Timestamp) -> Self {
        Self { limit, level: u128::from(limit.burst) * TOKEN, at: now, closed_until: None }
    }

    /// Takes `cost` tokens if `cost + reserve` are available; otherwise returns the time until then.
    pub fn take(&mut self, now: Timestamp, cost: u32, reserve: u32) -> Result<(), Duration> {
        match self.wait(now, cost, reserve) {
            Duration::ZERO => {
                self.level = self.level.saturating_sub(u128::from(cost) * TOKEN);
                Ok(())
            }
            wait => Err(wait),
        }
    }

    /// Returns the time until `cost + reserve` tokens, at most the bucket's size, are available.
    pub fn wait(&mut self, now: Timestamp, cost: u32, reserve: u32) -> Duration {
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// Reads of resources that will be deleted within seconds.
    Trigger,
    /// Reads that a user or a running repair waits for.
    Interactive,
    Routine,
    /// Reads of everything, not urgent.
    Sweep,
}

impl Priority {
    /// Returns the percentage of each bucket that is reserved for higher priorities.
    pub(super) const fn reserve(self) -> u32 {
        match self {
            Self::Trigger => 0,
            Self::Interactive => 10,
            Self::Routine => 25,
            Self::Sweep => 50,
        }
    }
}

#[cfg(test)]
mod limits_tests {
    use super::*;

    #[test]
    fn half_of_the_reads_is_125_at_12_5_per_second() {
        let half = BudgetLimits::default().share(50);
        assert_eq!(half.reads, BucketLimit::per_second_milli(125, 12_500));
        assert_eq!(half.aks, BucketLimit::per_second_milli(30, 500));
        assert_eq!(half.vm_reads, BucketLimit::per_second_milli(18, 100));
        assert_eq!(BudgetLimits::default().share(0).graph, BucketLimit::per_second_milli(1, 1));
    }
}

#[cfg(test)]
mod bucket_tests {
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
