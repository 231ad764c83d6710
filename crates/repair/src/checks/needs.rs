//! Permissions that a run needs on the cluster, in the node resource group, and on every resource that the pool or its
//! cluster references.

use crate::names::{IP_ADDRESSES, temporary_pool};
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

const WRITE_POOL: &str = "Microsoft.ContainerService/managedClusters/agentPools/write";
const DELETE_POOL: &str = "Microsoft.ContainerService/managedClusters/agentPools/delete";
const ABORT_POOL: &str = "Microsoft.ContainerService/managedClusters/agentPools/abort/action";
const ABORT_CLUSTER: &str = "Microsoft.ContainerService/managedClusters/abort/action";
const WRITE_TAGS: &str = "Microsoft.Resources/tags/write";
const READ_SETS: &str = "Microsoft.Compute/virtualMachineScaleSets/read";
const WRITE_SETS: &str = "Microsoft.Compute/virtualMachineScaleSets/write";
const DELETE_SETS: &str = "Microsoft.Compute/virtualMachineScaleSets/delete";
const READ_NICS: &str = "Microsoft.Compute/virtualMachineScaleSets/networkInterfaces/read";
const DISK_ENCRYPTION: &str = "Microsoft.Compute/diskEncryptionSets/read";
const ASSIGN_IDENTITY: &str = "Microsoft.ManagedIdentity/userAssignedIdentities/assign/action";

fn caller(action: &'static str, scope: &str, step: Step) -> AccessNeed {
    AccessNeed { action, scope: scope.to_owned(), step, actor: Actor::Caller, certain: true }
}

fn service(action: &'static str, scope: &str, step: Step) -> AccessNeed {
    AccessNeed { actor: Actor::Service, ..caller(action, scope, step) }
}

