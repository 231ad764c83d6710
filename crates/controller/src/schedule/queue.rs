use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use jiff::Timestamp;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QueuePriority {
    /// The NodeClaim was deleted, so its VM is deleted within seconds.
    Trigger,
    /// A sweep showed a result on the VM.
    Sweep,
    /// The node is starting.
    Pending,
    /// Requested by an event. Last, because others can write events.
    Event,
}

/// NodeClaims to read, by time and then by priority.
#[derive(Debug, Default)]
pub struct Queue {
    slots: HashMap<Arc<str>, Slot>,
    later: BTreeSet<(Timestamp, Arc<str>)>,
    /// Due, sorted by priority, then age.
    due: BTreeSet<(QueuePriority, Timestamp, Arc<str>)>,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    at: Timestamp,
    priority: QueuePriority,
    /// Decides among equal priorities.
    launched: Timestamp,
    is_due: bool,
}

impl Queue {
    pub fn set(
        &mut self,
        uid: &Arc<str>,
        at: Timestamp,
        priority: QueuePriority,
        launched: Timestamp,
    ) {
        self.remove(uid);
        self.later.insert((at, Arc::clone(uid)));
        self.slots.insert(Arc::clone(uid), Slot { at, priority, launched, is_due: false });
    }

    pub fn remove(&mut self, uid: &Arc<str>) {
        if let Some(slot) = self.slots.remove(uid) {
            if slot.is_due {
                self.due.remove(&(slot.priority, slot.launched, Arc::clone(uid)));
            } else {
                self.later.remove(&(slot.at, Arc::clone(uid)));
            }
        }
    }

    /// Moves entries that are due.
    pub fn advance(&mut self, now: Timestamp) {
        while let Some((at, uid)) = self.later.first().cloned() {
            if at > now {
                return;
            }
            self.later.pop_first();
            if let Some(slot) = self.slots.get_mut(&uid) {
                slot.is_due = true;
                self.due.insert((slot.priority, slot.launched, uid));
            }
        }
    }

    pub fn first(&self) -> Option<(QueuePriority, &Arc<str>)> {
        self.due.first().map(|(priority, _, uid)| (*priority, uid))
    }

    pub fn next_at(&self) -> Option<Timestamp> {
        self.later.first().map(|(at, _)| *at)
    }

    pub fn uids(&self) -> impl Iterator<Item = &Arc<str>> {
        self.slots.keys()
    }

    pub fn len(&self) -> usize {
        self.slots.len()
    }

    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Returns the number of NodeClaims that are due and not taken.
    pub fn waiting(&self) -> usize {
        self.due.len()
    }
}
