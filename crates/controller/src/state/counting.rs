//! Outcomes of nodes that wait to be counted.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::machine::State;
use super::messages::Action;
use crate::counts::{CountedIds, Outcome, StoredCounts};
use crate::record::Entry;

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
    pending: Vec<Outcome>,
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
    fn add(&mut self, outcome: Outcome, max_failures: usize, now: Timestamp) {
        let Some(counted) = &mut self.counted else { return };
        if !counted.insert(outcome.id, outcome.at.min(now)) {
            return;
        }
        let after = |at: Timestamp, pause| at.saturating_add(pause).unwrap_or(Timestamp::MAX);
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

    pub(super) fn requeue(&mut self, outcomes: Vec<Outcome>, now: Timestamp) {
        self.pending.splice(..0, outcomes);
        let above = self.pending.len().saturating_sub(MAX_PENDING);
        self.pending.drain(..above);
        self.lost += above as u64;
        self.write_at = now.checked_add(FAILURE_PAUSE).ok();
    }

    pub(super) fn next_at(&self) -> Option<Timestamp> {
        self.write_at
    }

    pub(super) fn lost(&self) -> u64 {
        self.lost
    }

    fn take_due(&mut self, now: Timestamp) -> Option<Vec<Outcome>> {
        self.write_at.filter(|at| *at <= now)?;
        (self.write_at, self.written_at) = (None, Some(now));
        self.failures.clear();
        if let Some(counted) = &mut self.counted {
            counted.prune(now);
        }
        Some(std::mem::take(&mut self.pending))
    }
}

impl State {
    /// Counts a failure. Before the record can drop it, the counts are written: half of the kept failures of a pool
    /// are the most that wait.
    pub(super) fn count_failure(&mut self, entry: &Entry, now: Timestamp) {
        let max_failures = (self.settings.failures_kept / 2).max(1);
        self.counting.add(Outcome::of_failure(entry), max_failures, now);
    }

    pub(super) fn count_joined(&mut self, uid: &Arc<str>, now: Timestamp) {
        let (Some(tracked), Some(counted)) = (self.claims.get(uid), &self.counting.counted) else {
            return;
        };
        let claim = &tracked.claim;
        let Some(at) = claim.registered.filter(|at| self.leads && !counted.is_settled(*at)) else {
            return;
        };
        let pool = claim.pool.as_deref().unwrap_or_default();
        let image = claim.image_key().unwrap_or_default();
        self.counting.add(Outcome::new(uid, at, pool, &image, None), usize::MAX, now);
    }

    /// Counts outcomes that the last leader may not have written. A recorded failure comes before a later
    /// registration.
    pub(super) fn count_existing(&mut self, now: Timestamp) {
        let mut recorded: Vec<Entry> = self.unfinished.clone();
        recorded.sort_by_key(|entry| entry.at);
        for entry in &recorded {
            self.count_failure(entry, now);
        }
        let mut joined: Vec<Arc<str>> = self.claims.keys().cloned().collect();
        joined.retain(|uid| self.claims[uid].has_joined());
        // Sorted, so that the same state gives the same actions in the same order.
        joined.sort_unstable();
        for uid in joined {
            self.count_joined(&uid, now);
        }
    }

    pub(super) fn write_counts(&mut self, now: Timestamp, actions: &mut Vec<Action>) {
        if self.leads
            && let Some(outcomes) = self.counting.take_due(now)
        {
            actions.push(Action::Count(outcomes));
        }
    }
}
