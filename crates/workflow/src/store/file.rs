//! A journal in a file. Its lock is in [`crate::store::lock`].

use std::path::{Path, PathBuf};

use super::disk::{FileJournal, RealDisk};
use super::error::StoreError;
use crate::journal::{Content, Record};

pub struct FileStore<E> {
    path: PathBuf,
    journal: Option<FileJournal<RealDisk, E>>,
}

impl<E: Content> FileStore<E> {
    #[must_use]
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), journal: None }
    }

    pub(super) fn place(&self) -> String {
        format!("file {}", self.path.display())
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn load(&mut self) -> Result<Vec<Record<E>>, StoreError> {
        let journal = FileJournal::open(RealDisk, &self.path)?;
        Ok(self.journal.insert(journal).records().to_vec())
    }

    pub(super) fn append(&mut self, record: &Record<E>) -> Result<(), StoreError> {
        self.journal.as_mut().ok_or(StoreError::LostLock)?.append(record)
    }

    pub(super) fn keep(&mut self, retained: usize) -> Result<(), StoreError> {
        self.journal.as_mut().ok_or(StoreError::LostLock)?.keep(retained)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::tests::Note;

    #[test]
    fn symbolic_link_is_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        std::os::unix::fs::symlink("elsewhere", &path).unwrap();
        let error = FileStore::<Note>::new(&path).load().err().unwrap().to_string();
        assert!(error.contains("a symbolic link is not followed"), "{error}");
    }
}
