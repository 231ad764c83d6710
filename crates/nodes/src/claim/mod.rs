//! The part of a NodeClaim that is kept: under 1 KiB each, regardless of the object's size.

pub mod condition;
pub mod image;
pub mod intern;
pub mod mode;
mod node_claim;
pub mod object;
pub mod scope;
#[cfg(test)]
mod tests;
pub mod vm_id;

pub use condition::{Condition, Shape};
pub use node_claim::Claim;
pub use object::ClaimError;
