//! Facts of a cluster with its connection.

use mooring_controller::Scope;
use mooring_controller::run::Api;
use mooring_inventory::ClusterFacts;

use super::discovery::NamedCluster;

/// A cluster that was read: its facts, and the connection.
pub(crate) struct ConnectedCluster {
    pub(crate) facts: ClusterFacts,
    pub(crate) api: Api,
    pub(crate) client: mooring_kube::Client,
    /// Subscription and resource group of the nodes.
    pub(crate) scope: Option<Scope>,
    /// The cluster of flags and variables.
    pub(crate) named: NamedCluster,
}
