use std::sync::Arc;

use jiff::Timestamp;
use mooring_kube::Gate;

use super::file::FileLock;
use super::holder::LockAttempt;
use super::lease::LeaseLock;
use crate::store::error::StoreError;

pub enum JournalLock {
    Lease(Box<LeaseLock>),
    File(FileLock),
}

impl JournalLock {
    pub(crate) async fn attempt(&mut self, now: Timestamp) -> Result<LockAttempt, StoreError> {
        match self {
            Self::Lease(lock) => lock.attempt().await,
            Self::File(lock) => lock.attempt(now),
        }
    }

    /// Renews the lock; fails if it was lost.
    pub async fn confirm(&mut self, now: Timestamp) -> Result<(), StoreError> {
        match self.attempt(now).await? {
            LockAttempt::Held => Ok(()),
            LockAttempt::HeldBy(_) => Err(StoreError::LostLock),
            LockAttempt::Failed(why) => match self {
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
