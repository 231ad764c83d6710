//! What happens by itself, until nothing more does.
//!
//! Every write puts the object, and those that it may move, on a list of work; whoever acts by itself looks at that
//! list and at what it leads to, never at all objects.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::index::{Place, owners};
use super::model::Kubernetes;
use super::objects::{self, Key};
use super::store::{Change, ChangeKind};

/// What is due, and when.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    /// The latest time that the model was told.
    pub(crate) now: Option<Timestamp>,
    /// What was written since the last look, and what that may move.
    work: Work,
    /// When pods start or end.
    pub(crate) pods: PodTimes,
    /// Definitions that are being deleted.
    pub(crate) removed_definitions: BTreeSet<String>,
}

/// Objects to look at, in order.
#[derive(Debug, Default)]
pub(crate) struct Work(BTreeSet<Place>);

impl Work {
    /// The objects of one table.
    pub(crate) fn of<'a>(&'a self, table: &'a str) -> impl Iterator<Item = &'a Key> {
        self.all().filter(move |place| place.table == table).map(|place| &place.key)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Place> {
        self.0.iter()
    }

    pub(crate) fn concerns(&self, table: &str) -> bool {
        self.of(table).next().is_some()
    }
}

/// For each pod the time of its next change.
#[derive(Debug, Default)]
pub(crate) struct PodTimes {
    by_pod: BTreeMap<Key, Timestamp>,
    by_time: BTreeSet<(Timestamp, Key)>,
}

impl PodTimes {
    pub(crate) fn set(&mut self, pod: &Key, time: Option<Timestamp>) {
        if let Some(old) = self.by_pod.remove(pod) {
            self.by_time.remove(&(old, pod.clone()));
        }
        if let Some(time) = time {
            self.by_pod.insert(pod.clone(), time);
            self.by_time.insert((time, pod.clone()));
        }
    }

    fn next(&self) -> Option<Timestamp> {
        self.by_time.first().map(|(time, _)| *time)
    }

    fn take_due(&mut self, now: Timestamp) -> Vec<Key> {
        let mut due = Vec::new();
        while self.next().is_some_and(|time| time <= now)
            && let Some((_, pod)) = self.by_time.pop_first()
        {
            self.by_pod.remove(&pod);
            due.push(pod);
        }
        due
    }
}

/// Enough rounds for any cascade; a bound, so that a mistake is not an endless loop.
const ROUNDS: usize = 1_000;

impl Kubernetes {
    /// Notes a write: the object, its owners, and what depends on it if it goes.
    pub(crate) fn note_work(&mut self, table: &str, change: &Change) {
        if !self.options.controllers {
            return;
        }
        let index = self.store.index();
        let work = &mut self.timers.work.0;
        work.insert(Place::new(table, &change.key));
        for object in change.previous.iter().chain([&change.object]) {
            work.extend(owners(&object.value).filter_map(|uid| index.place_of(uid)).cloned());
        }
        let value = &change.object.value;
        if change.kind == ChangeKind::Deleted || objects::is_being_deleted(value) {
            work.extend(index.dependents(objects::uid(value)).cloned());
        }
    }

    /// Lets happen whatever is due.
    pub fn settle(&mut self, now: Timestamp) {
        self.timers.now = Some(now);
        self.settle_watches(now);
        let due = self.timers.pods.take_due(now);
        self.timers.work.0.extend(due.iter().map(|key| Place::new("pods", key)));
        for _ in 0..ROUNDS {
            let mut changed = self.settle_definitions(now);
            let work = std::mem::take(&mut self.timers.work);
            if !work.0.is_empty() {
                changed = true;
                self.settle_nodes(&work, now);
                self.settle_workloads(&work, now);
                self.settle_scheduling(&work, now);
                self.settle_pods(&work, now);
                self.settle_budgets(&work, now);
                self.settle_garbage(&work, now);
                self.settle_namespaces(now);
            }
            if !changed {
                break;
            }
        }
    }

    /// When something happens next if nobody does anything.
    #[must_use]
    pub fn next_change(&self) -> Option<Timestamp> {
        let now = (!self.timers.work.0.is_empty()).then(|| self.clock());
        [now, self.timers.pods.next(), self.next_watch_change()].into_iter().flatten().min()
    }
}
