//! Replaces a file in one instant.

use std::io;
use std::path::Path;

use crate::world::{Replace, World};

/// Writes a temporary file, syncs it, and renames it. The directory is not created. A
/// temporary file that a killed process left is removed by the next one, which is why its name is fixed.
pub(super) fn replace(
    world: &mut dyn World,
    path: &Path,
    beside: &str,
    bytes: &[u8],
    mode: u32,
) -> io::Result<()> {
    let beside = path.with_file_name(beside);
    let _ = world.remove(&beside);
    let written = world
        .write_new(&beside, bytes, mode)
        .and_then(|()| world.set_mode(&beside, mode))
        .and_then(|()| world.sync(&beside))
        .and_then(|()| world.rename(&beside, path, Replace::Yes));
    if written.is_err() {
        let _ = world.remove(&beside);
    }
    written?;
    world.sync(path.parent().unwrap_or(path))
}
