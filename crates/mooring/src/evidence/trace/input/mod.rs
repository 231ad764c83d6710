//! Bounded reads of a node's files from a directory, an archive or a file.
//!
//! Archives are never unpacked to disk: a name in an archive is a label, not a path.

mod archive;
mod files;
mod reader;
#[cfg(test)]
mod tests;

pub(crate) use files::TraceInput;
pub(crate) use reader::read;
