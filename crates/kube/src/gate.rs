//! The gate before writes: evaluated before each one, so that a lost Lease stops all of them at once.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;

/// The time, as the holder of a Lease counts it.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Between two checks for a late renewal.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Open while this process holds the Lease.
pub struct Gate {
    clock: Clock,
    held: Mutex<Option<(u64, Timestamp)>>,
}

impl Gate {
    /// A closed gate.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        Self { clock, held: Mutex::new(None) }
    }

    /// Opens for the writes of this term, until then.
    pub fn open(&self, term: u64, until: Timestamp) {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = Some((term, until));
    }

    pub fn close(&self) {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Returns true if a write of this term may be sent, and false if the term has ended. While a renewal is late,
    /// neither is known, and this waits for it.
    pub async fn lets(&self, term: u64) -> bool {
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
