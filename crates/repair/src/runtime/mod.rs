//! I/O: Azure, Kubernetes, disk and clock.
//!
//! | module | idea |
//! |---|---|
//! | `azure`, `kubernetes` | reads and effects through the two APIs |
//! | `credentials`, `api_access` | credentials for the Kubernetes API, and why it cannot be reached |
//! | `services` | both APIs, for checks and runs |
//! | `capacity`, `permissions` | quota, VM sizes, subnets, permissions, locks and deny assignments |
//! | `examine` | detect and plan |
//! | `operator` | both APIs and the journal of one pool; its status |
//! | `commands` | apply, resume, abort |

mod api_access;
mod azure;
mod capacity;
mod commands;
mod credentials;
mod examine;
mod kubernetes;
mod operator;
mod permissions;
mod responses;
mod services;

pub use commands::{CommandResult, LOCK_TIMEOUT, Watcher};
pub use credentials::{ApiUnavailable, CredentialSource};
pub use examine::Examined;
pub use operator::{JournalStatus, Operator, store};
