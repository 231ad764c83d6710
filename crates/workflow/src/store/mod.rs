//! Where a journal is kept: in the target cluster, or in a file.

mod config_map;
mod disk;
mod file;
mod segments;

use std::time::Duration;

use jiff::Timestamp;
use mooring_kube::RequestError;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::journal::{Content, JournalError, Record};
use crate::live::Clock;
use crate::lock::{FileLock, JournalLock, LeaseLock, Lock, Owner, file_holder, lease_holder};

pub use config_map::ConfigMapStore;
pub use disk::{Disk, FileError, FileJournal, RealDisk};
pub(crate) use disk::{NEVER_A_LINK, OWNER_ONLY};
pub use file::FileStore;
pub use segments::{SEGMENT_BYTES, Segment, join, split};

/// Where journals are kept in a cluster.
pub const NAMESPACE: &str = "mooring-system";
/// The manifest that creates [`NAMESPACE`] and the permissions in it.
pub const MANIFEST: &str = "packaging/roles/mooring-repair-cluster.yaml";

/// Pauses between attempts of one write: the API server of a cluster in trouble may be away for a while.
pub(crate) const PAUSES: [Duration; 6] = [
    Duration::from_millis(200),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
    Duration::from_secs(8),
];

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
    /// Another process holds the lock, or wrote since.
    #[error("lock lost: another process took over this run")]
    LostLock,
    /// The store does not answer, or does not let us.
    #[error("the journal cannot be used: {0}")]
    Unavailable(String),
    /// What it holds is no journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// Explains a rejected request for an object of a journal.
pub(crate) fn explain(error: &RequestError, namespace: &str) -> String {
    match error.status {
        Some(403) if namespace == "kube-system" => format!(
            "{error}\nhint: AKS Automatic refuses writes in kube-system; keep the journal in a namespace of its own ({NAMESPACE} by default)"
        ),
        // What is created names its namespace only.
        Some(404) if namespace == NAMESPACE => format!(
            "{error}\nhint: `kubectl apply -f {MANIFEST}` creates namespace {NAMESPACE} and the permissions in it"
        ),
        Some(404) => format!(
            "{error}\nhint: create namespace {namespace} with the permissions of {MANIFEST}, or use the default, {NAMESPACE}"
        ),
        _ => error.to_string(),
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
