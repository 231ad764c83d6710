//! Whether a write may be sent now: asked before each one, so that a lost lease stops all of them at once.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;

use super::controller::Clock;

/// How soon a late renewal is looked for.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// Open while this replica holds the lease.
pub(crate) struct Gate {
    clock: Clock,
    held: Mutex<Option<(u64, Timestamp)>>,
}

impl Gate {
    pub(crate) fn new(clock: Clock) -> Self {
        Self { clock, held: Mutex::new(None) }
    }

    /// Open for the writes of this term, until then.
    pub(crate) fn open(&self, term: u64, until: Timestamp) {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = Some((term, until));
    }

    pub(crate) fn close(&self) {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Whether a write of this term may be sent: at once if so; at once not if the term is over. While a
    /// renewal is late, neither is known, and this waits for it.
    pub(crate) async fn lets(&self, term: u64) -> bool {
        loop {
            let held = *self.held.lock().unwrap_or_else(PoisonError::into_inner);
            match held {
                Some((holds, _)) if holds != term => return false,
                Some((_, until)) if (self.clock)() < until => return true,
                Some(_) => tokio::time::sleep(LOOK_AGAIN).await,
                None => return false,
            }
        }
    }
}
