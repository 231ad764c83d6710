//! Permissions that a run needs.

use std::collections::BTreeMap;

use mooring_workflow::{Outcome, Reading};
use serde_json::json;

use super::needs::{AccessNeed, Actor, needs, place};
use super::{deny_assignments, locks, permissions};
use crate::checks::capacity::{AccessRules, Capacity, Planning};
use crate::observation::{ClusterView, ManagedCluster, Pool};
use crate::plan::Step;
use crate::settings::{PoolTarget, Settings};

const ASSIGN_IDENTITY: &str = "Microsoft.ManagedIdentity/userAssignedIdentities/assign/action";
const DISK_ENCRYPTION: &str = "Microsoft.Compute/diskEncryptionSets/read";
const SUBSCRIPTION: &str = "/subscriptions/s";
const CLUSTER: &str =
    "/subscriptions/s/resourceGroups/rg/providers/Microsoft.ContainerService/managedClusters/c";

fn cluster() -> ManagedCluster {
    ManagedCluster {
        id: CLUSTER.to_owned(),
        state: "Succeeded".to_owned(),
        node_resource_group: Some("MC".to_owned()),
        version: None,
        location: None,
        tags: BTreeMap::new(),
        max_pools: None,
        pods_in_subnet: false,
        disk_encryption_set: Some("/disks".to_owned()),
        kubelet_identity: Some("/identity".to_owned()),
    }
}

fn pool(properties: &serde_json::Value) -> Pool {
    let mut raw = json!({"name": "system", "properties": {"mode": "System"}});
    raw["properties"].as_object_mut().unwrap().extend(properties.as_object().unwrap().clone());
    Pool::read(&raw).unwrap()
}

fn settings() -> Settings {
    Settings::new(PoolTarget {
        subscription: "s".into(),
        resource_group: "rg".into(),
        cluster: "c".into(),
        pool: "system".into(),
    })
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
        "vnetSubnetID": "/subnet", "hostGroupID": "/hosts", "podSubnetID": "",
        "networkProfile": {"applicationSecurityGroups": ["/asg1", "/asg2"]},
    });
    let found = listed(&settings(), &cluster(), &pool(&properties));
    let pools = "Microsoft.ContainerService/managedClusters/agentPools";
    let join = "Microsoft.Network/virtualNetworks/subnets/join/action";
    let asg = "Microsoft.Network/applicationSecurityGroups/joinIpConfiguration/action";
    let sets = "Microsoft.Compute/virtualMachineScaleSets";
    let expected = [
        format!("create-temporary caller CLUSTER/agentPools/systmp {pools}/write"),
        format!("delete-pool caller CLUSTER/agentPools/system {pools}/delete"),
        format!("recreate-pool caller CLUSTER/agentPools/system {pools}/write"),
        format!("delete-temporary caller CLUSTER/agentPools/systmp {pools}/delete"),
        "reconcile-cluster caller CLUSTER Microsoft.Resources/tags/write".to_owned(),
        format!("create-temporary caller /subnet {join}"),
        "create-temporary caller /hosts Microsoft.Compute/hostGroups/read ?".to_owned(),
        format!("create-temporary caller /asg1 {asg} ?"),
        format!("create-temporary caller /asg2 {asg} ?"),
        format!("create-temporary caller /disks {DISK_ENCRYPTION}"),
        format!("create-temporary caller /identity {ASSIGN_IDENTITY}"),
        format!("verify-temporary caller /resourceGroups/MC {sets}/read"),
        format!("verify-temporary caller /resourceGroups/MC {sets}/networkInterfaces/read"),
        format!("create-temporary AKS /resourceGroups/MC {sets}/write"),
        format!("delete-pool AKS /resourceGroups/MC {sets}/delete"),
        format!("delete-temporary AKS /resourceGroups/MC {sets}/delete"),
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
    let need = |scope: &str| AccessNeed {
        action: "a",
        scope: scope.to_owned(),
        step: Step::DeletePool,
        actor: Actor::Caller,
        certain: true,
    };
    assert_eq!(place(&need(&format!("{CLUSTER}/agentPools/system"))), CLUSTER);
    let other = "/subscriptions/s/resourceGroups/rg/providers/Other/x/agentPools/y";
    assert_eq!(place(&need(other)), other);
}

#[test]
fn rules_that_were_not_read_are_unknown_in_checks_of_access() {
    let (settings, cluster, pool) = (settings(), cluster(), pool(&json!({})));
    let capacity = Capacity {
        vcpus: Reading::Known(8),
        quota_left: Reading::Known(100),
        restrictions: Reading::Known(Vec::new()),
        free_addresses: BTreeMap::new(),
        deletions: Reading::Known(0),
        rights: AccessRules { caller: Some("me".to_owned()), ..AccessRules::default() },
    };
    let planning = Planning {
        view: &ClusterView::default(),
        settings: &settings,
        cluster: &cluster,
        pool: &pool,
        left: None,
        expected_seconds: 60,
        capacity: &capacity,
    };
    let checks = [
        permissions::permissions(&planning),
        locks::locks(&planning),
        deny_assignments::deny_assignments(&planning),
    ];
    for check in checks {
        assert_eq!(check.outcome, Outcome::Unknown, "{check:?}");
    }
}
