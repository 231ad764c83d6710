//! Joined and failed nodes for each half hour of the last seven days, by pool, image and cause, in a `ConfigMap`.
//!
//! The record keeps the last failures of each pool with their details; the counts are complete and have none.
//! Rows above the limits are counted in a row [`OTHER`], so totals remain true.
//!
//! Guarantee: the first outcome of a NodeClaim is counted once. Outcomes are collected for up to a minute, and
//! each has an id that is stored in the same write as its count ([`CountedIds`]), so a repeated one changes
//! nothing. A leader that is killed before the write loses nothing that the next one can derive again: joined
//! nodes from their NodeClaims, failures from the record, which never drops a failure that is not counted yet
//! (`state/counting.rs`). Only a node that joined and was deleted within the minute before the kill is lost.
//!
//! The document is evidence: it is displayed, and no action depends on it.

mod counted_ids;
mod document;
mod half_hour;
mod query;
mod stored;
#[cfg(test)]
mod tests;

pub use counted_ids::{CountedIds, StoredCounts};
pub use document::{CountedNode, CountsDocument, OTHER, UNCONFIRMED};
pub use half_hour::half_hour_start;
pub use query::{Filter, HalfHourCounts, Total};
pub use stored::{CountsError, KEY, NAME, SCHEMA, path};
