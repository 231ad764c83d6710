//! Ids of outcomes that are counted.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use super::half_hour::HalfHour;

/// Outcomes become known within minutes; hours pass while Azure throttles, or until a watch recovers.
const REMEMBERED: SignedDuration = SignedDuration::from_hours(6);
/// More than 5,000 nodes that are replaced three times within the time above.
const MAX_IDS: usize = 16_384;
/// An id is stored as 8 characters. Two of 16,384 have the same one in 1 of 2 million documents.
pub(super) const ID_BYTES: usize = 6;

pub(super) fn id_of(hash: u64) -> u64 {
    hash & ((1 << (8 * ID_BYTES)) - 1)
}

/// Recent outcomes by id, and the time before which every outcome counts as counted.
///
/// The time advances only with writes, so outcomes of a time without a controller are counted by the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedIds {
    settled_before: Timestamp,
    ids: BTreeMap<u64, HalfHour>,
}

/// The counts as a new leader finds them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredCounts {
    Missing,
    /// Not changed, and nothing is counted.
    Unreadable,
    Counted(CountedIds),
}

impl CountedIds {
    /// Returns no ids; outcomes before this time are not to be counted.
    #[must_use]
    pub fn new(settled_before: Timestamp) -> Self {
        Self { settled_before, ids: BTreeMap::new() }
    }

    pub(super) fn restore(&mut self, half_hour: HalfHour, ids: impl Iterator<Item = u64>) {
        self.ids.extend(ids.map(|id| (id, half_hour)));
    }

    pub(super) fn settled_before(&self) -> Timestamp {
        self.settled_before
    }

    /// Returns ids by half hour.
    pub(super) fn by_half_hour(&self) -> BTreeMap<HalfHour, Vec<u64>> {
        let mut half_hours: BTreeMap<HalfHour, Vec<u64>> = BTreeMap::new();
        for (id, half_hour) in &self.ids {
            half_hours.entry(*half_hour).or_default().push(*id);
        }
        half_hours
    }

    /// Returns true if outcomes of this time are counted, or are not to be.
    pub fn is_settled(&self, at: Timestamp) -> bool {
        at < self.settled_before
    }

    pub(super) fn contains(&self, id: u64) -> bool {
        self.ids.contains_key(&id)
    }

    /// Adds an outcome. Returns false if it is counted already.
    pub fn insert(&mut self, id: u64, at: Timestamp) -> bool {
        if self.is_settled(at) || self.ids.contains_key(&id) {
            return false;
        }
        self.ids.insert(id, HalfHour::of(at));
        true
    }

    /// Corrects a time in the future, with which nothing would be counted.
    pub fn clamp(&mut self, now: Timestamp) {
        if self.settled_before > now {
            self.settled_before = HalfHour::of(now).start();
        }
    }

    /// Forgets outcomes that are too old to become known again.
    pub fn prune(&mut self, now: Timestamp) {
        let oldest = HalfHour::of(now.saturating_sub(REMEMBERED).unwrap_or(Timestamp::MIN));
        self.forget_before(oldest);
        while self.ids.len() > MAX_IDS {
            let first = self.ids.values().min().copied();
            match first.filter(|first| *first < HalfHour::of(now)) {
                Some(first) => self.forget_before(first.next()),
                // More than the limit within this half hour: the rest could be counted again after a kill.
                None => while self.ids.len() > MAX_IDS && self.ids.pop_last().is_some() {},
            }
        }
    }

    fn forget_before(&mut self, half_hour: HalfHour) {
        self.settled_before = self.settled_before.max(half_hour.start());
        self.ids.retain(|_, at| *at >= half_hour);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + seconds).unwrap()
    }

    #[test]
    fn id_has_six_bytes() {
        assert_eq!((id_of(5), id_of(u64::MAX), id_of(1 << 48)), (5, 0xffff_ffff_ffff, 0));
    }

    #[test]
    fn time_in_the_future_is_corrected_and_others_are_kept() {
        let clamped = |seconds| {
            let mut counted = CountedIds::new(at(seconds));
            counted.clamp(at(10));
            counted.settled_before()
        };
        assert_eq!((clamped(9), clamped(10)), (at(9), at(10)));
        assert_eq!(clamped(11), HalfHour::of(at(10)).start());
    }

    #[test]
    fn oldest_half_hours_are_forgotten_above_the_limit() {
        let (old, new) = (at(0), at(3600));
        for (of_old, of_new, expected) in [
            (1, MAX_IDS - 1, (MAX_IDS, false)),
            (1, MAX_IDS, (MAX_IDS, true)),
            (2, MAX_IDS - 1, (MAX_IDS - 1, true)),
            (0, MAX_IDS, (MAX_IDS, false)),
            (0, MAX_IDS + 2, (MAX_IDS, false)),
        ] {
            let mut counted = CountedIds::new(at(-3600));
            for id in 0..of_old + of_new {
                assert!(counted.insert(id as u64, if id < of_old { old } else { new }));
            }
            counted.prune(new);
            assert_eq!((counted.ids.len(), counted.is_settled(old)), expected, "{of_old} {of_new}");
        }
    }

    #[test]
    fn ids_are_remembered_for_six_hours() {
        let mut counted = CountedIds::new(at(0));
        assert!(counted.insert(1, at(0)) && !counted.insert(1, at(5)));
        let hours = REMEMBERED.as_secs();
        counted.prune(at(hours));
        assert!(counted.contains(1) && !counted.is_settled(at(0)));
        counted.prune(at(hours + 1800));
        assert!(!counted.contains(1) && counted.is_settled(at(0)) && !counted.insert(1, at(0)));
    }
}
