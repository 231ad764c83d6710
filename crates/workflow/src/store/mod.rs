//! Where a journal is kept: in the target cluster, or in a file.

mod config_map;
pub(crate) mod disk;
mod file;
mod segments;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::error::explain;
pub use crate::error::{MANIFEST, NAMESPACE, StoreError};
use crate::journal::{Content, Record};
use crate::lock::{FileLock, JournalLock, LeaseLock, Lock, Owner, file_holder, lease_holder};
use crate::world::Clock;

pub use config_map::ConfigMapStore;
pub use disk::{Disk, FileError, FileJournal, RealDisk};
pub use file::FileStore;
pub use segments::{SEGMENT_BYTES, Segment, join, split};

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

pub enum Store<E> {
    /// In the target cluster.
    ConfigMap(Box<ConfigMapStore<E>>),
    File(FileStore<E>),
}

impl<E: Content> Store<E> {
    pub async fn load(&mut self) -> Result<Vec<Record<E>>, StoreError> {
        match self {
            Self::ConfigMap(store) => store.load().await,
            Self::File(store) => store.load(),
        }
    }

    /// Returns the lock of this journal, not acquired yet.
    pub(crate) fn lock(&self, owner: &Owner, clock: &Clock) -> JournalLock {
        match self {
            Self::ConfigMap(store) => {
                let (client, namespace, name) = store.location();
                let lock = LeaseLock::new(client.clone(), namespace, name, owner, clock);
                JournalLock::Lease(Box::new(lock))
            }
            Self::File(store) => JournalLock::File(FileLock::new(store.path(), owner)),
        }
    }

    /// Returns the process that holds the lock; none if it is free.
    pub async fn holder(&self, now: Timestamp) -> Result<Option<Lock>, StoreError> {
        match self {
            Self::ConfigMap(store) => {
                let (client, namespace, name) = store.location();
                let holder = lease_holder(client, namespace, name).await;
                holder.map_err(|error| StoreError::Unavailable(explain(&error, namespace)))
            }
            Self::File(store) => file_holder(store.path(), now),
        }
    }

    /// Appends a record, durably, if the journal has not grown since it was loaded.
    pub async fn append(&mut self, record: &Record<E>) -> Result<(), StoreError> {
        match self {
            Self::ConfigMap(store) => store.append(record).await,
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
