//! The shell: everything that touches Azure, Kubernetes, a disk or a clock.
//!
//! | module | idea |
//! |---|---|
//! | `azure`, `cluster` | questions and changes in the words of the repair, over the two services |
//! | `access`, `ways_in` | how the Kubernetes API is reached |
//! | `adapter` | both services as the engine reads and changes them |
//! | `capacity`, `rights` | what a temporary pool needs to be had, and what the caller may do |
//! | `examine` | what is read before anything is changed: detect, plan, and what an unfinished run relies on |
//! | `operator` | what a person asks for: apply, resume, status, abort |

mod access;
mod adapter;
mod answers;
mod azure;
mod capacity;
mod cluster;
mod examine;
mod grace;
mod operator;
mod rights;
mod ways_in;

pub use access::{Access, ApiUnavailable};
pub use examine::Examined;
pub use operator::{CommandResult, JournalStatus, LOCK_WAIT, Operator, Watcher, store};
