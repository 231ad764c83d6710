//! Older states, for reads that a fault rule makes stale.

use std::collections::VecDeque;
use std::sync::Arc;

use jiff::Timestamp;

use super::azure_state::AzureState;
use super::time::earlier;

const KEPT: usize = 64;

/// States with their start times, oldest first.
#[derive(Debug, Clone, Default)]
pub(crate) struct StateHistory {
    states: VecDeque<(Timestamp, Arc<AzureState>)>,
}

impl StateHistory {
    pub(crate) fn keep(&mut self, now: Timestamp, state: &AzureState) {
        if self.states.len() == KEPT {
            self.states.pop_front();
        }
        self.states.push_back((now, Arc::new(state.clone())));
    }

    /// Returns the state of so many seconds ago, or the oldest one kept.
    pub(crate) fn at(&self, now: Timestamp, seconds: u64) -> Option<Arc<AzureState>> {
        let then = earlier(now, i64::try_from(seconds).unwrap_or(i64::MAX));
        let older = self.states.iter().rev().find(|(since, _)| *since <= then);
        older.or(self.states.front()).map(|(_, state)| Arc::clone(state))
    }
}
