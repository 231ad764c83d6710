//! The start of a run, and the authority to continue one.

pub mod resume;
pub mod start_checks;
