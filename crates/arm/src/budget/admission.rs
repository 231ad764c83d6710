//! The shared budget, in which requests wait until they may be sent.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::select;
use http::HeaderMap;
use jiff::Timestamp;
use tokio::sync::Notify;

use crate::budget::BucketName;
use crate::budget::bucket::{Bucket, BudgetLimits, Priority};
use crate::metrics::BucketLevel;
use crate::world::World;

/// Maximum length of the queue. More is a bug of the caller, which has its own queues.
pub(super) const MAX_WAITING: usize = 4096;

/// The shared budget. Clones share its state.
#[derive(Clone)]
pub struct Budget(Arc<Shared>);

struct Shared {
    state: Mutex<Requests>,
    /// A request left the queue without being sent, so that the next ones may be sent earlier.
    canceled: Notify,
}

/// Reason why a request is not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotAdmitted {
    /// Too many requests are waiting.
    Full,
    /// Azure accepts none before the deadline.
    Closed,
}

impl Budget {
    pub fn new(limits: BudgetLimits) -> Self {
        let state = Requests { limits, ..Requests::default() };
        Self(Arc::new(Shared { state: Mutex::new(state), canceled: Notify::new() }))
    }

    /// Waits until a request may be sent, counts it, and returns the waiting time. If dropped before that, it leaves
    /// the queue and is not counted.
    pub(crate) async fn admit(
        &self,
        world: &dyn World,
        names: &[BucketName],
        priority: Priority,
        deadline: Timestamp,
    ) -> Result<Duration, NotAdmitted> {
        let ticket = self.join(names, priority)?;
        let mut waited = Duration::ZERO;
        loop {
            if self.lock().is_closed(names, deadline) {
                return Err(NotAdmitted::Closed);
            }
            let canceled = self.0.canceled.notified();
            futures::pin_mut!(canceled);
            canceled.as_mut().enable();
            let wait = match self.lock().admit(ticket.place, world.now()) {
                Ok(()) => return Ok(waited),
                Err(wait) => wait,
            };
            let began = world.now();
            let _ = select(world.sleep(wait), canceled).await;
            waited += Duration::try_from(world.now().duration_since(began)).unwrap_or_default();
        }
    }

    fn join(&self, names: &[BucketName], priority: Priority) -> Result<Ticket<'_>, NotAdmitted> {
        let mut state = self.lock();
        if state.queue.len() >= MAX_WAITING {
            return Err(NotAdmitted::Full);
        }
        state.tickets += 1;
        let place = (priority, state.tickets);
        state.queue.insert(place, names.to_vec());
        Ok(Ticket { budget: self, place })
    }

    /// Returns the levels of all buckets except those of single VMs.
    pub(crate) fn levels(&self, now: Timestamp) -> Vec<BucketLevel> {
        let mut state = self.lock();
        let single =
            state.buckets.iter_mut().filter(|(name, _)| !matches!(name, BucketName::Vm(_)));
        single
            .map(|(name, bucket)| BucketLevel {
                bucket: name.as_str(),
                left: bucket.remaining(now),
                burst: bucket.burst(),
            })
            .collect()
    }

    /// Returns the number of waiting requests, of VMs with a bucket, and of requests for VMs without one.
    pub(crate) fn counts(&self) -> (usize, usize, u64) {
        let state = self.lock();
        let vms = state.buckets.keys().filter(|name| matches!(name, BucketName::Vm(_))).count();
        (state.queue.len(), vms, state.unwatched_vms)
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Requests> {
        // Every change is complete before the lock is released, so a panic elsewhere leaves the state consistent.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Budget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Budget").finish_non_exhaustive()
    }
}

/// A place in the queue, released when dropped.
struct Ticket<'a> {
    budget: &'a Budget,
    place: (Priority, u64),
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        let is_canceled = self.budget.lock().queue.remove(&self.place).is_some();
        if is_canceled {
            self.budget.0.canceled.notify_waiters();
        }
    }
}

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

