//! What this binary is and was built from.

/// For `-V`, logs and everybody who compares.
pub(crate) const SHORT: &str = env!("CARGO_PKG_VERSION");

/// For `--version`: what a bug report needs.
pub(crate) const LONG: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\ncommit:  ",
    env!("MOORING_COMMIT"),
    "\ntarget:  ",
    env!("MOORING_TARGET"),
    "\nprofile: ",
    env!("MOORING_PROFILE"),
);
