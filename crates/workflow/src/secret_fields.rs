//! Members of a pool, or of an object whose finalizers are removed, that may hold secrets.
//!
//! Azure never returns write-only members. If a snapshot contains one anyway, it is not stored in a journal, plan or report.

pub use mooring_redact::json::strip;
