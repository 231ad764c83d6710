//! Targets of requests: a path and query on the cloud's own origin, and nothing else.
//!
//! The token is sent to the target, and targets also come from links in responses and from records that other
//! users can edit. So text becomes a target in one place, [`ArmPath::parse`], and a target becomes a URL in one
//! place, [`ArmPath::to_url`], which compares the origin again.

mod arm_path;
pub(crate) mod resource_id;

#[cfg(test)]
pub(crate) use arm_path::tests;
pub use arm_path::{ArmPath, ArmPathError};
