//! Published limits of Azure, and the share that is used.

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

#[cfg(test)]
mod tests {
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