/// Maximum pause after a 429, regardless of `Retry-After`.
const MAX_PAUSE: Duration = Duration::from_mins(5);

impl Budget {
    /// Lowers the buckets to the remaining requests in the headers.
    pub(crate) fn learn(&self, now: Timestamp, names: &[BucketName], headers: &HeaderMap) {
        let mut state = self.lock();
        for (name, left) in remaining(headers) {
            if names.contains(&name)
                && let Some(bucket) = state.buckets.get_mut(&name)
            {
                bucket.at_most(now, left);
            }
        }
    }

    /// Closes a bucket after a 429: the resource manager's if `gate` is set, otherwise the one of the service.
    pub(crate) fn throttled(
        &self,
        now: Timestamp,
        names: &[BucketName],
        gate: bool,
        pause: Option<Duration>,
    ) {
        let name = if gate { names.first() } else { names.last() };
        if let Some(name) = name
            && let Some(bucket) = self.lock().buckets.get_mut(name)
        {
            bucket.close(now, pause.unwrap_or(Duration::from_secs(1)).min(MAX_PAUSE));
        }
    }
}

fn remaining(headers: &HeaderMap) -> Vec<(BucketName, u32)> {
    let number =
        |header: &str| -> Option<u32> { headers.get(header)?.to_str().ok()?.trim().parse().ok() };
    let single = [
        ("x-ms-ratelimit-remaining-subscription-reads", BucketName::Reads),
        ("x-ms-ratelimit-remaining-subscription-writes", BucketName::Writes),
        ("x-ms-ratelimit-remaining-subscription-deletes", BucketName::Writes),
        ("x-ms-user-quota-remaining", BucketName::Graph),
    ];
    let mut remaining: Vec<(BucketName, u32)> =
        single.into_iter().filter_map(|(header, name)| Some((name, number(header)?))).collect();
    // `Microsoft.Compute/HighCostGetSubscriptionMaximum;895,Microsoft.Compute/…;…`
    for value in headers.get_all("x-ms-ratelimit-remaining-resource") {
        for part in value.to_str().unwrap_or_default().split(',') {
            let Some((policy, left)) = part.trim().rsplit_once(';') else { continue };
            let policy = policy.to_ascii_lowercase();
            let name = match policy.rsplit('/').next().unwrap_or_default() {
                policy if policy.starts_with("highcostget") => BucketName::ComputeLists,
                policy if policy.starts_with("lowcostget") && policy.contains("subscription") => {
                    BucketName::ComputeReads
                }
                policy if policy.starts_with("getoperation") => BucketName::ComputeOperations,
                _ => continue,
            };
            if let Ok(left) = left.trim().parse() {
                remaining.push((name, left));
            }
        }
    }
    remaining
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remaining_requests_are_read_from_headers() {
        let mut headers = HeaderMap::new();
        let mut put =
            |name: &'static str, value: &str| headers.append(name, value.parse().unwrap());
        put("x-ms-ratelimit-remaining-subscription-reads", "249");
        put("x-ms-ratelimit-remaining-subscription-writes", "many");
        put(
            "x-ms-ratelimit-remaining-resource",
            "Microsoft.Compute/HighCostGetVMScaleSet3Min;177,Microsoft.Compute/LowCostGetSubscriptionMaximum;23998",
        );
        put(
            "x-ms-ratelimit-remaining-resource",
            "Microsoft.Compute/GetOperation3Min;5, nonsense, Microsoft.Compute/PutVM3Min;2, Microsoft.Compute/LowCostGetResource3Min;11",
        );
        put("x-ms-user-quota-remaining", "14");
        assert_eq!(
            remaining(&headers),
            [
                (BucketName::Reads, 249),
                (BucketName::Graph, 14),
                (BucketName::ComputeLists, 177),
                (BucketName::ComputeReads, 23_998),
                (BucketName::ComputeOperations, 5)
            ]
        );
    }
}
