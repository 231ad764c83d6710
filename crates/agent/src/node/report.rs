//! Results: the report first, then the sentinel.
//!
//! Both are written to a temporary file, synced and renamed. So a sentinel implies a complete report.

use std::io;
use std::path::Path;

use mooring_contract::CseStatus;

use super::paths::{Layout, REPORT, SENTINEL};
use super::secrets::MAX_FILE_BYTES;
use crate::world::{ReadFailure, Replace, World};

/// Writes the report and then the sentinel, unless they exist; returns the fixed paths of files that could not
/// be written. Without its report the sentinel is not written, because the next boot would take it for a success,
/// unless `is_awaited`: a `provision-wait` has no other source.
pub(crate) fn leave(
    world: &mut dyn World,
    layout: &Layout,
    status: &CseStatus,
    is_awaited: bool,
) -> Vec<(&'static str, io::Error)> {
    let mut failed = Vec::new();
    let path = layout.at(REPORT);
    let report = status.to_json();
    // A report that the scripts could not write to its end is none.
    let written = if is_torn(world, layout) {
        replace(world, &path, report.as_bytes())
    } else {
        write_if_absent(world, &path, report.as_bytes())
    };
    failed.extend(written.err().map(|error| (REPORT, error)));
    if failed.is_empty() || is_awaited {
        let written = write_if_absent(world, &layout.at(SENTINEL), b"");
        failed.extend(written.err().map(|error| (SENTINEL, error)));
    }
    failed
}

/// The bytes of the node's report.
pub(crate) fn read_text(world: &mut dyn World, layout: &Layout) -> Result<Vec<u8>, ReadFailure> {
    world.read(&layout.at(REPORT), MAX_FILE_BYTES)
}

/// The node's report, if there is one that is whole.
pub(crate) fn read(world: &mut dyn World, layout: &Layout) -> Option<CseStatus> {
    let text = read_text(world, layout).ok()?;
    CseStatus::read(&text).ok().filter(|status| status.code().is_ok())
}

/// Returns true if the file is not a valid report, for example after a full disk.
pub(crate) fn is_torn(world: &mut dyn World, layout: &Layout) -> bool {
    world.kind(&layout.at(REPORT)).is_ok() && read(world, layout).is_none()
}

/// Mode of what only root may read.
const PRIVATE: u32 = 0o600;

/// Writes a file unless it exists, and creates missing directories. A broken link is replaced, never followed.
fn write_if_absent(world: &mut dyn World, path: &Path, bytes: &[u8]) -> io::Result<()> {
    if world.kind(path).is_ok() {
        return Ok(());
    }
    write_temporary(world, path, bytes, |world, beside| {
        match world.rename(beside, path, Replace::No) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if world.kind(path).is_ok() {
                    return Ok(false);
                }
                world.rename(beside, path, Replace::Yes).map(|()| true)
            }
            Err(error) => Err(error),
        }
    })
}

/// Replaces a file atomically.
pub(crate) fn replace(world: &mut dyn World, path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_temporary(world, path, bytes, |world, beside| {
        world.rename(beside, path, Replace::Yes).map(|()| true)
    })
}

/// Writes a temporary file next to `path`, which `place` renames unless `path` exists; it never remains.
fn write_temporary(
    world: &mut dyn World,
    path: &Path,
    bytes: &[u8],
    place: impl FnOnce(&mut dyn World, &Path) -> io::Result<bool>,
) -> io::Result<()> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    world.create_dir_all(folder)?;
    let beside = folder.join(format!(".{}.{}", name.to_string_lossy(), world.pid()));
    // Leftover of a killed process with the same pid.
    let _ = world.remove(&beside);
    let written = world
        .write_new(&beside, bytes, PRIVATE)
        .and_then(|()| world.sync(&beside))
        .and_then(|()| place(world, &beside));
    if !matches!(written, Ok(true)) {
        let _ = world.remove(&beside);
    }
    if written? {
        world.sync(folder)?;
    }
    Ok(())
}
