//! Plans for pools of all types and modes.

use mooring_repair::checks::Capacity;
use mooring_repair::observation::{ClusterView, ManagedCluster, Pool};
use mooring_repair::plan;
use mooring_repair::plan::{Plan, PlanError};
use mooring_repair::pool_body::CRITICAL_TAINT;
use mooring_repair::settings::{Settings, VersionPolicy};
use mooring_workflow::Reading;
use serde_json::{Value, json};

use crate::bodies::shown;

const SUBNET: &str =
    "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/x";

/// A listed pool with other properties.
fn pool(name: &str, change: &Value) -> Value {
    let mut pool = json!({
        "id": format!("/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/c/agentPools/{name}"),
        "name": name,
        "type": "Microsoft.ContainerService/managedClusters/agentPools",
        "properties": {
            "type": "VirtualMachineScaleSets", "mode": "System", "osType": "Linux", "count": 3,
            "vmSize": "Standard_D4s_v5", "osDiskSizeGB": 128, "provisioningState": "Failed",
            "powerState": {"code": "Running"}, "orchestratorVersion": "1.32",
            "currentOrchestratorVersion": "1.32.7", "nodeImageVersion": "AKSUbuntu-2204gen2containerd-202607.20.0",
        },
    });
    let members = pool["properties"].as_object_mut().unwrap();
    for (name, value) in change.as_object().unwrap() {
        match value {
            Value::Null => drop(members.remove(name)),
            value => drop(members.insert(name.clone(), value.clone())),
        }
    }
    pool
}

fn planned(pools: &[Value], target: &str, version: VersionPolicy) -> Result<Plan, PlanError> {
    let mut seen = ClusterView::default();
    let cluster = json!({
        "id": "/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/c",
        "properties": {"provisioningState": "Succeeded", "currentKubernetesVersion": "1.33.6"},
    });
    seen.cluster = (Reading::Known(ManagedCluster::read(&cluster).unwrap())).into();
    let pools = pools.iter().map(|pool| Pool::read(pool).unwrap()).collect();
    seen.pools = (Reading::Known(pools)).into();
    seen.scale_sets = (Reading::Known(Vec::new())).into();
    let settings = Settings { version, ..Settings::new(crate::common::target(target)) };
    let expires = "2026-05-26T21:40:00Z".parse().unwrap();
    plan::build(&seen, &settings, &Capacity::unread(), &[], expires)
}

fn keep(pools: &[Value]) -> Result<Plan, PlanError> {
    planned(pools, "system", VersionPolicy::Keep)
}

#[test]
fn pools_that_cannot_be_rebuilt_are_rejected_with_the_reason() {
    let machines = json!({"manual": [{"size": "Standard_D2s_v5", "count": 3}]});
    let scaled = json!({"autoscale": [{"size": "Standard_D2s_v5", "minCount": 1, "maxCount": 5}]});
    let of_vms = |scale: Value| {
        json!({"type": "VirtualMachines", "mode": "User", "count": null, "vmSize": null,
            "virtualMachinesProfile": {"scale": scale}})
    };
    for (change, why) in [
        (of_vms(machines), "type VirtualMachines"),
        (of_vms(scaled), "type VirtualMachines"),
        (json!({"mode": "Machines", "count": null, "vmSize": null}), "mode Machines"),
        (json!({"mode": "Gateway", "gatewayProfile": {"publicIPPrefixSize": 31}}), "mode Gateway"),
        (json!({"mode": "ManagedSystem"}), "mode ManagedSystem"),
        (json!({"type": "AvailabilitySet"}), "type AvailabilitySet"),
        (json!({"powerState": {"code": "Stopped"}}), "az aks nodepool start"),
        (json!({"vmSize": null}), "vmSize"),
    ] {
        let pools = [pool("system", &change)];
        let error = keep(&pools).unwrap_err().to_string();
        assert!(error.contains(why), "{change}: {error}");
        // It does not block the repair of another pool.
        let mut beside = pools.to_vec();
        beside[0]["name"] = "other".into();
        beside.push(pool("system", &json!({})));
        assert!(keep(&beside).is_ok(), "{change}");
    }
}

