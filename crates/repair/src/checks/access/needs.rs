//! Permissions that a run needs on the cluster, in the node resource group, and on every resource that the pool or its
//! cluster references.

use crate::checks::IP_ADDRESSES;
use crate::names::temporary_pool;
use crate::observation::{ClusterView, ManagedCluster, Pool};
use crate::operation::{self, OngoingOperation, OperationScope};
use crate::plan::Step;
use crate::settings::Settings;

/// An action at a scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessNeed {
    pub action: &'static str,
    /// Resource or resource group.
    pub scope: String,
    /// First step that needs it.
    pub step: Step,
    pub actor: Actor,
    /// A run fails without it. Some links are not documented.
    pub certain: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Actor {
    /// The identity of this process.
    Caller,
    /// AKS, whose permissions cannot be read. Locks apply to AKS as well.
    Service,
}

/// Resources that a pool references: pointer, required action, certain. Those that are not certain follow from the purpose of
/// the resource, not from documentation.
const OF_POOL: [(&str, &str, bool); 8] = [
    ("/vnetSubnetID", "Microsoft.Network/virtualNetworks/subnets/join/action", true),
    ("/podSubnetID", "Microsoft.Network/virtualNetworks/subnets/join/action", true),
    ("/nodePublicIPPrefixID", "Microsoft.Network/publicIPPrefixes/join/action", true),
    ("/proximityPlacementGroupID", "Microsoft.Compute/proximityPlacementGroups/write", true),
    ("/creationData/sourceResourceId", "Microsoft.ContainerService/snapshots/read", false),
    ("/hostGroupID", "Microsoft.Compute/hostGroups/read", false),
    (
        "/capacityReservationGroupID",
        "Microsoft.Compute/capacityReservationGroups/deploy/action",
        false,
    ),
    (
        "/networkProfile/applicationSecurityGroups",
        "Microsoft.Network/applicationSecurityGroups/joinIpConfiguration/action",
        false,
    ),
];

const DISK_ENCRYPTION: &str = "Microsoft.Compute/diskEncryptionSets/read";
const ASSIGN_IDENTITY: &str = "Microsoft.ManagedIdentity/userAssignedIdentities/assign/action";

pub fn needs(
    view: &ClusterView,
    settings: &Settings,
    cluster: &ManagedCluster,
    pool: &Pool,
) -> Vec<AccessNeed> {
    let caller = |action, scope: &str, step| AccessNeed {
        action,
        scope: scope.to_owned(),
        step,
        actor: Actor::Caller,
        certain: true,
    };
    let of_pool = |name: &str| format!("{}/agentPools/{name}", cluster.id);
    let own = of_pool(&pool.name);
    let temporary = of_pool(&temporary_pool(&pool.name, pool.is_windows()));
    let write = "Microsoft.ContainerService/managedClusters/agentPools/write";
    let delete = "Microsoft.ContainerService/managedClusters/agentPools/delete";
    let mut needs = vec![
        caller(write, &temporary, Step::CreateTemporary),
        caller(delete, &own, Step::DeletePool),
        caller(write, &own, Step::RecreatePool),
        caller(delete, &temporary, Step::DeleteTemporary),
        caller("Microsoft.Resources/tags/write", &cluster.id, Step::ReconcileCluster),
    ];
    match operation::running(view) {
        OngoingOperation::One { scope: OperationScope::Pool(name), .. } => needs.push(caller(
            "Microsoft.ContainerService/managedClusters/agentPools/abort/action",
            &of_pool(&name),
            Step::ClearOperation,
        )),
        OngoingOperation::Nothing => {}
        // An unidentified operation may be that of the cluster.
        OngoingOperation::One { .. } | OngoingOperation::Unidentified(_) => needs.push(caller(
            "Microsoft.ContainerService/managedClusters/abort/action",
            &cluster.id,
            Step::ClearOperation,
        )),
    }
    needs.extend(linked(cluster, pool));
    if let Some(group) = node_group(cluster) {
        let nics = "Microsoft.Compute/virtualMachineScaleSets/networkInterfaces/read";
        needs.push(caller(
            "Microsoft.Compute/virtualMachineScaleSets/read",
            &group,
            Step::VerifyTemporary,
        ));
        if !settings.overrides.contains_key(IP_ADDRESSES) {
            needs.push(caller(nics, &group, Step::VerifyTemporary));
        }
        let service = |action, scope: &str, step| AccessNeed {
            actor: Actor::Service,
            ..caller(action, scope, step)
        };
        let set = view.scale_set_of(&pool.name).map_or(group.as_str(), |set| set.id.as_str());
        let delete_set = "Microsoft.Compute/virtualMachineScaleSets/delete";
        needs.push(service(
            "Microsoft.Compute/virtualMachineScaleSets/write",
            &group,
            Step::CreateTemporary,
        ));
        needs.push(service(delete_set, set, Step::DeletePool));
        needs.push(service(delete_set, &group, Step::DeleteTemporary));
    }
    needs
}

