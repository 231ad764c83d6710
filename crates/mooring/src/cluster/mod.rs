//! The cluster of a command: connection, identity, and facts from live objects, the failure record and Azure.

mod azure;
mod azure_limit;
pub(crate) mod config;
pub(crate) mod connect;
mod controller_state;
mod discovery;
mod follow;
mod read;
mod runs;
mod waiting;

pub(crate) use azure::{AzureResults, ConnectedCluster, NamedVms, Reports, VmRequest};
pub(crate) use azure_limit::AzureLimit;
pub(crate) use controller_state::{NAMESPACE, read_controller};
pub(crate) use discovery::{
    FoundCluster, NamedCluster, NodesCluster, about_the_nodes, by_group_name, conflict,
    find_cluster, find_known_cluster,
};
pub(crate) use follow::{Lists, list_nodes};
pub(crate) use read::{read, read_cluster, read_connected, read_followed, read_karpenter, reading};
pub(crate) use runs::{read_runs, run_status};
pub(crate) use waiting::{wait_for, wait_for_each};
