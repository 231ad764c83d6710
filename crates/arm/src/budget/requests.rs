//! Waiting requests, and the buckets that they take from.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;

use super::bucket::Bucket;
use super::bucket::BudgetLimits;
use super::bucket::Priority;
use super::routes::BucketName;

/// Maximum number of VMs with a bucket: about 200 bytes each, so 2 MiB at most.
pub(super) const MAX_VMS: usize = 10_000;

#[derive(Default)]
pub(super) struct Requests {
    pub(super) limits: BudgetLimits,
    pub(super) buckets: BTreeMap<BucketName, Bucket>,
    pub(super) queue: BTreeMap<(Priority, u64), Vec<BucketName>>,
    pub(super) tickets: u64,
    pub(super) unwatched_vms: u64,
}

impl Requests {
    /// Takes from all buckets of the request at this place, or returns how long to wait.
    pub(super) fn admit(&mut self, place: (Priority, u64), now: Timestamp) -> Result<(), Duration> {
        let Some(own) = self.queue.get(&place).cloned() else { return Ok(()) };
        let own: Vec<BucketName> =
            own.into_iter().filter(|name| self.ensure_bucket(name, now)).collect();
        let mut wait = Duration::ZERO;
        for name in &own {
            let ahead = self.queue.range(..place).filter(|(_, names)| names.contains(name)).count();
            let ahead = u32::try_from(ahead).unwrap_or(u32::MAX);
            if let Some(bucket) = self.buckets.get_mut(name) {
                let reserve = bucket.burst() * place.0.reserve() / 100;
                wait = wait.max(bucket.wait(now, 1, reserve.saturating_add(ahead)));
            }
        }
        if wait > Duration::ZERO {
            return Err(wait);
        }
        for name in &own {
            if let Some(bucket) = self.buckets.get_mut(name) {
                // There is enough: it was checked above, under the same lock.
                let _ = bucket.take(now, 1, 0);
            }
        }
        self.queue.remove(&place);
        Ok(())
    }

    /// Returns true if Azure asked for a pause that lasts until the deadline.
    pub(super) fn is_closed(&self, names: &[BucketName], deadline: Timestamp) -> bool {
        let mut buckets = names.iter().filter_map(|name| self.buckets.get(name));
        buckets.any(|bucket| bucket.is_closed_until(deadline))
    }

    /// Creates the bucket if it does not exist. Returns false if there are too many VMs.
    pub(super) fn ensure_bucket(&mut self, name: &BucketName, now: Timestamp) -> bool {
        if self.buckets.contains_key(name) {
            return true;
        }
        if matches!(name, BucketName::Vm(_)) && self.buckets.len() >= MAX_VMS {
            self.buckets
                .retain(|name, bucket| !matches!(name, BucketName::Vm(_)) || !bucket.is_idle(now));
            if self.buckets.len() >= MAX_VMS {
                self.unwatched_vms += 1;
                return false;
            }
        }
        self.buckets.insert(name.clone(), Bucket::full(name.limit(&self.limits), now));
        true
    }
}
