//! Rules of the repository: imports of crates, workflows, the lock file.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod habits;
mod imports;

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
