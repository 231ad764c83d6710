//! All checks of a removal.
//!
//! | check | when | overridden by |
//! |---|---|---|
//! | `operator-gone` | a run starts | `--override operator-gone=REASON`, except where the check says so |
//! | `objects-known` | a run starts | `--best-effort`, if the outcome is unknown |
//! | `cluster-identity` | a run starts | nothing |
//! | `operator-stopped` | finalizers are removed (`steps`) | its Leases by `--override operator-gone=REASON` |
//! | `target-planned` | always (`Terms::covers`) | nothing |

mod ids;
mod operator_gone;
mod table;
mod unread;

pub use ids::{CLUSTER_IDENTITY, OBJECTS_KNOWN, OPERATOR_GONE};
pub(crate) use table::evaluate;
pub(crate) use unread::unread;
