//! Stores of a journal: `ConfigMap`s in the target cluster, or a file.

mod config_map;
pub(crate) mod disk;
pub(crate) mod error;
mod file;
mod journal_store;
pub mod lock;
mod place;

pub use config_map::{ConfigMapStore, SEGMENT_BYTES};
pub use disk::{Disk, FileJournal, RealDisk};
pub use error::{MANIFEST, NAMESPACE, StoreError};
pub use file::FileStore;
pub use journal_store::{JournalPlace, JournalStore};
pub use place::{IfMissing, JOURNAL, check_namespace};
