//! The lock of a journal in a file: `flock` on a second file that is never replaced.
//!
//! The kernel releases the lock when its process ends, and keeps it while the process is stopped. The content of the file
//! names the process, for messages only.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use rustix::io::Errno;

use super::{Lock, LockAttempt, LockOwner};
use crate::store::disk::{NEVER_A_LINK, OWNER_ONLY};
use crate::store::error::StoreError;

pub struct FileLock {
    journal: PathBuf,
    owner: LockOwner,
    held: Option<File>,
}

impl FileLock {
    pub(crate) fn new(journal: &Path, owner: &LockOwner) -> Self {
        Self { journal: journal.to_owned(), owner: owner.clone(), held: None }
    }

    pub(super) fn attempt(&mut self, now: Timestamp) -> Result<LockAttempt, StoreError> {
        if self.held.is_some() {
            return Ok(LockAttempt::Held);
        }
        self.held = self.lock().map_err(|error| unusable(&self.journal, &error))?;
        if self.held.is_some() {
            return Ok(LockAttempt::Held);
        }
        Ok(match file_holder(&self.journal, now)? {
            Some(lock) => LockAttempt::HeldBy(lock),
            // Released just now.
            None => LockAttempt::Failed("the lock is busy".to_owned()),
        })
    }

    /// Locks the file; none if another process holds the lock.
    fn lock(&self) -> io::Result<Option<File>> {
        let flags = NEVER_A_LINK.union(OFlags::RDWR).union(OFlags::CREATE);
        let mut file = File::from(open(lock_path(&self.journal), flags, OWNER_ONLY)?);
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
        file.set_len(0)?;
        file.write_all(serde_json::to_string(&self.owner)?.as_bytes())?;
        Ok(Some(file))
    }

    pub(super) fn release(&mut self) {
        if let Some(file) = self.held.take() {
            // Closing the file releases the lock, regardless of its content.
            let _ = file.set_len(0);
        }
    }
}

pub(crate) fn file_holder(journal: &Path, now: Timestamp) -> Result<Option<Lock>, StoreError> {
    let file = match open(lock_path(journal), NEVER_A_LINK, Mode::empty()) {
        Ok(file) => file,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(unusable(journal, &error.into())),
    };
    match flock(&file, FlockOperation::NonBlockingLockShared) {
        Ok(()) => return Ok(None),
        Err(Errno::WOULDBLOCK) => {}
        Err(error) => return Err(unusable(journal, &error.into())),
    }
    let mut text = String::new();
    let read = File::from(file).read_to_string(&mut text);
    read.map_err(|error| unusable(journal, &error))?;
    // A process that has just locked it may not have written its name yet.
    let unknown = LockOwner { host: "unknown".to_owned(), pid: 0, holder: String::new() };
    let owner = serde_json::from_str(&text).unwrap_or(unknown);
    Ok(Some(Lock { owner, heartbeat: now, expires: false }))
}

fn lock_path(journal: &Path) -> PathBuf {
    let mut path = journal.as_os_str().to_owned();
    path.push(".lock");
    path.into()
}

fn unusable(journal: &Path, error: &io::Error) -> StoreError {
    StoreError::Unavailable(format!("{}: {error}", lock_path(journal).display()))
}
