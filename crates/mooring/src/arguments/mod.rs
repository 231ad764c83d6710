//! Arguments that several commands have, and suggestions for their values.

mod cluster;
mod duration;
mod namespace;
pub(crate) mod suggest;

pub(crate) use cluster::{AzureMode, ClusterArguments, ClusterName, SourceArguments};
pub(crate) use duration::parse_duration;
