//! A held lock, its owner, and attempts to acquire it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockOwner {
    pub host: String,
    pub pid: u32,
    /// Unique random number.
    pub holder: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Lock {
    pub owner: LockOwner,
    /// The last renewal by the owner's clock.
    pub heartbeat: Timestamp,
}

/// The result of an attempt to acquire or renew a lock.
#[derive(Debug)]
pub(crate) enum LockAttempt {
    Held,
    HeldBy(Lock),
    /// The next attempt may succeed.
    Failed(String),
}
