//! All checks of a removal: those before a run starts in [`CHECKS`], and those right before an effect.
//!
//! | check right before an effect | when | overridden by |
//! |---|---|---|
//! | `operator-stopped` | before every step that deletes or removes finalizers (`steps`) | its Leases by `--override operator-gone=REASON` |
//! | `target-planned` | always, by uid (`Terms::covers`) | nothing |
//! | `contents-planned` | the namespace is deleted (`steps`) | nothing |

mod contents;
mod ids;
mod operator_gone;
mod table;
mod unread;

pub(crate) use contents::{deleted_with_namespace, foreign};
pub use ids::{CLUSTER_IDENTITY, NAMESPACE_CONTENTS, OBJECTS_KNOWN, OPERATOR_GONE};
pub(crate) use table::evaluate;
pub use table::{CHECKS, Check, Overridable};
pub(crate) use unread::unread;
