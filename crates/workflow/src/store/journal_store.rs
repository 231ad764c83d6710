//! The place of a journal, and the store of either kind of place.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::config_map::ConfigMapStore;
use super::error::{NAMESPACE, StoreError, explain};
use super::file::FileStore;
use super::lock::{FileLock, JournalLock, LeaseLock, Lock, LockOwner, file_holder, lease_holder};
use crate::engine::world::Clock;
use crate::journal::{Content, Record};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JournalPlace {
    /// The namespace in the target cluster.
    ConfigMap(String),
    /// The absolute path.
    File(String),
}

impl Default for JournalPlace {
    fn default() -> Self {
        Self::ConfigMap(NAMESPACE.to_owned())
    }
}

pub enum JournalStore<E> {
    ConfigMap(Box<ConfigMapStore<E>>),
    File(FileStore<E>),
}

impl<E: Content> JournalStore<E> {
    pub async fn load(&mut self) -> Result<Vec<Record<E>>, StoreError> {
        match self {
            Self::ConfigMap(store) => store.load().await,
            Self::File(store) => store.load(),
        }
    }

    /// Returns the lock of this journal, not acquired yet.
    pub(crate) fn lock(&self, owner: &LockOwner, clock: &Clock) -> JournalLock {
        match self {
            Self::ConfigMap(store) => {
                let (client, namespace, name) = store.location();
                let lock = LeaseLock::new(client.clone(), namespace, name, owner, clock);
                JournalLock::Lease(Box::new(lock))
            }
            Self::File(store) => JournalLock::File(FileLock::new(store.path(), owner)),
        }
    }

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

    /// Appends a record durably if the journal has not changed since it was loaded.
    pub async fn append(&mut self, record: &Record<E>) -> Result<(), StoreError> {
        match self {
            Self::ConfigMap(store) => store.append(record).await,
            Self::File(store) => store.append(record),
        }
    }

    /// Drops old records.
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
