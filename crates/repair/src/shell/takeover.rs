//! Getting the lock of a journal, or waiting for it.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::watch;

use super::process::liveness;
use super::store::{Contents, Store, StoreError};
use super::world::Clock;
use crate::journal::{Lock, Owner, TakeOver, may_take_over};

/// Between two looks at somebody else's lock.
const LOOK: Duration = Duration::from_secs(1);

/// What happens if somebody else holds the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patience {
    /// Stop at once.
    None,
    /// Wait for the owner to fall silent, this long at most.
    Until(SignedDuration),
}

/// Why there is no lock.
#[derive(Debug)]
pub(crate) enum NotHeld {
    /// Somebody else has it, and is alive as far as can be told.
    Busy(Lock),
    /// Somebody asked to stop waiting.
    Interrupted,
    /// The store says no.
    Store(StoreError),
}

/// Takes the lock and gives what the journal holds.
pub(crate) async fn acquire(
    store: &mut Store,
    me: &Owner,
    patience: Patience,
    clock: &Clock,
    stop: &mut watch::Receiver<bool>,
    say: &mut dyn FnMut(&str),
) -> Result<Contents, NotHeld> {
    let began = clock();
    let mut seen: Option<(Lock, Timestamp)> = None;
    loop {
        let contents = store.load().await.map_err(NotHeld::Store)?;
        let now = clock();
        let decision = match &contents.lock {
            None => TakeOver::Yes,
            Some(lock) => {
                let unchanged = match &seen {
                    Some((known, since)) if known == lock => *since,
                    _ => now,
                };
                seen = Some((lock.clone(), unchanged));
                may_take_over(lock, me, liveness(&lock.owner, me), unchanged, now)
            }
        };
        if matches!(decision, TakeOver::Yes | TakeOver::Ours) {
            match store.lock(me, now).await {
                Ok(()) => return Ok(contents),
                // Somebody was faster: look again, and then it is theirs.
                Err(StoreError::LostLock) => {}
                Err(error) => return Err(NotHeld::Store(error)),
            }
        }
        if let Some(lock) = &contents.lock {
            match patience {
                Patience::Until(most) if now.duration_since(began) < most => {
                    let owner = &lock.owner;
                    let age = now.duration_since(lock.heartbeat).as_secs().max(0);
                    say(&format!(
                        "{} (process {}) holds the run, heard of {age} s ago; waiting until it is silent for 30 s",
                        owner.host, owner.pid
                    ));
                }
                _ => return Err(NotHeld::Busy(lock.clone())),
            }
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            true = async { stop.wait_for(|stop| *stop).await.is_ok() } => {
                return Err(NotHeld::Interrupted);
            }
        }
    }
}
