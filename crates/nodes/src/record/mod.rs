//! The last failures of every `NodePool`, in a `ConfigMap`: they remain when the NodeClaim, its VM and the
//! events are deleted.
//!
//! The record is written first, so a restarted controller relies on it: a recorded verdict is known, and its
//! missing writes are repeated. Merging is idempotent: the id of an entry is derived from NodeClaim and
//! verdict, and no id is kept twice.

pub mod counts;
mod document;
#[cfg(test)]
mod tests;

pub use document::FailureRecord;
pub use document::{KEY, NAME, RecordDocument, RecordError, SCHEMA, path};
pub use document::{StoredText, list_path};