pub fn needs(
    view: &ClusterView,
    settings: &Settings,
    cluster: &ManagedCluster,
    pool: &Pool,
) -> Vec<AccessNeed> {
    let of_pool = |name: &str| format!("{}/agentPools/{name}", cluster.id);
    let own = of_pool(&pool.name);
    let temporary = of_pool(&temporary_pool(&pool.name, pool.is_windows()));
    let mut needs = vec![
        caller(WRITE_POOL, &temporary, Step::CreateTemporary),
        caller(DELETE_POOL, &own, Step::DeletePool),
        caller(WRITE_POOL, &own, Step::RecreatePool),
        caller(DELETE_POOL, &temporary, Step::DeleteTemporary),
        caller(WRITE_TAGS, &cluster.id, Step::ReconcileCluster),
    ];
    needs.extend(match operation::running(view) {
        OngoingOperation::Nothing => None,
        OngoingOperation::One { scope: OperationScope::Pool(name), .. } => {
            Some(caller(ABORT_POOL, &of_pool(&name), Step::ClearOperation))
        }
        // An unidentified operation may be that of the cluster.
        OngoingOperation::One { .. } | OngoingOperation::Unidentified(_) => {
            Some(caller(ABORT_CLUSTER, &cluster.id, Step::ClearOperation))
        }
    });
    needs.extend(linked(cluster, pool));
    if let Some(group) = node_group(cluster) {
        let set = view.scale_set_of(&pool.name).map_or(group.as_str(), |set| set.id.as_str());
        needs.push(caller(READ_SETS, &group, Step::VerifyTemporary));
        if !settings.overrides.contains_key(IP_ADDRESSES) {
            needs.push(caller(READ_NICS, &group, Step::VerifyTemporary));
        }
        needs.push(service(WRITE_SETS, &group, Step::CreateTemporary));
        needs.push(service(DELETE_SETS, set, Step::DeletePool));
        needs.push(service(DELETE_SETS, &group, Step::DeleteTemporary));
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
        let several = found.and_then(|ids| ids.as_array()).into_iter().flatten();
        let ids = found.into_iter().chain(several).filter_map(|id| id.as_str());
        ids.map(move |id| (action, id, certain))
    });
    let nodes = node_group(cluster);
    // AKS creates identities in the node resource group for itself.
    let identity = cluster.kubelet_identity.as_deref();
    let identity = identity.filter(|id| nodes.is_none_or(|group| !is_at_or_below(id, &group)));
    let of_cluster = [
        cluster.disk_encryption_set.as_deref().map(|id| (DISK_ENCRYPTION, id, true)),
        identity.map(|id| (ASSIGN_IDENTITY, id, true)),
    ];
    let linked = of_pool.chain(of_cluster.into_iter().flatten());
    linked.filter(|(_, id, _)| !id.is_empty()).map(|(action, id, certain)| AccessNeed {
        certain,
        ..caller(action, id, Step::CreateTemporary)
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
pub(super) fn is_at_or_below(scope: &str, above: &str) -> bool {
    let (scope, above) = (scope.to_lowercase(), above.to_lowercase());
    let above = above.trim_end_matches('/');
    !above.is_empty()
        && scope.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const SUBSCRIPTION: &str = "/subscriptions/s";
    const CLUSTER: &str =
        "/subscriptions/s/resourceGroups/rg/providers/Microsoft.ContainerService/managedClusters/c";

    fn cluster() -> ManagedCluster {
        let identity = json!({"kubeletidentity": {"resourceId": "/identity"}});
        let raw = json!({"id": CLUSTER, "properties": {"nodeResourceGroup": "MC",
            "diskEncryptionSetID": "/disks", "identityProfile": identity}});
        ManagedCluster::read(&raw).unwrap()
    }

    fn pool(properties: &serde_json::Value) -> Pool {
        let mut raw = json!({"name": "system", "properties": {"mode": "System"}});
        raw["properties"].as_object_mut().unwrap().extend(properties.as_object().unwrap().clone());
        Pool::read(&raw).unwrap()
    }

    fn settings() -> Settings {
        Settings::new(crate::common::target("system"))
    }

    /// Needs of a cluster and a pool, as `step actor scope action`.
    fn listed(settings: &Settings, cluster: &ManagedCluster, pool: &Pool) -> Vec<String> {
        let needs = needs(&ClusterView::default(), settings, cluster, pool);
        let line = |need: AccessNeed| {
            let actor = if need.actor == Actor::Service { "AKS" } else { "caller" };
            let scope = need.scope.replace(CLUSTER, "CLUSTER").replace(SUBSCRIPTION, "");
            let certain = if need.certain { "" } else { " ?" };
            format!("{} {actor} {scope} {}{certain}", need.step.name(), need.action)
        };
        needs.into_iter().map(line).collect()
    }

    #[test]
    fn needs_are_those_of_the_steps_and_of_linked_resources() {
        let properties = json!({
            "vnetSubnetID": "/subnet", "podSubnetID": "/pods", "nodePublicIPPrefixID": "/prefix",
            "proximityPlacementGroupID": "/near", "creationData": {"sourceResourceId": "/snapshot"},
            "hostGroupID": "/hosts", "capacityReservationGroupID": "",
            "networkProfile": {"applicationSecurityGroups": ["/asg1", "/asg2"]},
        });
        let found = listed(&settings(), &cluster(), &pool(&properties));
        let join = "Microsoft.Network/virtualNetworks/subnets/join/action";
        let asg = "Microsoft.Network/applicationSecurityGroups/joinIpConfiguration/action";
        let expected = [
            format!("create-temporary caller CLUSTER/agentPools/systmp {WRITE_POOL}"),
            format!("delete-pool caller CLUSTER/agentPools/system {DELETE_POOL}"),
            format!("recreate-pool caller CLUSTER/agentPools/system {WRITE_POOL}"),
            format!("delete-temporary caller CLUSTER/agentPools/systmp {DELETE_POOL}"),
            "reconcile-cluster caller CLUSTER Microsoft.Resources/tags/write".to_owned(),
            format!("create-temporary caller /subnet {join}"),
            format!("create-temporary caller /pods {join}"),
            "create-temporary caller /prefix Microsoft.Network/publicIPPrefixes/join/action"
                .to_owned(),
            "create-temporary caller /near Microsoft.Compute/proximityPlacementGroups/write"
                .to_owned(),
            "create-temporary caller /snapshot Microsoft.ContainerService/snapshots/read ?"
                .to_owned(),
            "create-temporary caller /hosts Microsoft.Compute/hostGroups/read ?".to_owned(),
            format!("create-temporary caller /asg1 {asg} ?"),
            format!("create-temporary caller /asg2 {asg} ?"),
            format!("create-temporary caller /disks {DISK_ENCRYPTION}"),
            format!("create-temporary caller /identity {ASSIGN_IDENTITY}"),
            format!("verify-temporary caller /resourceGroups/MC {READ_SETS}"),
            format!("verify-temporary caller /resourceGroups/MC {READ_NICS}"),
            format!("create-temporary AKS /resourceGroups/MC {WRITE_SETS}"),
            format!("delete-pool AKS /resourceGroups/MC {DELETE_SETS}"),
            format!("delete-temporary AKS /resourceGroups/MC {DELETE_SETS}"),
        ];
        let clears = |line: &&String| !line.starts_with("clear-operation ");
        assert_eq!(
            found.iter().filter(clears).collect::<Vec<_>>(),
            expected.iter().collect::<Vec<_>>()
        );
    }

    #[test]
    fn override_and_own_identity_need_no_permission() {
        let has = |lines: &[String], action: &str| lines.iter().any(|line| line.ends_with(action));
        let mut settings = settings();
        let nics = "networkInterfaces/read";
        assert!(has(&listed(&settings, &cluster(), &pool(&json!({}))), nics));
        settings.add_override("ip-addresses=tested").unwrap();
        assert!(!has(&listed(&settings, &cluster(), &pool(&json!({}))), nics));

        let own = format!("{SUBSCRIPTION}/resourceGroups/mc/providers/identity");
        let cluster = ManagedCluster { kubelet_identity: Some(own), ..cluster() };
        assert!(!has(&listed(&settings, &cluster, &pool(&json!({}))), ASSIGN_IDENTITY));
    }

    #[test]
    fn permissions_of_pools_are_read_at_their_cluster() {
        let need = |scope: &str| caller("a", scope, Step::DeletePool);
        assert_eq!(place(&need(&format!("{CLUSTER}/agentPools/system"))), CLUSTER);
        let other = "/subscriptions/s/resourceGroups/rg/providers/Other/x/agentPools/y";
        assert_eq!(place(&need(other)), other);
    }
}
