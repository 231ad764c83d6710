//! A model of Karpenter's node lifecycle, with the behavior that affects other clients.
//!
//! It launches VMs for `NodeClaim`s and creates their extensions by pollers that a restart loses, writes their
//! conditions by merge patches without a resourceVersion from a cache that may be stale, reports a failed bootstrap
//! extension in an event whose text is cut before the exit code, deletes the VM and then the NodeClaim, and deletes a
//! NodeClaim that has not registered in fifteen minutes, without an event.
//!
//! It is a regular client of the two APIs: the API's record has its writes, under the name `karpenter`.

mod cache;
mod claim;
mod client;
mod event;
mod launching;
mod machine;
mod options;
mod pools;
mod state;
mod steps;

pub use crate::azure::ProvisionMode;
pub use options::{KarpenterOptions, LaunchFailure};
pub use state::Karpenter;

pub(crate) use claim::conditions::Conditions;
pub(crate) use claim::objects::{claim, status};
