//! A journal in a file, with a lock file beside it.
//!
//! The lock is the kernel's (`flock`), which frees it when its owner dies. The lock file also says who and when,
//! for people, and for machines that share the disk but not the kernel. The kernel does not free the lock of a process
//! that is stopped: if that one is silent for long enough, another lock file takes the place of its own, and whoever holds
//! a lock file that is no longer in its place has lost the run.

use std::fs::{File, Metadata};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use rustix::io::Errno;
use tokio::time::Instant;

use super::disk::{FileError, FileJournal, NEVER_A_LINK, OWNER_ONLY, RealDisk};
use super::{Contents, StoreError};
use crate::journal::{Content, Record};
use crate::lock::{Lock, STEADY};

pub struct FileStore<E> {
    path: PathBuf,
    journal: Option<FileJournal<RealDisk, E>>,
    held: Option<(File, Lock)>,
    /// The lock that was there the last time, and since when it is unchanged.
    seen: Option<(Box<Lock>, Instant)>,
}

impl<E: Content> FileStore<E> {
    /// The store at a path.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), journal: None, held: None, seen: None }
    }

    pub(super) fn place(&self) -> String {
        format!("file {}", self.path.display())
    }

    pub(super) fn load(&mut self) -> Result<Contents<E>, StoreError> {
        let journal = FileJournal::open(RealDisk, &self.path).map_err(failed)?;
        let records = journal.records().to_vec();
        self.journal = Some(journal);
        if let Some((_, lock)) = &self.held {
            return Ok(Contents { records, lock: Some(lock.clone()) });
        }
        let lock = self.read_lock()?;
        let same = |(seen, _): &(Box<Lock>, Instant)| Some(&**seen) == lock.as_ref();
        if !self.seen.as_ref().is_some_and(same) {
            self.seen = lock.clone().map(|lock| (Box::new(lock), Instant::now()));
        }
        Ok(Contents { records, lock })
    }

    /// Takes a lock that is free or whose owner is silent.
    pub(super) fn lock(&mut self, lock: Lock) -> Result<(), StoreError> {
        let mut file = self.open_lock().map_err(|error| self.unusable(&error))?;
        // A lock that is free in the kernel may still be one of another machine.
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => {
                // Who has just got it has not said so yet, and one that lives says so often.
                let holder = self.read_lock()?;
                let silent = |(seen, since): &(Box<Lock>, Instant)| {
                    Some(&**seen) == holder.as_ref()
                        && SignedDuration::try_from(since.elapsed())
                            .is_ok_and(|time| time >= STEADY)
                };
                if !self.seen.as_ref().is_some_and(silent) {
                    return Err(StoreError::LostLock);
                }
                file = self.replace_lock(&lock)?;
                // What it was about to write goes nowhere.
                FileJournal::<_, E>::open(RealDisk, &self.path)
                    .and_then(|mut journal| journal.renew())
                    .map_err(failed)?;
            }
            Err(error) => return Err(self.unusable(&error.into())),
        }
        self.held = Some((file, lock));
        let written = self.write_lock();
        if written.is_err() {
            self.held = None;
        }
        written
    }

    pub(super) fn beat(&mut self, now: Timestamp) -> Result<(), StoreError> {
        if let Some((_, lock)) = &mut self.held {
            lock.heartbeat = now;
        }
        self.write_lock()
    }

    pub(super) fn unlock(&mut self) -> Result<(), StoreError> {
        if let Some((file, _)) = self.held.take() {
            file.set_len(0).map_err(|error| self.unusable(&error))?;
        }
        Ok(())
    }

    pub(super) fn append(&mut self, record: &Record<E>) -> Result<(), StoreError> {
        self.still_held()?;
        self.journal.as_mut().ok_or(StoreError::LostLock)?.append(record).map_err(failed)?;
        // Whoever was stopped in between must not act on what it wrote.
        self.still_held()
    }

    pub(super) fn keep(&mut self, retained: usize) -> Result<(), StoreError> {
        self.still_held()?;
        self.journal.as_mut().ok_or(StoreError::LostLock)?.keep(retained).map_err(failed)
    }

    fn lock_path(&self) -> PathBuf {
        let mut path = self.path.as_os_str().to_owned();
        path.push(".lock");
        path.into()
    }

    fn open_lock(&self) -> io::Result<File> {
        let flags = NEVER_A_LINK.union(OFlags::RDWR).union(OFlags::CREATE);
        Ok(File::from(open(self.lock_path(), flags, OWNER_ONLY)?))
    }

    /// Another lock file in the place of the one that somebody holds.
    fn replace_lock(&self, lock: &Lock) -> Result<File, StoreError> {
        // Of a name of our own: another one may be taking over at this moment, too.
        let mut beside = self.lock_path().into_os_string();
        beside.push(format!(".{}", lock.owner.holder));
        let flags = NEVER_A_LINK.union(OFlags::RDWR).union(OFlags::CREATE).union(OFlags::EXCL);
        let placed = open(&beside, flags, OWNER_ONLY).map_err(io::Error::from).and_then(|file| {
            flock(&file, FlockOperation::NonBlockingLockExclusive)?;
            std::fs::rename(&beside, self.lock_path())?;
            Ok(File::from(file))
        });
        placed.map_err(|error| self.unusable(&error))
    }

    /// The lock file that we hold is the one in its place.
    fn still_held(&self) -> Result<(), StoreError> {
        let Some((file, _)) = &self.held else { return Err(StoreError::LostLock) };
        let identity = |of: io::Result<Metadata>| of.map(|of| (of.dev(), of.ino()));
        let held = identity(file.metadata()).map_err(|error| self.unusable(&error))?;
        match identity(std::fs::symlink_metadata(self.lock_path())) {
            Ok(in_place) if in_place == held => Ok(()),
            Ok(_) => Err(StoreError::LostLock),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(StoreError::LostLock),
            Err(error) => Err(self.unusable(&error)),
        }
    }

    fn read_lock(&self) -> Result<Option<Lock>, StoreError> {
        let mut text = String::new();
        match open(self.lock_path(), NEVER_A_LINK, Mode::empty()) {
            Ok(file) => {
                let read = File::from(file).read_to_string(&mut text);
                read.map_err(|error| self.unusable(&error))?;
            }
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(self.unusable(&error.into())),
        }
        // Half a line is of somebody who died while writing it, and whose lock is free.
        Ok(serde_json::from_str(&text).ok())
    }

    fn write_lock(&mut self) -> Result<(), StoreError> {
        self.still_held()?;
        let Some((file, lock)) = &mut self.held else { return Err(StoreError::LostLock) };
        let text = serde_json::to_string(lock).unwrap_or_default();
        let written = file
            .set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(text.as_bytes()));
        written.map_err(|error| self.unusable(&error))
    }

    fn unusable(&self, error: &io::Error) -> StoreError {
        StoreError::Unavailable(format!("{}: {error}", self.path.display()))
    }
}

