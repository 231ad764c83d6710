//! Every check of a repair, in one table: what it is called, when it is evaluated, what blocks, and whether an operator
//! may override it.
//!
//! | when | what happens |
//! |---|---|
//! | detect | the five checks of the verdict; again before an operation is aborted, and after it |
//! | begin | what is known to fail before anything is changed |
//! | effect | evaluated on live state right before an effect, see `table::preconditions` |
//! | steps | `workloads`, `ip-addresses` and `other-operation` are evaluated where a step verifies its goal |
//!
//! Unknown is never pass. An effect waits for what is unknown; it never ignores it.

mod capacity;
mod cluster;
mod deny_assignments;
mod effect;
mod evidence;
mod ids;
mod locks;
mod needs;
mod permissions;
pub(crate) mod reads;
mod rights;
mod storm;
mod table;
mod text;
mod tolerations;
mod wedge;

pub(crate) use capacity::Planning;
pub use capacity::{Capacity, subnets};
pub use cluster::absent;
pub(crate) use effect::{
    LATE, enough_nodes, ensure_deleted_by_run, gone, recreated_externally, wanted,
};
pub use needs::{Actor, Need, needs, place, places_of_locks};
pub use rights::Rights;
pub(crate) use storm::LOG_DELAY;
pub(crate) use wedge::recovered;

pub use ids::*;
pub use table::{CHECKS, Check, blocks, evaluate, overridable, warns};
pub(crate) use table::{begin, ensure, ensure_all, ensure_wedged, reads_before};
