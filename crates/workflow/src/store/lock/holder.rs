//! A held lock, and its owner.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockOwner {
    pub host: String,
    pub pid: u32,
    /// Unique random number.
    pub holder: String,
}

/// A held lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Lock {
    pub owner: LockOwner,
    /// The last renewal by the owner's clock for a Lease, now for a file.
    pub heartbeat: Timestamp,
    /// False for a file: the kernel keeps the lock of a stopped process.
    #[serde(skip)]
    pub expires: bool,
}