fn failed(error: FileError) -> StoreError {
    match error {
        FileError::Conflict => StoreError::LostLock,
        FileError::Journal(error) => StoreError::Journal(error),
        FileError::Disk { .. } => StoreError::Unavailable(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::tests::Note;
    use crate::lock::Owner;

    struct Place(tempfile::TempDir);

    impl Place {
        fn new() -> Self {
            let place = Self(tempfile::tempdir().unwrap());
            std::fs::create_dir(place.folder()).unwrap();
            place
        }

        fn folder(&self) -> PathBuf {
            self.0.path().join("folder")
        }

        fn store(&self) -> FileStore<Note> {
            let mut store = FileStore::new(&self.folder().join("journal"));
            store.load().unwrap();
            store
        }
    }

    fn lock(holder: &str) -> Lock {
        let owner = Owner {
            host: "h".into(),
            boot: "b".into(),
            pid: 1,
            start: 1,
            holder: holder.to_owned(),
        };
        Lock { owner, heartbeat: Timestamp::UNIX_EPOCH }
    }

    /// A process of another container may look as if it were gone: what the kernel says counts, for a while.
    #[tokio::test(start_paused = true)]
    async fn a_lock_that_the_kernel_knows_of_is_taken_only_after_silence() {
        let place = Place::new();
        let mut theirs = place.store();
        theirs.lock(lock("theirs")).unwrap();
        let mut mine = place.store();
        assert!(matches!(mine.lock(lock("mine")), Err(StoreError::LostLock)), "at once");
        let steady = std::time::Duration::try_from(STEADY).unwrap();
        tokio::time::advance(steady).await;
        theirs.beat(Timestamp::UNIX_EPOCH + SignedDuration::from_secs(5)).unwrap();
        assert!(matches!(mine.lock(lock("mine")), Err(StoreError::LostLock)), "it lives");
        mine.load().unwrap();
        tokio::time::advance(steady).await;
        mine.lock(lock("mine")).unwrap();
        assert!(matches!(theirs.beat(Timestamp::UNIX_EPOCH), Err(StoreError::LostLock)));
    }

    #[test]
    fn a_lock_file_that_somebody_removed_is_a_lost_lock_and_one_out_of_reach_is_not() {
        let place = Place::new();
        let mut store = place.store();
        store.lock(lock("mine")).unwrap();
        store.beat(Timestamp::UNIX_EPOCH).unwrap();
        let aside = place.0.path().join("aside");
        std::fs::rename(place.folder(), &aside).unwrap();
        std::fs::OpenOptions::new().write(true).create_new(true).open(place.folder()).unwrap();
        assert!(matches!(store.beat(Timestamp::UNIX_EPOCH), Err(StoreError::Unavailable(_))));
        std::fs::remove_file(place.folder()).unwrap();
        std::fs::rename(&aside, place.folder()).unwrap();
        store.beat(Timestamp::UNIX_EPOCH).unwrap();
        std::fs::remove_file(place.folder().join("journal.lock")).unwrap();
        assert!(matches!(store.beat(Timestamp::UNIX_EPOCH), Err(StoreError::LostLock)));
    }

    #[test]
    fn a_link_is_refused_in_words() {
        let place = Place::new();
        let path = place.folder().join("journal");
        std::os::unix::fs::symlink("elsewhere", &path).unwrap();
        let error = FileStore::<Note>::new(&path).load().err().unwrap().to_string();
        assert!(error.contains("a symbolic link is not followed"), "{error}");
    }
}
