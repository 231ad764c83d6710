//! The start of a run, and the authority to continue one.

pub mod errors;
pub mod history;
pub mod resume;
pub mod start_checks;
