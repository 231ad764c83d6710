//! Outcomes of nodes that wait to be counted.

use std::collections::HashMap;

use jiff::{SignedDuration, Timestamp};

use crate::record::counts::{CountedIds, Outcome, StoredCounts};

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
    pub(super) fn add(&mut self, outcome: Outcome, max_failures: usize, now: Timestamp) {
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

    pub(super) fn take_due(&mut self, now: Timestamp) -> Option<Vec<Outcome>> {
        self.write_at.filter(|at| *at <= now)?;
        (self.write_at, self.written_at) = (None, Some(now));
        self.failures.clear();
        if let Some(counted) = &mut self.counted {
            counted.prune(now);
        }
        Some(std::mem::take(&mut self.pending))
    }
}
