//! How much may be asked of Azure: token buckets shared by everything in the process.
//!
//! A request is counted in all buckets that Azure counts it in. Whoever asks waits in one line, ordered by
//! priority and then by arrival, and goes when every bucket holds enough for it *and for everyone ahead of it*:
//! so nobody is overtaken within a priority, and one who waits for a busy VM does not hold up the others.
//! Lower priorities leave a reserve in each bucket, so that a trigger finds tokens also during a sweep.

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

/// How many may wait. More is a mistake of the caller, which has queues of its own that know what matters.
const MAX_WAITING: usize = 4096;
/// How many VMs are watched at a time: about 200 bytes each, so 2 MiB at most.
const MAX_VMS: usize = 10_000;
/// However long Azure asks us to stay away, we look again after this.
const MAX_PAUSE: Duration = Duration::from_mins(5);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// What will be gone in seconds, such as a VM that is about to be deleted.
    Trigger,
    /// What a person or a running repair waits for.
    Interactive,
    Routine,
    /// Looks at everything, in no hurry.
    Sweep,
}

impl Priority {
    /// How much of each bucket is left to those who come first, in percent.
    const fn reserve(self) -> u32 {
        match self {
            Self::Trigger => 0,
            Self::Interactive => 10,
            Self::Routine => 25,
            Self::Sweep => 50,
        }
    }
}

/// The shared budget. A clone is the same budget.
#[derive(Clone)]
pub struct Budget(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    /// Someone left the line without going: those behind may go earlier than they reckoned.
    left: Notify,
}

struct State {
    limits: Limits,
    buckets: BTreeMap<Name, Bucket>,
    line: BTreeMap<(Priority, u64), Vec<Name>>,
    tickets: u64,
    unwatched_vms: u64,
}

/// Too many wait already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too many calls wait for the request budget")]
pub struct BudgetFull;

impl Budget {
    /// Full buckets of these sizes.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        let state = State {
            limits,
            buckets: BTreeMap::new(),
            line: BTreeMap::new(),
            tickets: 0,
            unwatched_vms: 0,
        };
        Self(Arc::new(Shared { state: Mutex::new(state), left: Notify::new() }))
    }

    /// Waits until a request may be sent, and counts it. Tells how long that took. Dropped before, it leaves
    /// the line and has cost nothing.
    pub(crate) async fn admit(
        &self,
        world: &dyn World,
        names: &[Name],
        priority: Priority,
    ) -> Result<Duration, BudgetFull> {
        let ticket = self.join(names, priority)?;
        let mut waited = Duration::ZERO;
        loop {
            let left = self.0.left.notified();
            futures::pin_mut!(left);
            left.as_mut().enable();
            let wait = match self.lock().admit(ticket.place, world.now()) {
                Ok(()) => return Ok(waited),
                Err(wait) => wait,
            };
            let began = world.now();
            match select(world.sleep(wait), left).await {
                Either::Left(_) | Either::Right(_) => {}
            }
            waited += Duration::try_from(world.now().duration_since(began)).unwrap_or_default();
        }
    }

    fn join(&self, names: &[Name], priority: Priority) -> Result<Ticket<'_>, BudgetFull> {
        let mut state = self.lock();
        if state.line.len() >= MAX_WAITING {
            return Err(BudgetFull);
        }
        state.tickets += 1;
        let place = (priority, state.tickets);
        state.line.insert(place, names.to_vec());
        Ok(Ticket { budget: self, place })
    }

    /// What is left in each bucket; of single VMs only how many are watched.
    pub(crate) fn levels(&self, now: Timestamp) -> Vec<BucketLevel> {
        let mut state = self.lock();
        let single = state.buckets.iter_mut().filter(|(name, _)| !matches!(name, Name::Vm(_)));
        single
            .map(|(name, bucket)| BucketLevel {
                bucket: name.word(),
                left: bucket.left(now),
                burst: bucket.burst(),
            })
            .collect()
    }

    /// How many wait now, how many VMs are watched, and how often a VM could not be watched.
    pub(crate) fn counts(&self) -> (usize, usize, u64) {
        let state = self.lock();
        let vms = state.buckets.keys().filter(|name| matches!(name, Name::Vm(_))).count();
        (state.line.len(), vms, state.unwatched_vms)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change is whole before the lock goes, so a panic elsewhere leaves nothing torn.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Budget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Budget").finish_non_exhaustive()
    }
}

impl State {
    /// Takes from all buckets of the one at this place, or tells how long to wait.
    fn admit(&mut self, place: (Priority, u64), now: Timestamp) -> Result<(), Duration> {
        let Some(own) = self.line.get(&place).cloned() else { return Ok(()) };
        let own: Vec<Name> = own.into_iter().filter(|name| self.watch(name, now)).collect();
        let mut wait = Duration::ZERO;
        for name in &own {
            let ahead = self.line.range(..place).filter(|(_, names)| names.contains(name)).count();
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
                // There is enough: it was looked at above, under the same lock.
                let _ = bucket.take(now, 1, 0);
            }
        }
        self.line.remove(&place);
        Ok(())
    }

    /// Makes the bucket if there is none. False if there are too many VMs to watch another one.
    fn watch(&mut self, name: &Name, now: Timestamp) -> bool {
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

/// A place in the line, given up when dropped.
struct Ticket<'a> {
    budget: &'a Budget,
    place: (Priority, u64),
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        let waited_in_vain = self.budget.lock().line.remove(&self.place).is_some();
        if waited_in_vain {
            self.budget.0.left.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests;
