//! Reads confined to a node's root.
//!
//! Other users may have accounts on the node. Every part of a path is opened separately without following links, so that
//! no path leaves the root, even if it is changed during the read.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, fstat, openat, statat};
use rustix::io::Errno;

pub(crate) struct Root {
    directory: OwnedFd,
}

#[derive(Debug)]
pub(crate) struct ReadFile {
    /// Content of the file, or its end.
    pub(crate) bytes: Vec<u8>,
    pub(crate) size: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FileReadError {
    Missing,
    /// Not read, with the reason for the manifest.
    Skipped(String),
}

pub(super) fn skipped(why: &str) -> FileReadError {
    FileReadError::Skipped(why.to_owned())
}

impl From<Errno> for FileReadError {
    fn from(error: Errno) -> Self {
        match error {
            Errno::NOENT | Errno::NOTDIR => Self::Missing,
            Errno::LOOP => skipped("symbolic link; not followed"),
            other => Self::Skipped(io::Error::from(other).to_string()),
        }
    }
}

impl Root {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self { directory: rustix::fs::open(path, flags, Mode::empty())? })
    }

    /// Opens the directory of a path; returns it with the last part of the path.
    fn descend<'a>(&self, path: &'a str) -> Result<(OwnedFd, &'a str), FileReadError> {
        let (directories, last) = path.rsplit_once('/').unwrap_or(("", path));
        let mut directory = self
            .directory
            .try_clone()
            .map_err(|error| FileReadError::Skipped(error.to_string()))?;
        for part in directories.split('/').filter(|part| !part.is_empty()) {
            ensure_not_link(&directory, part)?;
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            directory = openat(&directory, part, flags, Mode::empty())?;
        }
        Ok((directory, last))
    }

    /// Reads a file, or its last `max` bytes.
    pub(crate) fn read(&self, path: &str, max: u64) -> Result<ReadFile, FileReadError> {
        let (directory, name) = self.descend(path)?;
        ensure_not_link(&directory, name)?;
        // Opening a pipe would block.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = openat(&directory, name, flags, Mode::empty())?;
        let stat = fstat(&file)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(skipped("not a regular file"));
        }
        if stat.st_nlink > 1 {
            return Err(skipped("hard link; may be another file"));
        }
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        let mut file = File::from(file);
        let mut bytes = Vec::new();
        let read = file
            .seek(SeekFrom::Start(size.saturating_sub(max)))
            .and_then(|_| file.take(max).read_to_end(&mut bytes));
        read.map_err(|error| FileReadError::Skipped(error.to_string()))?;
        Ok(ReadFile { bytes, size })
    }

    /// Returns the paths that match a pattern with one `*` in its last part, sorted.
    pub(crate) fn matching(&self, pattern: &str, max: usize) -> Result<Vec<String>, FileReadError> {
        let Some((before, suffix)) = pattern.split_once('*') else {
            return Ok(vec![pattern.to_owned()]);
        };
        let (directory, prefix) = before.rsplit_once('/').unwrap_or(("", before));
        let (opened, _) = self.descend(&format!("{directory}/"))?;
        let mut names = Vec::new();
        for entry in Dir::read_from(&opened)?.flatten().take(max) {
            let Ok(name) = entry.file_name().to_str() else { continue };
            if name.len() > prefix.len() + suffix.len()
                && name.starts_with(prefix)
                && name.ends_with(suffix)
            {
                names.push(format!("{directory}/{name}"));
            }
        }
        names.sort();
        Ok(names)
    }
}

/// Fails for links with a clear reason; `openat` would return a generic error.
fn ensure_not_link(directory: &OwnedFd, name: &str) -> Result<(), FileReadError> {
    let stat = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Symlink => Err(skipped("symbolic link; not followed")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::disallowed_methods, reason = "files of a test")]
    fn pattern_matches_names_with_a_part_for_its_star() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("log")).unwrap();
        for name in ["ab.log", "abc.log", "abxyz.log", "ab.log.1", "xab1.log", "ab"] {
            std::fs::write(folder.path().join("log").join(name), "0123456789").unwrap();
        }
        let root = Root::open(folder.path()).unwrap();
        let names = |pattern: &str| root.matching(pattern, 100).unwrap();
        assert_eq!(names("log/ab*.log"), ["log/abc.log", "log/abxyz.log"]);
        assert_eq!(names("log/*.log").len(), 4);
        assert_eq!(names("log/zz.log"), ["log/zz.log"], "without a star");
        assert_eq!(root.matching("none/*", 100), Err(FileReadError::Missing));
        let read = root.read("log/ab.log", 4).unwrap();
        assert_eq!((read.bytes.as_slice(), read.size), (&b"6789"[..], 10));
        assert_eq!(root.read("log/zz.log", 4).unwrap_err(), FileReadError::Missing);
    }
}
