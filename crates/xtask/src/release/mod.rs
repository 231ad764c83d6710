//! What is shipped: binaries for all targets, packages, pages and checksums.

pub(crate) mod deb;
pub(crate) mod dist;
pub(crate) mod elf;
pub(crate) mod targets;
