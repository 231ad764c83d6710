//! I/O: Azure, Kubernetes, disk and clock.
//!
//! | module | idea |
//! |---|---|
//! | `azure`, `kubernetes` | reads and effects through the two APIs |
//! | `credentials`, `api_access` | credentials for the Kubernetes API, and why it cannot be reached |
//! | `adapter` | both APIs for the engine |
//! | `capacity`, `permissions` | quota, VM sizes, subnets, permissions, locks and deny assignments |
//! | `examine` | detect and plan |
//! | `commands` | apply, resume, status, abort |

mod adapter;
mod api_access;
mod azure;
mod capacity;
mod commands;
mod credentials;
mod examine;
mod grace;
mod kubernetes;
mod permissions;
mod responses;

pub use commands::{CommandResult, JournalStatus, LOCK_TIMEOUT, Operator, Watcher, store};
pub use credentials::{Access, ApiUnavailable};
pub use examine::Examined;
