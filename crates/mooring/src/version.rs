//! Version and build information.

pub(crate) const SHORT: &str = env!("CARGO_PKG_VERSION");

/// Text of `--version`, for bug reports.
pub(crate) const LONG: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\ncommit:  ",
    env!("MOORING_COMMIT"),
    "\ntarget:  ",
    env!("MOORING_TARGET"),
    "\nprofile: ",
    env!("MOORING_PROFILE"),
);
