//! Rate limits of Azure as token buckets, shared by the whole process.
//!
//! A request is counted in all buckets that Azure counts it in. Requests wait in one queue, ordered by priority and
//! arrival, and are sent when every bucket has enough for them *and for all requests ahead*: so none is overtaken
//! within a priority, and a request for a busy VM does not block the others. Lower priorities keep a reserve in each
//! bucket, so that a trigger finds tokens during a sweep.

mod bucket;
mod feedback;
mod limits;
mod routes;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::{Either, select};
use jiff::Timestamp;
use tokio::sync::Notify;

use crate::metrics::BucketLevel;
use crate::world::World;
use bucket::Bucket;
pub use limits::{Limit, Limits};
pub(crate) use routes::{Name, buckets};

/// Maximum length of the queue. More is a bug of the caller, which has its own queues.
const MAX_WAITING: usize = 4096;
/// Maximum number of VMs with a bucket: about 200 bytes each, so 2 MiB at most.
const MAX_VMS: usize = 10_000;
/// Maximum pause after a 429, regardless of `Retry-After`.
const MAX_PAUSE: Duration = Duration::from_mins(5);

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
    const fn reserve(self) -> u32 {
        match self {
            Self::Trigger => 0,
            Self::Interactive => 10,
            Self::Routine => 25,
            Self::Sweep => 50,
        }
    }
}

/// The shared budget. Clones share its state.
#[derive(Clone)]
pub struct Budget(Arc<Shared>);

struct Shared {
    state: Mutex<Requests>,
    /// A request left the queue without being sent, so that the next ones may be sent earlier.
    canceled: Notify,
}

struct Requests {
    limits: Limits,
    buckets: BTreeMap<Name, Bucket>,
    queue: BTreeMap<(Priority, u64), Vec<Name>>,
    tickets: u64,
    unwatched_vms: u64,
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
    pub fn new(limits: Limits) -> Self {
        let state = Requests {
            limits,
            buckets: BTreeMap::new(),
            queue: BTreeMap::new(),
            tickets: 0,
            unwatched_vms: 0,
        };
        Self(Arc::new(Shared { state: Mutex::new(state), canceled: Notify::new() }))
    }

    /// Waits until a request may be sent, counts it, and returns the waiting time. If dropped before that, it leaves
    /// the queue and is not counted.
    pub(crate) async fn admit(
        &self,
        world: &dyn World,
        names: &[Name],
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
            match select(world.sleep(wait), canceled).await {
                Either::Left(_) | Either::Right(_) => {}
            }
            waited += Duration::try_from(world.now().duration_since(began)).unwrap_or_default();
        }
    }

    fn join(&self, names: &[Name], priority: Priority) -> Result<Ticket<'_>, NotAdmitted> {
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
        let single = state.buckets.iter_mut().filter(|(name, _)| !matches!(name, Name::Vm(_)));
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
        let vms = state.buckets.keys().filter(|name| matches!(name, Name::Vm(_))).count();
        (state.queue.len(), vms, state.unwatched_vms)
    }

    fn lock(&self) -> MutexGuard<'_, Requests> {
        // Every change is complete before the lock is released, so a panic elsewhere leaves the state consistent.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Budget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Budget").finish_non_exhaustive()
    }
}

impl Requests {
    /// Takes from all buckets of the request at this place, or returns how long to wait.
    fn admit(&mut self, place: (Priority, u64), now: Timestamp) -> Result<(), Duration> {
        let Some(own) = self.queue.get(&place).cloned() else { return Ok(()) };
        let own: Vec<Name> = own.into_iter().filter(|name| self.ensure_bucket(name, now)).collect();
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
    fn is_closed(&self, names: &[Name], deadline: Timestamp) -> bool {
        let mut buckets = names.iter().filter_map(|name| self.buckets.get(name));
        buckets.any(|bucket| bucket.is_closed_until(deadline))
    }

    /// Creates the bucket if it does not exist. Returns false if there are too many VMs.
    fn ensure_bucket(&mut self, name: &Name, now: Timestamp) -> bool {
        if self.buckets.contains_key(name) {
            return true;
        }
        if matches!(name, Name::Vm(_)) && self.buckets.len() >= MAX_VMS {
            self.buckets
                .retain(|name, bucket| !matches!(name, Name::Vm(_)) || !bucket.is_idle(now));
            if self.buckets.len() >= MAX_VMS {
                self.unwatched_vms += 1;
                return false;
            }
        }
        self.buckets.insert(name.clone(), Bucket::full(name.limit(&self.limits), now));
        true
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

#[cfg(test)]
mod tests;
