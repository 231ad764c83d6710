//! The shared budget, in which requests wait until they may be sent.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::select;
use jiff::Timestamp;
use tokio::sync::Notify;

use super::bucket::BudgetLimits;
use super::bucket::Priority;
use super::requests::Requests;
use super::routes::BucketName;
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
