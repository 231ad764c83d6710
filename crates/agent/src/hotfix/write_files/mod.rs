//! The `write_files` list of custom data: exactly the YAML that AgentBaker renders, and nothing else.
//!
//! Comments, other top-level keys (skipped), entries of five known keys, plain and quoted words, `|` blocks and
//! `!!binary`. Anchors, flow collections, folded blocks and unknown keys are errors: a file that is only almost understood
//! is not written.

mod entry;
mod lines;
mod list;

pub use entry::WriteFile;
pub(super) use list::MAX_YAML_BYTES;
pub use list::read;

#[cfg(test)]
mod tests;
