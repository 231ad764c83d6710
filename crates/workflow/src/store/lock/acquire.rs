//! Acquisition of a journal's lock.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::watch;
use tokio::time::Instant;

use super::{JournalLock, Lock, LockAttempt, LockOwner, TIMES};
use crate::engine::Clock;
use crate::journal::Runs;
use crate::journal::Workflow;
use crate::store::RunStore;
use crate::store::error::{PAUSES, StoreError};

const POLL_INTERVAL: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockWait {
    None,
    Until(SignedDuration),
}

impl LockWait {
    fn limit(self, lock: &Lock, now: Timestamp) -> Duration {
        match self {
            Self::Until(limit) => limit.try_into().unwrap_or_default(),
            // Its owner may have died: within the duration of the Lease a renewal would show.
            Self::None if lock.looks_expired(now) => TIMES.lease + TIMES.retry,
            Self::None => Duration::ZERO,
        }
    }
}

#[derive(Debug)]
pub enum LockError {
    Busy(Lock),
    Interrupted,
    Store(StoreError),
}

/// Acquires the lock and reads the journal.
pub async fn acquire<W: Workflow>(
    store: &mut RunStore,
    owner: &LockOwner,
    wait: LockWait,
    clock: &Clock,
    stop: &mut watch::Receiver<bool>,
    report: &mut dyn FnMut(&str),
) -> Result<(JournalLock, Runs<W>), LockError> {
    let mut lock = store.lock(owner, clock);
    let began = Instant::now();
    let mut pauses = PAUSES.iter();
    loop {
        let pause = match lock.attempt().await.map_err(LockError::Store)? {
            LockAttempt::Held => break,
            LockAttempt::Failed(why) => match pauses.next() {
                Some(pause) => *pause,
                None => return Err(LockError::Store(StoreError::Unavailable(why))),
            },
            LockAttempt::HeldBy(holder) => {
                if began.elapsed() >= wait.limit(&holder, clock()) {
                    return Err(LockError::Busy(holder));
                }
                report(&waiting(&holder, clock()));
                pauses = PAUSES.iter();
                POLL_INTERVAL
            }
        };
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            true = async { stop.wait_for(|stop| *stop).await.is_ok() } => {
                return Err(LockError::Interrupted);
            }
        }
    }
    match store.load().await {
        Ok(runs) => Ok((lock, runs)),
        Err(error) => {
            lock.release().await;
            Err(LockError::Store(error))
        }
    }
}

fn waiting(lock: &Lock, now: Timestamp) -> String {
    let LockOwner { host, pid, .. } = &lock.owner;
    let host = mooring_redact::printable(host);
    let age = now.duration_since(lock.heartbeat).as_secs().max(0);
    let lease = TIMES.lease.as_secs();
    format!(
        "locked by {host} (pid {pid}), last heartbeat {age}s ago; waiting for the lock to expire ({lease}s)"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::lock::LockOwner;

    #[test]
    fn locks_are_awaited_if_they_may_be_released_soon() {
        let now = Timestamp::UNIX_EPOCH + SignedDuration::from_hours(1);
        let lock = |age: i64| Lock {
            owner: LockOwner { host: "h".to_owned(), pid: 1, holder: "a".to_owned() },
            heartbeat: now - SignedDuration::from_secs(age),
        };
        let expired = i64::try_from(TIMES.lease.as_secs()).unwrap() + 1;
        for (wait, lock, expected) in [
            (LockWait::None, lock(0), Duration::ZERO),
            (LockWait::None, lock(expired), TIMES.lease + TIMES.retry),
            (LockWait::Until(SignedDuration::from_secs(9)), lock(0), Duration::from_secs(9)),
        ] {
            assert_eq!(wait.limit(&lock, now), expected, "{wait:?} {lock:?}");
        }
    }
}
