//! All checks of a removal: those before a run starts in [`CHECKS`], and those right before an effect.
//!
//! | check right before an effect | when | overridden by |
//! |---|---|---|
//! | `operator-stopped` | finalizers are removed (`steps`) | its Leases by `--override operator-gone=REASON` |
//! | `target-planned` | always (`Terms::covers`) | nothing |

mod ids;
mod operator_gone;
mod table;
mod unread;

pub use ids::{CLUSTER_IDENTITY, OBJECTS_KNOWN, OPERATOR_GONE};
pub(crate) use table::evaluate;
pub use table::{CHECKS, Check, Overridable};
pub(crate) use unread::unread;
