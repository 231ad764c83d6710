//! The store of a journal: `ConfigMap`s in the target cluster.

pub(crate) mod error;
mod journal_store;
pub mod lock;
mod place;

pub use error::{MANIFEST, NAMESPACE, StoreError};
pub use journal_store::{JournalStore, SEGMENT_BYTES};
pub use place::{IfMissing, JOURNAL, check_namespace};
