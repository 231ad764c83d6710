//! The lock of a journal: a Lease in the cluster, or `flock` on a file.

mod acquire;
mod file;
mod lease;
pub mod process;

use jiff::{SignedDuration, Timestamp};
use mooring_kube::Gate;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

pub use acquire::{LockError, LockWait, acquire};
pub(crate) use file::{FileLock, file_holder};
pub use lease::TIMES;
pub(crate) use lease::{LeaseLock, TERM, lease_holder};

use super::error::StoreError;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    pub host: String,
    pub pid: u32,
    /// Unique random number.
    pub holder: String,
}

/// A held lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Lock {
    pub owner: Owner,
    /// The last renewal by the owner's clock for a Lease, now for a file.
    pub heartbeat: Timestamp,
    /// False for a file: the kernel keeps the lock of a stopped process.
    #[serde(skip)]
    pub expires: bool,
}

impl Lock {
    /// Returns true if the owner has not renewed it in time, if clocks agree.
    pub fn looks_expired(&self, now: Timestamp) -> bool {
        let duration = SignedDuration::try_from(TIMES.lease).unwrap_or(SignedDuration::MAX);
        self.expires && now.duration_since(self.heartbeat) >= duration
    }
}

/// The result of an attempt to acquire or renew a lock.
#[derive(Debug)]
pub(crate) enum Attempt {
    Held,
    HeldBy(Lock),
    /// The next attempt may succeed.
    Failed(String),
}

pub enum JournalLock {
    Lease(Box<LeaseLock>),
    File(FileLock),
}

impl JournalLock {
    pub(crate) async fn attempt(&mut self, now: Timestamp) -> Result<Attempt, StoreError> {
        match self {
            Self::Lease(lock) => lock.attempt().await,
            Self::File(lock) => lock.attempt(now),
        }
    }

    /// Renews the lock; fails if it was lost.
    pub async fn confirm(&mut self, now: Timestamp) -> Result<(), StoreError> {
        match self.attempt(now).await? {
            Attempt::Held => Ok(()),
            Attempt::HeldBy(_) => Err(StoreError::LostLock),
            Attempt::Failed(why) => match self {
                Self::Lease(lock) if lock.is_current() => Ok(()),
                _ => Err(StoreError::Unavailable(why)),
            },
        }
    }

    /// Renews the lock until it is lost.
    pub async fn keep(&mut self) -> StoreError {
        match self {
            Self::Lease(lock) => lock.keep().await,
            Self::File(_) => std::future::pending().await,
        }
    }

    /// Returns the gate that closes when the lock is not renewed; none for a file.
    pub(crate) fn gate(&self) -> Option<Arc<Gate>> {
        match self {
            Self::Lease(lock) => Some(lock.gate()),
            Self::File(_) => None,
        }
    }

    /// Releases the lock, which otherwise expires.
    pub async fn release(&mut self) {
        match self {
            Self::Lease(lock) => lock.release().await,
            Self::File(lock) => lock.release(),
        }
    }
}
