//! Arguments that several commands have, and suggestions for their values.

mod cluster;
mod duration;
mod kind;
mod namespace;

pub(crate) use cluster::{
    AzureMode, CLUSTER_HEADING, ClusterArguments, ClusterName, KubeArguments, SourceArguments,
};
pub(crate) use duration::parse_duration;
pub(crate) use kind::{with_kind, without_kind};
