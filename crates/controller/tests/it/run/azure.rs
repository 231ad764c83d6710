//! Simulated Azure in the same process.

use std::sync::Arc;

use mooring_arm::{Budget, Client, Cloud, CloudSettings};
use mooring_controller::schedule::controller_limits;
use mooring_nodes::Scope;
use mooring_simulator::azure::AzureOptions;
use mooring_simulator::cluster::Shell;
use mooring_testbed::InProcessAzure;

/// Returns a client with the controller's limits.
pub(crate) fn client(shell: &Shell) -> Client {
    let cloud = Cloud::new(CloudSettings::default()).unwrap();
    Client::new(cloud, Arc::new(InProcessAzure::of(shell)), Budget::new(controller_limits()))
}

pub(crate) fn scope(options: &AzureOptions) -> Scope {
    Scope {
        subscription: options.subscription.clone(),
        node_resource_group: options.node_resource_group.clone(),
        cluster: Some(options.cluster_id()),
    }
}
