//! All checks of a repair in one table: name, phase, blocking outcomes, and whether `--override` accepts it.
//!
//! | when | what happens |
//! |---|---|
//! | detect | the five checks of the verdict; again before an operation is aborted, and after it |
//! | begin | known blockers, before anything is changed |
//! | effect | evaluated on live state right before an effect, see `table::preconditions` |
//! | steps | `workloads`, `ip-addresses` and `other-operation` are evaluated where a step verifies its goal |
//!
//! Unknown is never pass: an effect waits for it.

mod access;
mod capacity;
mod cluster;
mod effect;
mod finding;
mod needs;
mod table;
#[cfg(test)]
mod tests;
pub mod verdict;
mod wedge;
mod writes;

pub(crate) use capacity::Planning;
pub use capacity::{AccessRules, Capacity, subnets};
pub use cluster::absent;
pub(crate) use effect::PROPAGATION_TIMEOUT;
pub use needs::{AccessNeed, Actor, needs, place, places_of_locks};
pub use table::{CHECKS, Check, blocks, evaluate, overridable, warns};
pub(crate) use table::{begin, read_verdict};
pub(crate) use writes::LOG_DELAY;
