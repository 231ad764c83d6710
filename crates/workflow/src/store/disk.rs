//! A journal in a file.

use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, fchmod, open};
use rustix::io::Errno;

use super::error::StoreError;
use crate::journal::{Content, JournalError, Record, decode, encode, follow};

/// File operations of a journal, which tests replace to tear writes.
pub trait Disk {
    /// Reads the whole file; none if it does not exist.
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>>;
    /// Truncates the file to `keep` bytes and appends, durably. Creates the file if needed. Returns false and does nothing
    /// if whole lines follow `keep`: another process continued it.
    fn append(&mut self, path: &Path, keep: u64, bytes: &[u8]) -> io::Result<bool>;
    /// Replaces the file atomically and durably.
    fn replace(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()>;
}

/// Records in a file, one line each.
#[derive(Debug)]
pub struct FileJournal<D, E> {
    disk: D,
    path: PathBuf,
    records: Vec<Record<E>>,
}

impl<D: Disk, E: Content> FileJournal<D, E> {
    pub fn open(disk: D, path: &Path) -> Result<Self, StoreError> {
        let mut journal = Self { disk, path: path.to_owned(), records: Vec::new() };
        let bytes = journal.whole_lines()?;
        let text = std::str::from_utf8(&bytes)
            .map_err(|_| JournalError::Unreadable(0, "not UTF-8".to_owned()))?;
        journal.records = decode(text)?;
        Ok(journal)
    }

    /// Returns the part of the file that counts. A torn last line may end inside a character, so it is dropped before the
    /// text is decoded.
    fn whole_lines(&self) -> Result<Vec<u8>, StoreError> {
        let bytes = self.disk.read(&self.path).map_err(|error| self.disk_error(&error))?;
        let mut bytes = bytes.unwrap_or_default();
        bytes.truncate(bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1));
        Ok(bytes)
    }

    pub fn records(&self) -> &[Record<E>] {
        &self.records
    }

    /// Appends a record durably; it must follow the last one.
    pub fn append(&mut self, record: &Record<E>) -> Result<(), StoreError> {
        let expected = self.records.last();
        let follows = follow(expected, &record.run, record.at, record.entry.clone());
        let lines = self.unchanged_lines()?;
        let Some(lines) = lines.filter(|_| follows.hash == record.hash) else {
            return Err(StoreError::LostLock);
        };
        let line = encode(record);
        let appended = self.disk.append(&self.path, lines.len() as u64, line.as_bytes());
        if !appended.map_err(|error| self.disk_error(&error))? {
            return Err(StoreError::LostLock);
        }
        self.records.push(record.clone());
        Ok(())
    }

    /// Returns the part that counts if it is unchanged: as many records, and the same last one, whose hash covers those
    /// before it. Not the whole chain: thousands of records would be read thousands of times.
    fn unchanged_lines(&self) -> Result<Option<Vec<u8>>, StoreError> {
        let bytes = self.whole_lines()?;
        let mut lines = bytes.split_inclusive(|byte| *byte == b'\n');
        let count = lines.clone().count();
        let last = lines.next_back().and_then(|line| std::str::from_utf8(line).ok());
        let last = last.and_then(|line| decode::<E>(line).ok()?.pop());
        let same = count == self.records.len() && last.as_ref() == self.records.last();
        Ok(same.then_some(bytes))
    }

    /// Deletes all records but the last `retained` ones. Their lines stay as they were written.
    pub fn keep(&mut self, retained: usize) -> Result<(), StoreError> {
        let from = self.records.len().saturating_sub(retained);
        if from == 0 {
            return Ok(());
        }
        let Some(bytes) = self.unchanged_lines()? else { return Err(StoreError::LostLock) };
        let lines = bytes.split_inclusive(|byte| *byte == b'\n').skip(from);
        let text: Vec<u8> = lines.flatten().copied().collect();
        self.disk.replace(&self.path, &text).map_err(|error| self.disk_error(&error))?;
        self.records.drain(..from);
        Ok(())
    }

    fn disk_error(&self, error: &io::Error) -> StoreError {
        StoreError::Unavailable(format!("{}: {error}", self.path.display()))
    }
}

/// Flags for every file: no symbolic links, and no waiting for the other end of a pipe.
pub(crate) const NEVER_A_LINK: OFlags =
    OFlags::NOFOLLOW.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK);
pub(crate) const OWNER_ONLY: Mode = Mode::RUSR.union(Mode::WUSR);

/// The file system: no symbolic links, for the owner only, durable with the directory entry.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        use std::io::Read as _;
        match open(path, NEVER_A_LINK, Mode::empty()) {
            Ok(file) => {
                let mut bytes = Vec::new();
                regular(file)?.read_to_end(&mut bytes)?;
                Ok(Some(bytes))
            }
            Err(Errno::NOENT) => Ok(None),
            Err(Errno::LOOP) => Err(io::Error::other("a symbolic link is not followed")),
            Err(error) => Err(error.into()),
        }
    }

    fn append(&mut self, path: &Path, keep: u64, bytes: &[u8]) -> io::Result<bool> {
        use std::io::{Read as _, Seek as _, Write as _};
        let flags = NEVER_A_LINK.union(OFlags::RDWR).union(OFlags::CREATE);
        let mut file = regular(open(path, flags, OWNER_ONLY)?)?;
        // The file may exist with other permissions.
        fchmod(&file, OWNER_ONLY)?;
        file.seek(io::SeekFrom::Start(keep))?;
        let mut rest = Vec::new();
        file.read_to_end(&mut rest)?;
        if rest.contains(&b'\n') {
            return Ok(false);
        }
        file.set_len(keep)?;
        file.seek(io::SeekFrom::End(0))?;
        file.write_all(bytes)?;
        file.sync_all()?;
        sync_directory(path).map(|()| true)
    }

    fn replace(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        use std::io::Write as _;
        let mut temporary = path.as_os_str().to_owned();
        // Another process may replace the file at the same time.
        temporary.push(format!(".{}.new", std::process::id()));
        // Never an existing file, whose permissions may differ.
        let _ = std::fs::remove_file(&temporary);
        let flags = NEVER_A_LINK.union(OFlags::WRONLY).union(OFlags::CREATE).union(OFlags::EXCL);
        let mut file = std::fs::File::from(open(&temporary, flags, OWNER_ONLY)?);
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&temporary, path)?;
        sync_directory(path)
    }
}

/// Rejects devices, which have no end.
fn regular(file: std::os::fd::OwnedFd) -> io::Result<std::fs::File> {
    let file = std::fs::File::from(file);
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("not a regular file")) }
}

fn sync_directory(path: &Path) -> io::Result<()> {
    // The parent of a bare name is empty.
    let directory = Path::new(".").join(path.parent().unwrap_or(path));
    std::fs::File::open(directory)?.sync_all()
}
