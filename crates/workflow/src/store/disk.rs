//! A journal in a file.

use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, fchmod, open};
use rustix::io::Errno;
use thiserror::Error;

use crate::journal::{Content, JournalError, Record, Tail, decode, encode, follow, verify};

/// What a journal needs of a disk, so that tests can tear writes and fill it.
pub trait Disk {
    /// The whole file; none if there is none.
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>>;
    /// Cuts the file to `keep` bytes, appends, and returns when it is on the disk. Makes the file if needed. False, and
    /// nothing is done, if there are whole lines behind `keep`: somebody continued it.
    fn append(&mut self, path: &Path, keep: u64, bytes: &[u8]) -> io::Result<bool>;
    /// Puts these bytes in the file's place at once, and returns when they are on the disk.
    fn replace(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()>;
}

/// A journal file that cannot be used.
#[derive(Debug, Error)]
pub enum FileError {
    /// The disk said no.
    #[error("the journal {path} cannot be used: {error}")]
    Disk { path: String, error: io::Error },
    /// The file is not a journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Somebody else wrote since.
    #[error("the journal was continued by somebody else")]
    Conflict,
}

/// Records in a file, one line each.
#[derive(Debug)]
pub struct FileJournal<D, E> {
    disk: D,
    path: PathBuf,
    records: Vec<Record<E>>,
}

impl<D: Disk, E: Content> FileJournal<D, E> {
    pub fn open(disk: D, path: &Path) -> Result<Self, FileError> {
        let mut journal = Self { disk, path: path.to_owned(), records: Vec::new() };
        let bytes = journal.whole_lines()?;
        let text = std::str::from_utf8(&bytes)
            .map_err(|_| JournalError::Unreadable(0, "not UTF-8".to_owned()))?;
        journal.records = decode(text, Tail::Whole)?;
        verify(&journal.records)?;
        Ok(journal)
    }

    /// The part of the file that counts: a torn last line is overwritten. It may end inside of a character, so it is
    /// cut off before the text is looked at.
    fn whole_lines(&self) -> Result<Vec<u8>, FileError> {
        let bytes = self.disk.read(&self.path).map_err(|error| self.disk_error(error))?;
        let mut bytes = bytes.unwrap_or_default();
        bytes.truncate(bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1));
        Ok(bytes)
    }

    pub fn records(&self) -> &[Record<E>] {
        &self.records
    }

    /// Appends a record, which must follow the last one, and returns when it is durable.
    pub fn append(&mut self, record: &Record<E>) -> Result<(), FileError> {
        let expected = self.records.last();
        let follows = follow(expected, &record.run, record.at, record.entry.clone());
        let length = self.length_if_as_it_was()?;
        let Some(length) = length.filter(|_| follows.hash == record.hash) else {
            return Err(FileError::Conflict);
        };
        let line = encode(record);
        let appended = self.disk.append(&self.path, length, line.as_bytes());
        if !appended.map_err(|error| self.disk_error(error))? {
            return Err(FileError::Conflict);
        }
        self.records.push(record.clone());
        Ok(())
    }

    /// The length of the part that counts, if it still is what we know: as many records, and our last one, whose hash
    /// stands for those before it. Not the whole chain again: thousands of records would be read thousands of times.
    fn length_if_as_it_was(&self) -> Result<Option<u64>, FileError> {
        let bytes = self.whole_lines()?;
        let lines = bytes.split(|byte| *byte == b'\n').skip(1).count();
        let last = self.records.last().map(encode).unwrap_or_default();
        let same = lines == self.records.len() && bytes.ends_with(last.as_bytes());
        Ok(same.then_some(bytes.len() as u64))
    }

    /// Forgets what was before these records, which must be the journal's last ones.
    pub fn keep(&mut self, retained: usize) -> Result<(), FileError> {
        let from = self.records.len().saturating_sub(retained);
        if from == 0 {
            return Ok(());
        }
        if self.length_if_as_it_was()?.is_none() {
            return Err(FileError::Conflict);
        }
        let text: String = self.records[from..].iter().map(encode).collect();
        self.disk.replace(&self.path, text.as_bytes()).map_err(|error| self.disk_error(error))?;
        self.records.drain(..from);
        Ok(())
    }

    fn disk_error(&self, error: io::Error) -> FileError {
        FileError::Disk { path: self.path.display().to_string(), error }
    }
}

/// How a file of ours is opened: never behind a link, and without waiting for the other end of a pipe.
pub(crate) const NEVER_A_LINK: OFlags =
    OFlags::NOFOLLOW.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK);
/// Who may read and write it.
pub(crate) const OWNER_ONLY: Mode = Mode::RUSR.union(Mode::WUSR);

/// The machine's disk: never through a link, for the owner only, and durable with its directory entry.
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
        // Also one that somebody else made, whatever rights it has.
        fchmod(&file, OWNER_ONLY)?;
        file.seek(io::SeekFrom::Start(keep))?;
        let mut behind = Vec::new();
        file.read_to_end(&mut behind)?;
        if behind.contains(&b'\n') {
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
        let mut beside = path.as_os_str().to_owned();
        // Of a name of our own: another one may be taking over at this moment, too.
        beside.push(format!(".{}.new", std::process::id()));
        // A file of our own making, with our own rights: never one that lies there already.
        let _ = std::fs::remove_file(&beside);
        let flags = NEVER_A_LINK.union(OFlags::WRONLY).union(OFlags::CREATE).union(OFlags::EXCL);
        let mut file = std::fs::File::from(open(&beside, flags, OWNER_ONLY)?);
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&beside, path)?;
        sync_directory(path)
    }
}

/// A file and nothing else: a device has no end.
fn regular(file: std::os::fd::OwnedFd) -> io::Result<std::fs::File> {
    let file = std::fs::File::from(file);
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("not a regular file")) }
}

fn sync_directory(path: &Path) -> io::Result<()> {
    // The parent of a bare name is empty, which is no directory.
    let directory = Path::new(".").join(path.parent().unwrap_or(path));
    std::fs::File::open(directory)?.sync_all()
}
