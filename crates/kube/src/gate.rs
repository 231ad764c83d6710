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
    term: Mutex<Term>,
}

/// The time from one acquisition of the Lease to its loss.
#[derive(Clone, Copy, Default)]
struct Term {
    number: u64,
    /// None while the gate is closed.
    until: Option<Timestamp>,
}

impl Gate {
    /// Creates a closed gate.
    pub fn new(clock: Clock) -> Self {
        Self { clock, term: Mutex::default() }
    }

    /// Opens the gate, or extends the current term. Returns the number of the term, from 1.
    pub fn open(&self, until: Timestamp) -> u64 {
        let mut term = self.term.lock().unwrap_or_else(PoisonError::into_inner);
        if term.until.is_none() {
            term.number += 1;
        }
        term.until = Some(until);
        term.number
    }

    pub fn close(&self) {
        self.term.lock().unwrap_or_else(PoisonError::into_inner).until = None;
    }

    /// Returns true if a write of this term may be sent, false after the end of the term. Waits for a late renewal.
    pub async fn allows_write(&self, number: u64) -> bool {
        loop {
            let term = *self.term.lock().unwrap_or_else(PoisonError::into_inner);
            match term.until {
                Some(until) if term.number == number && (self.clock)() < until => return true,
                Some(_) if term.number == number => tokio::time::sleep(POLL_INTERVAL).await,
                _ => return false,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds)
    }

    #[tokio::test(start_paused = true)]
    async fn writes_of_an_ended_term_are_never_allowed_again() {
        let gate = Gate::new(Arc::new(|| at(0)));
        assert!(!gate.allows_write(0).await, "closed");
        let first = gate.open(at(1));
        assert!(gate.allows_write(first).await);
        assert_eq!(gate.open(at(2)), first, "extended");
        gate.close();
        assert!(!gate.allows_write(first).await, "closed");
        let second = gate.open(at(1));
        assert!(gate.allows_write(second).await);
        assert!(!gate.allows_write(first).await, "of the ended term");
    }

    #[tokio::test(start_paused = true)]
    async fn late_renewal_is_awaited() {
        let gate = Gate::new(Arc::new(|| at(1)));
        let term = gate.open(at(1));
        let renewal = async {
            tokio::time::sleep(POLL_INTERVAL * 3).await;
            gate.open(at(2));
        };
        assert!(tokio::join!(gate.allows_write(term), renewal).0);
    }
}
