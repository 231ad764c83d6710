//! What is shipped: binaries for all targets, packages, image, chart, documents, bills of materials and checksums.

mod archive;
pub(crate) mod chart;
pub(crate) mod deb;
pub(crate) mod dist;
pub(crate) mod elf;
mod oci;
mod rpm;
mod runtime;
mod sbom;
pub(crate) mod targets;
