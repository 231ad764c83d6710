//! Older states of the world, for reads that a fault rule makes stale.

use std::collections::VecDeque;
use std::sync::Arc;

use jiff::Timestamp;

use super::azure_state::{AzureState, earlier};

const KEPT: usize = 64;

/// States of the world, oldest first, each with the time since which it held.
#[derive(Debug, Clone, Default)]
pub(crate) struct History {
    states: VecDeque<(Timestamp, Arc<AzureState>)>,
}

impl History {
    pub(crate) fn keep(&mut self, now: Timestamp, state: &AzureState) {
        if self.states.len() == KEPT {
            self.states.pop_front();
        }
        self.states.push_back((now, Arc::new(state.clone())));
    }

    /// What was true so many seconds ago, as far back as is kept.
    pub(crate) fn at(&self, now: Timestamp, seconds: u64) -> Option<Arc<AzureState>> {
        let then = earlier(now, i64::try_from(seconds).unwrap_or(i64::MAX));
        let older = self.states.iter().rev().find(|(since, _)| *since <= then);
        older.or(self.states.front()).map(|(_, state)| Arc::clone(state))
    }
}
