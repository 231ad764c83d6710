//! What was read from Azure and Kubernetes at one instant, as types of our own.
//!
//! Everything is built from raw JSON, leniently: an entry that lacks what makes it an entry is skipped, and
//! a member that is absent stays absent instead of becoming a zero. A query that could not be answered is
//! a [`mooring_workflow::Reading`] that says why, so that a missing permission ends as *unknown* and never as *healthy*.

mod azure;
mod error_codes;
mod json;
mod kubernetes;
mod pdbs;
mod pool;
mod view;

pub use azure::{ActivityEvent, Addresses, Cluster, Instance, Nic, Operation, ScaleSet, Status};
pub use error_codes::{ErrorTexts, carries, codes};
pub use kubernetes::{Controller, Node, Pod, Replicas, stranger};
pub use pdbs::{EvictionBlocker, Pdb, Selector};
pub(crate) use pool::is_windows;
pub use pool::{Pool, pool_name_of_id};
pub use view::{Answer, ClusterView, Query};
