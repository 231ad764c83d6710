//! Every check of a removal: what it is called, when it is evaluated, and what overrides it.
//!
//! | check | when | overridden by |
//! |---|---|---|
//! | `operator-gone` | a run begins | `--override operator-gone=REASON`, never a workload that is seen to run |
//! | `objects-known` | a run begins | `--best-effort` |
//! | `cluster-identity` | a run begins | nothing |
//! | `operator-stopped` | right before finalizers are removed | its Leases by `--override operator-gone=REASON` |
//! | `target-planned` | right before every effect (`Terms::covers`) | nothing |
//!
//! Unknown is never pass.

mod begin;
mod effect;
mod ids;
mod operator_gone;

pub(crate) use begin::{evaluate, unread};
pub(crate) use effect::operator_stopped;
pub use ids::{CLUSTER_IDENTITY, OBJECTS_KNOWN, OPERATOR_GONE};
