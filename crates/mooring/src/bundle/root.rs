//! Files below a node's root, and nothing else.
//!
//! The root may be `/` of a node on which others have accounts, so every part of a path is opened by itself and no link
//! is followed: a path cannot lead out of the root, whatever is put in its way meanwhile.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, fstat, openat, statat};
use rustix::io::Errno;

/// A folder that nothing leads out of.
pub(crate) struct Root {
    folder: OwnedFd,
}

#[derive(Debug)]
pub(crate) struct Read {
    /// The content, or its end.
    pub(crate) bytes: Vec<u8>,
    pub(crate) size: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refusal {
    Missing,
    /// For a reason that belongs into the list of what was left out.
    Because(String),
}

fn because(why: &str) -> Refusal {
    Refusal::Because(why.to_owned())
}

impl From<Errno> for Refusal {
    fn from(error: Errno) -> Self {
        match error {
            Errno::NOENT | Errno::NOTDIR => Self::Missing,
            Errno::LOOP => because("a link, which is not followed"),
            other => Self::Because(io::Error::from(other).to_string()),
        }
    }
}

impl Root {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self { folder: rustix::fs::open(path, flags, Mode::empty())? })
    }

    /// The folder of a path, and the path's last part.
    fn descend<'a>(&self, path: &'a str) -> Result<(OwnedFd, &'a str), Refusal> {
        let (folders, last) = path.rsplit_once('/').unwrap_or(("", path));
        let mut folder =
            self.folder.try_clone().map_err(|error| Refusal::Because(error.to_string()))?;
        for part in folders.split('/').filter(|part| !part.is_empty()) {
            not_a_link(&folder, part)?;
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            folder = openat(&folder, part, flags, Mode::empty())?;
        }
        Ok((folder, last))
    }

    /// Reads a file, or its last `most` bytes.
    pub(crate) fn read(&self, path: &str, most: u64) -> Result<Read, Refusal> {
        let (folder, name) = self.descend(path)?;
        not_a_link(&folder, name)?;
        // A pipe would keep us waiting.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = openat(&folder, name, flags, Mode::empty())?;
        let about = fstat(&file)?;
        if FileType::from_raw_mode(about.st_mode) != FileType::RegularFile {
            return Err(because("not a file"));
        }
        if about.st_nlink > 1 {
            return Err(because("has a second name, and may be something else"));
        }
        let size = u64::try_from(about.st_size).unwrap_or(0);
        let mut file = File::from(file);
        let mut bytes = Vec::new();
        let read = file
            .seek(SeekFrom::Start(size.saturating_sub(most)))
            .and_then(|_| file.take(most).read_to_end(&mut bytes));
        read.map_err(|error| Refusal::Because(error.to_string()))?;
        Ok(Read { bytes, size })
    }

    /// The paths that a pattern with one `*` in its last part fits, in order.
    pub(crate) fn matching(&self, pattern: &str, most: usize) -> Result<Vec<String>, Refusal> {
        let Some((before, behind)) = pattern.split_once('*') else {
            return Ok(vec![pattern.to_owned()]);
        };
        let (folder, start) = before.rsplit_once('/').unwrap_or(("", before));
        let (opened, _) = self.descend(&format!("{folder}/"))?;
        let mut names = Vec::new();
        for entry in Dir::read_from(&opened)?.flatten().take(most) {
            let Ok(name) = entry.file_name().to_str() else { continue };
            if name.len() > start.len() + behind.len()
                && name.starts_with(start)
                && name.ends_with(behind)
            {
                names.push(format!("{folder}/{name}"));
            }
        }
        names.sort();
        Ok(names)
    }
}

/// Says of a link that it is one; opening it would fail in other words.
fn not_a_link(folder: &OwnedFd, name: &str) -> Result<(), Refusal> {
    let about = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    match FileType::from_raw_mode(about.st_mode) {
        FileType::Symlink => Err(because("a link, which is not followed")),
        _ => Ok(()),
    }
}
