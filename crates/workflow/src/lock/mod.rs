//! The process that holds a journal: by a Lease in the cluster, or by the kernel's lock on a file.

mod acquire;
mod file;
mod lease;

use jiff::{SignedDuration, Timestamp};
use mooring_kube::Gate;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

pub use acquire::{LockError, LockWait, acquire};
pub(crate) use file::{FileLock, file_holder};
pub use lease::TIMES;
pub(crate) use lease::{LeaseLock, TERM, lease_holder};

use crate::error::StoreError;

/// A process on a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    pub host: String,
    pub pid: u32,
    /// A random number, unique among all processes.
    pub holder: String,
}

/// A lock that is held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Lock {
    pub owner: Owner,
    /// When the owner was last known to hold it: by its own clock for a Lease, now for a file.
    pub heartbeat: Timestamp,
    /// False for a file: the kernel keeps the lock of a process that is stopped.
    #[serde(skip)]
    pub expires: bool,
}

impl Lock {
    /// Returns true if the owner has not renewed it in time, as far as clocks agree.
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
    /// It could not be tried; the next attempt may succeed.
    Failed(String),
}

/// The lock of a journal, of this process.
pub enum JournalLock {
    /// Beside a `ConfigMap`.
    Lease(Box<LeaseLock>),
    /// Beside a file.
    File(FileLock),
}

impl JournalLock {
    pub(crate) async fn attempt(&mut self, now: Timestamp) -> Result<Attempt, StoreError> {
        match self {
            Self::Lease(lock) => lock.attempt().await,
            Self::File(lock) => lock.attempt(now),
        }
    }

    /// Renews the lock, which must not have been lost.
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

    /// Returns the gate that closes when a lock is not renewed; none for a file, whose lock needs no renewal.
    pub(crate) fn gate(&self) -> Option<Arc<Gate>> {
        match self {
            Self::Lease(lock) => Some(lock.gate()),
            Self::File(_) => None,
        }
    }

    /// Frees the lock. If that fails, it expires.
    pub async fn release(&mut self) {
        match self {
            Self::Lease(lock) => lock.release().await,
            Self::File(lock) => lock.release(),
        }
    }
}
