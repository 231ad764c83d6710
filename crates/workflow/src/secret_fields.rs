//! Members of a pool, or of an object whose finalizers are removed, that may hold secrets.
//!
//! Azure never returns write-only members, so a snapshot should not contain them. If it does, they are not stored in a
//! journal, a plan or a report.

pub use mooring_redact::json::strip;
