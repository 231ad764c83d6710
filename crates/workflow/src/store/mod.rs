//! Where a journal is kept, with its lock: in the target cluster, or in a file.

mod config_map;
mod disk;
mod file;
mod segments;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::journal::{Content, JournalError, Record};
use crate::lock::{Lock, Owner};

pub use config_map::ConfigMapStore;
pub use disk::{Disk, FileError, FileJournal, RealDisk};
pub use file::FileStore;
pub use segments::{SEGMENT_BYTES, Segment, join, split};

/// Where journals are kept in a cluster.
pub const NAMESPACE: &str = "mooring-system";
/// The manifest that creates [`NAMESPACE`] and the permissions in it.
pub const MANIFEST: &str = "packaging/roles/mooring-repair-cluster.yaml";

/// Where a journal is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JournalPlace {
    /// In the target cluster, in this namespace.
    ConfigMap(String),
    /// In a file, by its whole path.
    File(String),
}

impl Default for JournalPlace {
    fn default() -> Self {
        Self::ConfigMap(NAMESPACE.to_owned())
    }
}

/// A store that cannot be used.
#[derive(Debug, Error)]
pub enum StoreError {
    /// Somebody else holds the lock, or wrote since.
    #[error("somebody else took the run over")]
    LostLock,
    /// The store does not answer, or does not let us.
    #[error("the journal cannot be used: {0}")]
    Unavailable(String),
    /// What it holds is no journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// What a store holds.
#[derive(Debug)]
pub struct Contents<E> {
    pub records: Vec<Record<E>>,
    /// The lock, if it is held.
    pub lock: Option<Lock>,
}

pub enum Store<E> {
    /// In the target cluster.
    ConfigMap(Box<ConfigMapStore<E>>),
    File(FileStore<E>),
}

impl<E: Content> Store<E> {
    pub async fn load(&mut self) -> Result<Contents<E>, StoreError> {
        match self {
            Self::ConfigMap(store) => store.load().await,
            Self::File(store) => store.load(),
        }
    }

    /// Takes the lock, unless what was loaded last has changed.
    pub async fn lock(&mut self, owner: &Owner, now: Timestamp) -> Result<(), StoreError> {
        let lock = Lock { owner: owner.clone(), heartbeat: now };
        match self {
            Self::ConfigMap(store) => store.set_lock(Some(lock)).await,
            Self::File(store) => store.lock(lock),
        }
    }

    /// Takes the lock; what the journal holds then. That of a `ConfigMap` is taken only if nothing changed since `loaded`; the
    /// owner of a file may have written once more before it let go.
    pub async fn take(
        &mut self,
        owner: &Owner,
        now: Timestamp,
        loaded: Contents<E>,
    ) -> Result<Contents<E>, StoreError> {
        self.lock(owner, now).await?;
        match self {
            Self::ConfigMap(_) => Ok(loaded),
            Self::File(store) => store.load(),
        }
    }

    /// Says that the owner is alive.
    pub async fn beat(&mut self, now: Timestamp) -> Result<(), StoreError> {
        match self {
            Self::ConfigMap(store) => store.beat(now).await,
            Self::File(store) => store.beat(now),
        }
    }

    /// Gives the lock back.
    pub async fn unlock(&mut self) -> Result<(), StoreError> {
        match self {
            Self::ConfigMap(store) => store.set_lock(None).await,
            Self::File(store) => store.unlock(),
        }
    }

    /// Appends a record, durably, if the lock is still ours.
    pub async fn append(&mut self, record: &Record<E>, now: Timestamp) -> Result<(), StoreError> {
        match self {
            Self::ConfigMap(store) => store.append(record, now).await,
            Self::File(store) => store.append(record),
        }
    }

    /// Forgets all but the last records.
    pub async fn keep(&mut self, all: usize, retained: usize) -> Result<(), StoreError> {
        match self {
            Self::ConfigMap(store) => store.keep(all, retained).await,
            Self::File(store) => store.keep(retained),
        }
    }

    pub fn place(&self) -> String {
        match self {
            Self::ConfigMap(store) => store.place(),
            Self::File(store) => store.place(),
        }
    }
}