#[test]
fn unlisted_system_pool_is_not_missing() {
    let user = pool("user", &json!({"mode": "User"}));
    let error = keep(std::slice::from_ref(&user)).unwrap_err().to_string();
    assert!(
        error.contains("the cluster lists no system pool") && error.contains("Automatic"),
        "{error}"
    );
    let named = pool("sys2", &json!({}));
    let error = keep(&[user, named]).unwrap_err().to_string();
    assert_eq!(error, "pool system was not found");
}

#[test]
fn pool_without_a_subnet_is_rejected_if_others_have_one() {
    let with = json!({"vnetSubnetID": SUBNET});
    let bare = pool("system", &json!({}));
    assert!(keep(&[bare.clone(), pool("user", &json!({}))]).is_ok());
    assert!(keep(&[pool("system", &with), pool("user", &json!({}))]).is_ok());
    let error = keep(&[bare, pool("user", &with)]).unwrap_err();
    assert_eq!(error, PlanError::NoSubnet("system".into(), "user".into()));
}

#[test]
fn pinned_image_stays_pinned_and_no_image_is_sent() {
    let source =
        "/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/snapshots/pin";
    let creation = json!({"sourceResourceId": source});
    let plan = keep(&[pool("system", &json!({"creationData": creation}))]).unwrap();
    for body in [&plan.document.pool_body, &plan.document.temporary_body] {
        assert_eq!(body["properties"]["creationData"], creation);
        assert_eq!(body["properties"].get("nodeImageVersion"), None);
        assert_eq!(body["properties"].get("powerState"), None);
    }
    assert!(
        plan.changes.iter().any(|change| change.contains("snapshot pin")),
        "{:?}",
        plan.changes
    );
    let free = keep(&[pool("system", &json!({}))]).unwrap();
    assert!(
        free.changes.iter().any(|change| change.contains("202607.20.0 ->")),
        "{:?}",
        free.changes
    );
    assert_ne!(free.hash, plan.hash);
}

#[test]
fn kubernetes_version_is_part_of_the_approved_plan() {
    let pools = [pool("system", &json!({}))];
    let kept = planned(&pools, "system", VersionPolicy::Keep).unwrap();
    assert_eq!(kept.document.pool_body["properties"]["orchestratorVersion"], "1.32.7");
    assert!(!kept.changes.iter().any(|change| change.contains("Kubernetes version:")));
    let pinned = planned(&pools, "system", VersionPolicy::ControlPlane).unwrap();
    for body in [&pinned.document.pool_body, &pinned.document.temporary_body] {
        assert_eq!(body["properties"]["orchestratorVersion"], "1.33.6");
    }
    let diff = "Kubernetes version: 1.32.7 -> 1.33.6 (--kubernetes-version control-plane)";
    assert!(pinned.changes.iter().any(|change| change == diff), "{:?}", pinned.changes);
    assert!(shown(&pinned).contains(diff));
    assert_ne!(kept.hash, pinned.hash);
}

#[test]
fn taint_is_added_to_temporary_pools_of_system_pools_only() {
    let own = "dedicated=infra:NoSchedule";
    for (change, taints) in [
        (json!({}), json!([CRITICAL_TAINT])),
        (json!({"nodeTaints": [own]}), json!([own, CRITICAL_TAINT])),
        (json!({"nodeTaints": [CRITICAL_TAINT]}), json!([CRITICAL_TAINT])),
        (json!({"mode": "User", "nodeTaints": [own]}), json!([own])),
        (json!({"mode": "User"}), Value::Null),
    ] {
        let pools = [pool("pool1", &change)];
        let plan = planned(&pools, "pool1", VersionPolicy::Keep).unwrap();
        assert_eq!(plan.document.temporary_body["properties"]["nodeTaints"], taints, "{change}");
        let again = &plan.document.pool_body["properties"]["nodeTaints"];
        assert_eq!(*again, change["nodeTaints"], "the pool itself comes back as it was");
    }
}

#[test]
fn temporary_pool_of_a_windows_pool_has_a_short_name() {
    let windows = pool("winnp1", &json!({"mode": "User", "osType": "Windows"}));
    let plan = planned(&[windows], "winnp1", VersionPolicy::Keep).unwrap();
    assert!(plan.temporary_pool.len() <= 6, "{}", plan.temporary_pool);
    let linux = pool("winnp1", &json!({"mode": "User"}));
    let long = planned(&[linux], "winnp1", VersionPolicy::Keep).unwrap().temporary_pool;
    assert_ne!(plan.temporary_pool, long);
}
