//! Leaving a result: the report first, then the sentinel.
//!
//! Both are written beside their place, brought to the disk, and renamed into it. So whoever sees the
//! sentinel sees a whole report, whatever happens in between.

use std::io;
use std::path::Path;

use mooring_contract::CseStatus;

use crate::paths::{Layout, REPORT, SENTINEL};
use crate::world::{Replace, World};

/// Leaves a result: the report and then the sentinel, each where there is none. What could not be
/// written is returned, by its fixed path.
pub(crate) fn leave(
    world: &mut dyn World,
    layout: &Layout,
    status: &CseStatus,
) -> Vec<(&'static str, io::Error)> {
    [(REPORT, status.to_json()), (SENTINEL, String::new())]
        .into_iter()
        .filter_map(|(fixed, content)| {
            let written = write_if_absent(world, &layout.at(fixed), content.as_bytes());
            written.err().map(|error| (fixed, error))
        })
        .collect()
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
