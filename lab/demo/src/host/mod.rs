//! Directories, files and processes of the host, and their cleanup.

pub(crate) mod files;
pub(crate) mod processes;
pub(crate) mod workdir;
