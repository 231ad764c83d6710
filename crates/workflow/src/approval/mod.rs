//! Approval of a plan: its hash, and an expiry for the start of a run.

pub mod canonical;
mod plan_hash;
mod token;

pub use plan_hash::{ApprovalError, PlanHash, hash_document};
pub use token::{APPROVAL_TTL, Approval, ApprovalToken};
