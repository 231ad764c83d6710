//! The store of a journal: `ConfigMap`s in the target cluster.

pub(crate) mod error;
pub mod lock;
mod place;
mod run_store;

pub use error::{MANIFEST, NAMESPACE, StoreError};
pub use place::{IfMissing, JOURNAL, check_namespace, webhook};
pub use run_store::RunStore;
