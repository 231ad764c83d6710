//! Bundle of a node by its name: what the cluster, Azure and the failure record have of it.
//!
//! Every file is read separately: one that cannot be read is left out with the reason.

mod azure;
mod cluster;
mod collection;
mod documents;
mod files;
mod names;
mod own_files;
mod reason;
mod source;
mod subject;
mod usual;

pub(crate) use collection::{NodeFiles, collect, has_times, trace_files};
pub(crate) use names::file_name;
