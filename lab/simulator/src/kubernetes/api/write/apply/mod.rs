//! Server-side apply: field ownership and conflicts.

mod field_set;
mod handler;
mod merge;
mod owners;

pub(crate) use owners::record_update;
