//! Check before each write, so that a lost Lease stops all writes immediately.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;

/// The clock of a Lease holder.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Interval of checks for a late renewal.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Open while this process holds the Lease.
pub struct Gate {
    clock: Clock,
    held: Mutex<Option<(u64, Timestamp)>>,
}

impl Gate {
    /// Creates a closed gate.
    pub fn new(clock: Clock) -> Self {
        Self { clock, held: Mutex::new(None) }
    }

    pub fn open(&self, term: u64, until: Timestamp) {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = Some((term, until));
    }

    pub fn close(&self) {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Returns true if a write of this term may be sent, false after the end of the term. Waits for a late renewal.
    pub async fn allows_write(&self, term: u64) -> bool {
        loop {
            let held = *self.held.lock().unwrap_or_else(PoisonError::into_inner);
            match held {
                Some((holds, _)) if holds != term => return false,
                Some((_, until)) if (self.clock)() < until => return true,
                Some(_) => tokio::time::sleep(POLL_INTERVAL).await,
                None => return false,
            }
        }
    }
}
