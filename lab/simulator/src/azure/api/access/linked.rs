//! Resources that a request refers to and that need permissions as well.

use http::Method;
use serde_json::Value;

use crate::azure::api::request::ArmCall;
use crate::azure::state::{AzureState, is_at_or_below, text};

/// Members of a pool that refer to other resources, with the action checked on each.
const OF_POOL: [(&str, &str); 4] = [
    ("vnetSubnetID", "Microsoft.Network/virtualNetworks/subnets/join/action"),
    ("podSubnetID", "Microsoft.Network/virtualNetworks/subnets/join/action"),
    ("nodePublicIPPrefixID", "Microsoft.Network/publicIPPrefixes/join/action"),
    ("proximityPlacementGroupID", "Microsoft.Compute/proximityPlacementGroups/write"),
];

const OF_CLUSTER: [(&str, &str); 2] = [
    ("/properties/diskEncryptionSetID", "Microsoft.Compute/diskEncryptionSets/read"),
    (
        "/properties/identityProfile/kubeletidentity/resourceId",
        "Microsoft.ManagedIdentity/userAssignedIdentities/assign/action",
    ),
];

/// Action that a write of a whole scale set needs on its node image.
const IMAGE_READ: &str = "Microsoft.Compute/galleries/images/versions/read";

/// Returns the actions that a call needs on other resources, with their ids.
pub(crate) fn linked(call: &ArmCall, state: &AzureState) -> Vec<(&'static str, String)> {
    if call.method != Method::PUT {
        return Vec::new();
    }
    match call.path.resource_type().as_deref() {
        Some("microsoft.compute/virtualmachinescalesets") => {
            vec![(IMAGE_READ, format!("/{}", call.path.segments.join("/")))]
        }
        Some("microsoft.containerservice/managedclusters/agentpools") => {
            let sent = call.body.as_ref().unwrap_or(&Value::Null);
            let of_pool = OF_POOL.iter().map(|(name, action)| {
                (*action, text(sent, &format!("/properties/{name}")).to_owned())
            });
            let cluster = state.store.get(&call.path.key(8)).unwrap_or(&Value::Null);
            let nodes = format!(
                "/subscriptions/{}/resourceGroups/{}",
                state.options.subscription, state.options.node_resource_group
            );
            // An identity in the node resource group was created by AKS for itself.
            let of_cluster = OF_CLUSTER
                .iter()
                .map(|(pointer, action)| (*action, text(cluster, pointer).to_owned()))
                .filter(move |(_, id)| !is_at_or_below(id, &nodes));
            of_pool.chain(of_cluster).filter(|(_, id)| !id.is_empty()).collect()
        }
        _ => Vec::new(),
    }
}
