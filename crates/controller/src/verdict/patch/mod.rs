//! The smallest safe patch of a NodeClaim's status for a verdict, if one is needed.
//!
//! Karpenter replaces the whole list of conditions by merge patches, and the older schema lets a forced apply
//! wipe it, so the condition is changed by a JSON Patch that can change nothing else: every patch tests the
//! uid; one that replaces tests the type at its index; one that adds tests the object's version, since on the
//! older schema a second append would give two conditions of one type, and creating a missing parent would
//! replace one that has just appeared.

mod result;
mod status_patch;
#[cfg(test)]
mod tests;

pub use result::PatchResult;
pub use status_patch::{DesiredCondition, StatusPatchKind, has_condition, patch, rfc3339};
