//! Leaving a result: the report first, then the sentinel.
//!
//! Both are written beside their place, brought to the disk, and renamed into it. So whoever sees the
//! sentinel sees a whole report, whatever happens in between.

use std::io;
use std::path::Path;

use mooring_contract::CseStatus;

use crate::paths::{Layout, REPORT, SENTINEL};
use crate::secrets::MAX_FILE_BYTES;
use crate::world::{Replace, World};

/// Leaves a result: the report and then the sentinel, each where there is none. What could not be
/// written is returned, by its fixed path. Without its report there is no sentinel, which the next boot would take for a
/// success, unless `is_awaited`: then someone waits for it who has no other word.
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
        write_if_absent(world, &path, report.as_bytes()).map(drop)
    };
    failed.extend(written.err().map(|error| (REPORT, error)));
    if failed.is_empty() || is_awaited {
        let written = write_if_absent(world, &layout.at(SENTINEL), b"");
        failed.extend(written.err().map(|error| (SENTINEL, error)));
    }
    failed
}

/// The node's report, if there is one that is whole.
pub(crate) fn read(world: &mut dyn World, layout: &Layout) -> Option<CseStatus> {
    let text = world.read(&layout.at(REPORT), MAX_FILE_BYTES).ok()?;
    CseStatus::read(&text).ok().filter(|status| status.code().is_ok())
}

/// True if something stands in the report's place that is no report, as a full disk leaves it.
pub(crate) fn is_torn(world: &mut dyn World, layout: &Layout) -> bool {
    world.kind(&layout.at(REPORT)).is_ok() && read(world, layout).is_none()
}

/// What became of a file that was to be written only where none exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Written {
    /// It is there now, whole and on the disk.
    Now,
    /// There was one already, which was not touched.
    Before,
}

/// Mode of what only root may read.
const PRIVATE: u32 = 0o600;

/// Writes a file where none exists, or not at all. Missing folders are made. A link that leads
/// nowhere is replaced, never followed.
fn write_if_absent(world: &mut dyn World, path: &Path, bytes: &[u8]) -> io::Result<Written> {
    if world.kind(path).is_ok() {
        return Ok(Written::Before);
    }
    write_beside(world, path, bytes, |world, beside| {
        match world.rename(beside, path, Replace::No) {
            Ok(()) => Ok(Written::Now),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if world.kind(path).is_ok() {
                    return Ok(Written::Before);
                }
                world.rename(beside, path, Replace::Yes).map(|()| Written::Now)
            }
            Err(error) => Err(error),
        }
    })
}

/// Writes a file, replacing what is there in one instant.
pub(crate) fn replace(world: &mut dyn World, path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_beside(world, path, bytes, |world, beside| {
        world.rename(beside, path, Replace::Yes).map(|()| Written::Now)
    })?;
    Ok(())
}

/// Writes beside `path`, then lets `place` rename it there. Nothing stays beside it.
fn write_beside(
    world: &mut dyn World,
    path: &Path,
    bytes: &[u8],
    place: impl FnOnce(&mut dyn World, &Path) -> io::Result<Written>,
) -> io::Result<Written> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    world.create_dir_all(folder)?;
    let beside = folder.join(format!(".{}.{}", name.to_string_lossy(), world.pid()));
    // Left by a process of the same number that was killed in the middle of this.
    let _ = world.remove(&beside);
    let written = world
        .write_new(&beside, bytes, PRIVATE)
        .and_then(|()| world.sync(&beside))
        .and_then(|()| place(world, &beside));
    if !matches!(written, Ok(Written::Now)) {
        let _ = world.remove(&beside);
    }
    let written = written?;
    if written == Written::Now {
        world.sync(folder)?;
    }
    Ok(written)
}
