//! Replaces a file in one instant.

use std::io;
use std::path::Path;

use crate::world::{Replace, World};

/// Writes a temporary file, syncs it, and renames it. The directory is not created.
pub(super) fn replace(
    world: &mut dyn World,
    path: &Path,
    beside: &str,
    bytes: &[u8],
    mode: u32,
) -> io::Result<()> {
    let beside = path.with_file_name(beside);
    let written = write_temporary(world, &beside, bytes, mode)
        .and_then(|()| world.rename(&beside, path, Replace::Yes));
    if written.is_err() {
        let _ = world.remove(&beside);
    }
    written?;
    world.sync(path.parent().unwrap_or(path))
}

/// Writes a temporary file and syncs it. One that a killed process left is removed by the next one, which is why its
/// name is fixed.
pub(super) fn write_temporary(
    world: &mut dyn World,
    path: &Path,
    bytes: &[u8],
    mode: u32,
) -> io::Result<()> {
    let _ = world.remove(path);
    world.write_new(path, bytes, mode)?;
    world.set_mode(path, mode)?;
    world.sync(path)
}
