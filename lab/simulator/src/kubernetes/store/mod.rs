mod index;
pub(crate) mod objects;
mod selector;
mod tables;

pub(crate) use index::{ObjectKey, owners};
pub(crate) use selector::{Selector, fits_label_selector, has_labels};
pub(crate) use tables::{ChangeKind, ObjectChange, ObjectStore, StoredObject, item};