/// Returns the needs of the caller on referenced resources.
fn linked<'a>(
    cluster: &'a ManagedCluster,
    pool: &'a Pool,
) -> impl Iterator<Item = AccessNeed> + 'a {
    let properties = &pool.raw["properties"];
    let of_pool = OF_POOL.into_iter().flat_map(move |(pointer, action, certain)| {
        let found = properties.pointer(pointer);
        let one = found.and_then(|id| id.as_str()).into_iter();
        let several = found.and_then(|ids| ids.as_array()).into_iter().flatten();
        let ids = one.chain(several.filter_map(|id| id.as_str()));
        ids.map(move |id| (action, id.to_owned(), certain))
    });
    let nodes = node_group(cluster);
    let is_own = move |id: &str| nodes.as_ref().is_some_and(|group| is_at_or_below(id, group));
    // AKS creates identities in the node resource group for itself.
    let identity = cluster.kubelet_identity.clone().filter(|id| !is_own(id));
    let of_cluster = cluster
        .disk_encryption_set
        .clone()
        .map(|id| (DISK_ENCRYPTION, id, true))
        .into_iter()
        .chain(identity.map(|id| (ASSIGN_IDENTITY, id, true)));
    of_pool.chain(of_cluster).filter(|(_, id, _)| !id.is_empty()).map(|(action, scope, certain)| {
        AccessNeed { action, scope, step: Step::CreateTemporary, actor: Actor::Caller, certain }
    })
}

fn node_group(cluster: &ManagedCluster) -> Option<String> {
    let group = cluster.node_resource_group.as_deref()?;
    Some(format!("{}/resourceGroups/{group}", subscription_of(&cluster.id)?))
}

/// Returns the scope at which permissions are read. Pools inherit from their cluster, and need not exist yet.
pub fn place(need: &AccessNeed) -> String {
    let id = need.scope.to_lowercase();
    match id.find("/agentpools/") {
        Some(at) if id[..at].contains("/microsoft.containerservice/") => {
            need.scope[..at].to_owned()
        }
        _ => need.scope.clone(),
    }
}

/// Returns the scopes at which locks are read: the need's own, its resource group and its subscription. Azure's list at a
/// resource includes locks of its group; that it includes those of the subscription is not documented.
pub fn places_of_locks(need: &AccessNeed) -> Vec<String> {
    let place = place(need);
    let mut places: Vec<String> = subscription_of(&place).into_iter().map(str::to_owned).collect();
    if let Some((group, _)) = place.to_lowercase().split_once("/providers/") {
        places.push(place[..group.len()].to_owned());
    }
    places.push(place);
    places
}

fn subscription_of(id: &str) -> Option<&str> {
    let after =
        id.to_lowercase().starts_with("/subscriptions/").then_some("/subscriptions/".len())?;
    let end = id[after..].find('/').map_or(id.len(), |at| after + at);
    Some(&id[..end])
}

/// Returns true if `scope` is `above` or below it.
pub(in crate::checks) fn is_at_or_below(scope: &str, above: &str) -> bool {
    let (scope, above) = (scope.to_lowercase(), above.to_lowercase());
    let above = above.trim_end_matches('/');
    !above.is_empty()
        && scope.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
