//! Files of a node.

use std::fs;
use std::path::Path;

use crate::step::{Failed, write};

/// Writes a file of a node, with its directories.
pub(super) fn leave(file: &Path, text: &str) -> Result<(), Failed> {
    fs::create_dir_all(file.parent().unwrap_or(file))?;
    write(file, text)
}
