//! All checks of a removal.
//!
//! | check | when | overridden by |
//! |---|---|---|
//! | `operator-gone` | a run starts | `--override operator-gone=REASON`, except a running workload |
//! | `objects-known` | a run starts | `--best-effort` |
//! | `cluster-identity` | a run starts | nothing |
//! | `operator-stopped` | right before finalizers are removed (`steps`) | its Leases by `--override operator-gone=REASON` |
//! | `target-planned` | right before every effect (`Terms::covers`) | nothing |
//!
//! Unknown is never pass.

mod ids;
mod operator_gone;
mod start;

pub use ids::{CLUSTER_IDENTITY, OBJECTS_KNOWN, OPERATOR_GONE};
pub(crate) use start::{evaluate, unread};
