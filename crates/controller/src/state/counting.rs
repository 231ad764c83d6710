//! Outcomes of nodes that wait to be counted.

use std::collections::HashMap;

use jiff::{SignedDuration, Timestamp};
use mooring_nodes::record::counts::{CountedIds, CountedNode, StoredCounts};
use mooring_nodes::verdict::after;

/// Time for outcomes of the same moment to be written together.
const COLLECT: SignedDuration = SignedDuration::from_secs(5);
const WRITE_INTERVAL: SignedDuration = SignedDuration::from_mins(1);
/// Pause after a write that failed in spite of its retries.
const FAILURE_PAUSE: SignedDuration = SignedDuration::from_mins(5);
/// Outcomes that wait while the counts cannot be written.
const MAX_PENDING: usize = 16_384;

#[derive(Debug, Default)]
pub(super) struct Counting {
    /// None if the counts are unreadable: nothing is counted.
    counted: Option<CountedIds>,
    pending: Vec<CountedNode>,
    /// Pending failures by pool.
    failures: HashMap<String, usize>,
    write_at: Option<Timestamp>,
    written_at: Option<Timestamp>,
    lost: u64,
}

impl Counting {
    pub(super) fn load(&mut self, stored: StoredCounts, now: Timestamp) {
        self.counted = match stored {
            StoredCounts::Unreadable => None,
            StoredCounts::Counted(mut counted) => {
                counted.clamp(now);
                Some(counted)
            }
            // Created before anything is counted, so that a kill loses nothing of this term.
            StoredCounts::Missing => {
                self.write_at = Some(now);
                Some(CountedIds::new(Timestamp::from_second(now.as_second()).unwrap_or(now)))
            }
        };
    }

    /// Adds an outcome, unless it is counted. `max_failures` of one pool are written at once.
    pub(super) fn add(&mut self, outcome: CountedNode, max_failures: usize, now: Timestamp) {
        let Some(counted) = &mut self.counted else { return };
        if !counted.insert(outcome.id, outcome.at.min(now)) {
            return;
        }
        let collected = after(now, COLLECT);
        let paused = self.written_at.map(|at| after(at, WRITE_INTERVAL));
        self.write_at.get_or_insert(paused.map_or(collected, |paused| collected.max(paused)));
        if outcome.cause.is_some() {
            let failures = self.failures.entry(outcome.pool.clone()).or_default();
            *failures += 1;
            if *failures >= max_failures {
                self.write_at = Some(now);
            }
        }
        self.pending.push(outcome);
    }

    pub(super) fn requeue(&mut self, outcomes: Vec<CountedNode>, now: Timestamp) {
        self.pending.splice(..0, outcomes);
        let above = self.pending.len().saturating_sub(MAX_PENDING);
        self.pending.drain(..above);
        self.lost += above as u64;
        self.write_at = now.checked_add(FAILURE_PAUSE).ok();
    }

    /// Returns true if a node that joined then is to be counted.
    pub(super) fn is_open(&self, joined: Timestamp) -> bool {
        self.counted.as_ref().is_some_and(|counted| !counted.is_settled(joined))
    }

    pub(super) fn next_at(&self) -> Option<Timestamp> {
        self.write_at
    }

    pub(super) fn lost(&self) -> u64 {
        self.lost
    }

    pub(super) fn take_due(&mut self, now: Timestamp) -> Option<Vec<CountedNode>> {
        self.write_at.filter(|at| *at <= now)?;
        (self.write_at, self.written_at) = (None, Some(now));
        self.failures.clear();
        if let Some(counted) = &mut self.counted {
            counted.prune(now);
        }
        Some(std::mem::take(&mut self.pending))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + seconds).unwrap()
    }

    fn outcome(number: usize, cause: Option<&str>) -> CountedNode {
        CountedNode::new(&format!("uid-{number}"), at(0), "default", "i", cause)
    }

    fn counting() -> Counting {
        let mut counting = Counting::default();
        counting.load(StoredCounts::Counted(CountedIds::new(at(0))), at(0));
        counting
    }

    #[test]
    fn outcomes_are_collected_and_written_once_a_minute() {
        let mut counting = counting();
        assert_eq!((counting.next_at(), counting.take_due(at(9))), (None, None));
        counting.add(outcome(1, None), 9, at(10));
        counting.add(outcome(1, None), 9, at(11));
        counting.add(outcome(2, None), 9, at(12));
        assert_eq!((counting.next_at(), counting.take_due(at(14))), (Some(at(15)), None));
        assert_eq!(counting.take_due(at(15)), Some(vec![outcome(1, None), outcome(2, None)]));
        counting.add(outcome(3, None), 9, at(16));
        assert_eq!(counting.next_at(), Some(at(75)));
        assert_eq!(counting.take_due(at(75)).map(|outcomes| outcomes.len()), Some(1));
        counting.add(outcome(4, None), 9, at(200));
        assert_eq!(counting.next_at(), Some(at(205)));
    }

    #[test]
    fn failures_are_written_before_the_record_drops_them() {
        let mut counting = counting();
        counting.add(outcome(1, Some("X")), 2, at(10));
        counting.add(outcome(2, None), 2, at(10));
        assert_eq!(counting.next_at(), Some(at(15)));
        counting.add(outcome(3, Some("X")), 2, at(11));
        assert_eq!(counting.next_at(), Some(at(11)));
        assert_eq!(counting.take_due(at(11)).map(|outcomes| outcomes.len()), Some(3));
        counting.add(outcome(4, Some("X")), 2, at(12));
        assert_eq!(counting.next_at(), Some(at(71)), "counted from the last write");
    }

    #[test]
    fn failed_write_is_repeated_after_five_minutes_and_bounded() {
        let mut counting = counting();
        counting.add(outcome(1, None), 9, at(10));
        counting.requeue(vec![outcome(2, None)], at(11));
        assert_eq!((counting.next_at(), counting.lost()), (Some(at(311)), 0));
        let pending = counting.take_due(at(311)).unwrap();
        assert_eq!(pending, [outcome(2, None), outcome(1, None)], "the oldest first");
        counting.requeue(vec![outcome(3, None); MAX_PENDING + 2], at(400));
        assert_eq!((counting.pending.len(), counting.lost()), (MAX_PENDING, 2));
        counting.requeue(vec![outcome(3, None)], at(401));
        assert_eq!(counting.lost(), 3);
    }

    #[test]
    fn unreadable_counts_stop_counting() {
        let mut counting = Counting::default();
        counting.load(StoredCounts::Unreadable, at(0));
        counting.add(outcome(1, None), 9, at(10));
        assert_eq!((counting.next_at(), counting.is_open(at(10))), (None, false));
        counting.load(StoredCounts::Missing, at(20));
        assert_eq!(counting.next_at(), Some(at(20)), "created at once");
        assert!(counting.is_open(at(20)) && !counting.is_open(at(19)));
    }
}
