//! The time of the next change of each pod.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::kubernetes::store::objects::Key;

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

    pub(crate) fn next(&self) -> Option<Timestamp> {
        self.by_time.first().map(|(time, _)| *time)
    }

    pub(crate) fn take_due(&mut self, now: Timestamp) -> Vec<Key> {
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
