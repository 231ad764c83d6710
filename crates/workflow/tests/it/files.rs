//! Journals in files: torn writes, conflicts, permissions.

use std::cell::RefCell;
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::rc::Rc;

use mooring_workflow::Entry;
use mooring_workflow::journal::{JournalError, encode, follow};
use mooring_workflow::store::{Disk, FileJournal, RealDisk, StoreError};

use crate::sample::{
    SampleEntry, SampleRecord, SampleStep, at, chain, done, intent, session, started, stopped,
};

type Journal<D> = FileJournal<D, SampleEntry>;

fn records() -> Vec<SampleRecord> {
    chain(vec![
        started(),
        done(SampleStep::Prepare),
        stopped("m"),
        Entry::Resumed(Box::new(session(1))),
        intent("a"),
    ])
}

fn open(path: &Path) -> Result<Journal<RealDisk>, StoreError> {
    FileJournal::open(RealDisk, path)
}

/// A file, and the number of bytes after which the next write is torn.
type TornFile = (Option<Vec<u8>>, Option<usize>);

#[derive(Default, Clone)]
struct TornDisk(Rc<RefCell<TornFile>>);

impl Disk for TornDisk {
    fn read(&self, _: &Path) -> io::Result<Option<Vec<u8>>> {
        Ok(self.0.borrow().0.clone())
    }

    fn append(&mut self, _: &Path, keep: u64, bytes: &[u8]) -> io::Result<bool> {
        let mut inner = self.0.borrow_mut();
        let tear = inner.1.take();
        let file = inner.0.get_or_insert_default();
        file.truncate(usize::try_from(keep).unwrap());
        file.extend_from_slice(&bytes[..tear.unwrap_or(bytes.len())]);
        if tear.is_some() { Err(io::Error::other("power failure")) } else { Ok(true) }
    }

    fn replace(&mut self, _: &Path, bytes: &[u8]) -> io::Result<()> {
        self.0.borrow_mut().0 = Some(bytes.to_vec());
        Ok(())
    }
}

/// As many records and the same last one: each alone does not show that nothing was changed.
#[test]
fn repeated_or_replaced_last_line_is_a_conflict() {
    let records = records();
    let replaced = chain(vec![started(), done(SampleStep::Change)]);
    for last in [encode(&records[1]).repeat(2), encode(&replaced[1])] {
        let disk = TornDisk::default();
        let mut journal = Journal::open(disk.clone(), Path::new("j")).unwrap();
        for record in &records[..2] {
            journal.append(record).unwrap();
        }
        disk.0.borrow_mut().0 = Some((encode(&records[0]) + &last).into_bytes());
        let appended = journal.append(&records[2]);
        assert!(matches!(appended, Err(StoreError::LostLock)), "{appended:?}");
    }
}

#[test]
fn write_torn_at_any_byte_leaves_the_journal_unchanged() {
    let records = records();
    let open = |disk: &TornDisk| Journal::open(disk.clone(), Path::new("j")).unwrap();
    for tear in 0..encode(&records[1]).len() - 1 {
        let disk = TornDisk::default();
        open(&disk).append(&records[0]).unwrap();
        let mut journal = open(&disk);
        disk.0.borrow_mut().1 = Some(tear);
        assert!(matches!(journal.append(&records[1]), Err(StoreError::Unavailable(_))));
        let mut journal = open(&disk);
        assert_eq!(journal.records(), &records[..1]);
        journal.append(&records[1]).unwrap();
        assert_eq!(open(&disk).records(), &records[..2]);
    }
}

#[test]
fn torn_line_in_a_file_is_overwritten() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    let records = records();
    std::fs::write(&path, encode(&records[0]) + "{\"schema\": \"\u{e4}").unwrap();
    let mut journal = open(&path).unwrap();
    journal.append(&records[1]).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), encode(&records[0]) + &encode(&records[1]));
}

#[test]
fn former_writer_cannot_append() {
    let records = records();
    let disk = TornDisk::default();
    let mut one = Journal::open(disk.clone(), Path::new("j")).unwrap();
    let mut two = Journal::open(disk, Path::new("j")).unwrap();
    one.append(&records[0]).unwrap();
    assert!(matches!(two.append(&records[0]), Err(StoreError::LostLock)));
    assert!(matches!(one.append(&records[2]), Err(StoreError::LostLock)), "it does not follow");
    let other = follow(Some(&records[0]), "r1", at(9), stopped("m"));
    assert!(matches!(two.append(&other), Err(StoreError::LostLock)), "it was not read");
    one.append(&records[1]).unwrap();
}

/// Another process may append between the comparison and the write.
#[test]
fn append_never_cuts_off_whole_lines() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    std::fs::write(&path, "one\ntwo\n").unwrap();
    assert!(!RealDisk.append(&path, 4, b"three\n").unwrap());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\ntwo\n");
    assert!(RealDisk.append(&path, 8, b"three\n").unwrap());
    std::fs::write(&path, "one\ntorn").unwrap();
    assert!(RealDisk.append(&path, 4, b"two\n").unwrap());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\ntwo\n");
}

#[test]
fn old_records_are_dropped_and_the_last_ones_kept() {
    let records = records();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    let mut journal = open(&path).unwrap();
    for record in &records[..4] {
        journal.append(record).unwrap();
    }
    journal.keep(9).unwrap();
    assert_eq!(journal.records(), &records[..4], "fewer exist");
    // A process that died may leave its new file, readable by all.
    let leftover = directory.path().join(format!("journal.{}.new", std::process::id()));
    std::fs::write(&leftover, "x".repeat(100_000)).unwrap();
    journal.keep(2).unwrap();
    assert_eq!(journal.records(), &records[2..4]);
    assert!(!leftover.exists());
    journal.append(&records[4]).unwrap();
    assert_eq!(open(&path).unwrap().records(), &records[2..]);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let missing = directory.path().join("none/journal");
    let error = open(&missing).unwrap().append(&records[0]).unwrap_err();
    assert!(matches!(error, StoreError::Unavailable(_)), "{error}");
    assert!(error.to_string().contains("none/journal"), "{error}");
}

#[test]
fn journal_file_is_private_regular_and_never_a_link() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    std::fs::write(&path, "").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
    let mut journal = open(&path).unwrap();
    for record in &records() {
        journal.append(record).unwrap();
    }
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(open(&path).unwrap().records(), records());
    // A device has no end.
    let error = open(Path::new("/dev/zero")).unwrap_err();
    assert!(error.to_string().contains("not a regular file"), "{error}");
    let link = directory.path().join("link");
    symlink(&path, &link).unwrap();
    assert!(matches!(open(&link), Err(StoreError::Unavailable(_))));
    std::fs::write(&path, b"\xff\xfe\n").unwrap();
    let error = open(&path).unwrap_err();
    assert!(matches!(error, StoreError::Journal(JournalError::Unreadable(0, _))), "{error}");
}

#[test]
fn bare_file_name_is_in_the_working_directory() {
    // The parent of a bare name is empty.
    let name = format!("journal-{}.test", std::process::id());
    let mut journal = open(Path::new(&name)).unwrap();
    let appended = journal.append(&records()[0]);
    std::fs::remove_file(&name).unwrap();
    appended.unwrap();
}
