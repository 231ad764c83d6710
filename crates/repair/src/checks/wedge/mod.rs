//! Signs of a wedge.

mod evidence;
mod pool;
mod recovery;
mod scale_set;
pub(super) mod write_failures;

pub(super) use pool::{missing_nodes, pool_state};
pub(crate) use recovery::{keep, recovered};
pub(super) use scale_set::failing_writes;
