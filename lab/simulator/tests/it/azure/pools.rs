use mooring_simulator::azure::{AzureChange, AzureOptions};
use serde_json::json;

use super::support::{CLUSTER, Harness};

fn pool(name: &str) -> String {
    format!("{CLUSTER}/agentPools/{name}")
}

#[test]
fn a_new_pool_gets_a_scale_set_then_nodes_then_succeeds() {
    let mut harness = Harness::new("healthy");
    harness.azure.take_changes();
    let made = harness
        .put(&pool("extra"), &json!({"properties": {"count": 2, "vmSize": "Standard_D4s_v5"}}));
    assert_eq!((made.status, made.text("/properties/provisioningState")), (201, "Creating"));
    assert_eq!(harness.follow(&made).text("/status"), "InProgress");
    assert!(harness.vmss("extra").is_none());
    harness.pass(25);
    assert_eq!(harness.vmss("extra").unwrap()["sku"]["capacity"], 2);
    assert!(harness.azure.take_changes().is_empty(), "nodes register after their bootstrap");
    harness.pass(120);
    let joined = harness.azure.take_changes();
    assert_eq!(joined.len(), 2, "{joined:?}");
    assert!(joined.iter().all(
        |change| matches!(change, AzureChange::NodeJoined(node) if node.pool.as_deref() == Some("extra"))
    ));
    harness.pass(60);
    assert_eq!(harness.follow(&made).text("/status"), "Succeeded");
    let whole = harness.get(&pool("extra"));
    assert_eq!(whole.text("/properties/provisioningState"), "Succeeded");
    assert_eq!(
        harness.get(&format!("{}/machines", pool("extra"))).body["value"].as_array().unwrap().len(),
        2
    );
}

#[test]
fn a_deleted_pool_takes_its_nodes_and_its_scale_set_with_it() {
    let mut harness = Harness::new("healthy");
    harness.azure.take_changes();
    let gone = harness.delete(&pool("user"));
    assert_eq!(gone.status, 202);
    assert_eq!(harness.pool_state("user"), "Deleting");
    harness.pass(130);
    assert_eq!(harness.get(&pool("user")).status, 404);
    assert!(harness.vmss("user").is_none());
    assert_eq!(harness.azure.take_changes().len(), 2);
    assert_eq!(harness.delete(&pool("user")).status, 204);
}

#[test]
fn pools_have_one_operation_at_a_time() {
    let mut harness = Harness::new("healthy");
    let body = json!({"properties": {"count": 3, "vmSize": "Standard_D4s_v5"}});
    assert_eq!(harness.put(&pool("user"), &body).status, 200);
    let refused = harness.put(&pool("extra"), &body);
    assert_eq!((refused.status, refused.code()), (409, "OperationNotAllowed"));
    assert!(
        refused.text("/message").contains("Another operation (user - Updating) is in progress")
    );
    assert!(refused.body.get("error").is_none(), "AKS has its code at the top");
    harness.pass(130);
    assert_eq!(harness.put(&pool("extra"), &body).status, 201);
}

#[test]
fn the_rules_of_pools_hold() {
    let mut harness = Harness::new("healthy");
    let mut refuse = |name: &str, properties, status, code: &str| {
        let refused = harness.put(&pool(name), &json!({"properties": properties}));
        assert_eq!((refused.status, refused.code()), (status, code), "{refused:?}");
    };
    refuse("BadName", json!({"count": 1, "vmSize": "a"}), 400, "InvalidParameter");
    refuse("toolongapoolname", json!({"count": 1, "vmSize": "a"}), 400, "InvalidParameter");
    refuse("zero", json!({"count": 0, "vmSize": "a", "mode": "System"}), 400, "InvalidParameter");
    refuse("nosize", json!({"count": 1}), 400, "InvalidParameter");
    refuse("user", json!({"vmSize": "Standard_D64s_v5"}), 400, "PropertyChangeNotAllowed");
    refuse("system", json!({"mode": "User", "count": 3}), 400, "OperationNotAllowed");
    let last = harness.delete(&pool("system"));
    assert_eq!((last.status, last.code()), (400, "OperationNotAllowed"));
}

#[test]
fn a_stale_tag_is_refused() {
    let mut harness = Harness::new("healthy");
    let tag = harness.get(&pool("user")).text("/properties/eTag").to_owned();
    let target = format!("{}?api-version=2025-02-01", pool("user"));
    let body = json!({"properties": {"count": 3}});
    let good = harness.outcome_with("PUT", &target, Some(&body), &[("if-match", &tag)]);
    assert_eq!(super::support::seen(good).status, 200);
    harness.pass(130);
    let stale = harness.outcome_with("PUT", &target, Some(&body), &[("if-match", &tag)]);
    assert_eq!(super::support::seen(stale).status, 412);
    let there = harness.outcome_with("PUT", &target, Some(&body), &[("if-none-match", "*")]);
    assert_eq!(super::support::seen(there).status, 412);
}

#[test]
fn pool_above_the_quota_is_rejected() {
    let mut harness = Harness::with(
        "healthy",
        1,
        AzureOptions { vcpu_quota: Some(24), ..AzureOptions::default() },
    );
    // Five nodes of four cores are in use.
    let body = |count| json!({"properties": {"count": count, "vmSize": "Standard_D4s_v5"}});
    let refused = harness.put(&pool("extra"), &body(2));
    assert_eq!((refused.status, refused.code()), (400, "ErrCode_InsufficientVCPUQuota"));
    assert!(
        refused.text("/message").contains("left regional vcpu quota 4, requested quota 8"),
        "{refused:?}"
    );
    assert_eq!(harness.put(&pool("extra"), &body(1)).status, 201);
}

#[test]
fn a_shrunk_pool_loses_its_newest_nodes() {
    let mut harness = Harness::new("healthy");
    harness.azure.take_changes();
    harness.put(&pool("user"), &json!({"properties": {"count": 1}}));
    harness.pass(130);
    let changes = harness.azure.take_changes();
    assert!(
        matches!(&changes[..], [AzureChange::NodeGone { node, .. }] if node.ends_with("000001")),
        "{changes:?}"
    );
    assert_eq!(harness.pool_state("user"), "Succeeded");
}

/// Members that each api-version keeps and shows.
#[test]
fn members_survive_only_through_a_version_that_has_them() {
    let members = [
        ("podIPAllocationMode", json!("StaticBlock")),
        ("gatewayProfile", json!({"publicIPPrefixSize": 31})),
        ("artifactStreamingProfile", json!({"enabled": true})),
        ("localDNSProfile", json!({"mode": "Required"})),
        ("upgradeSettings", json!({"maxSurge": "1", "maxUnavailable": "1"})),
        ("upgradeSettings", json!({"maxSurge": "1", "undrainableNodeBehavior": "Cordon"})),
        ("securityProfile", json!({"enableVTPM": true, "sshAccess": "Disabled"})),
        ("gpuProfile", json!({"driver": "None"})),
        ("kubeletConfig", json!({"cpuManagerPolicy": "static"})),
        ("linuxOSConfig", json!({"swapFileSizeMB": 100})),
        ("messageOfTheDay", json!("aGk=")),
        ("workloadRuntime", json!("OCIContainer")),
        ("unknown", json!({"kept": [1]})),
    ];
    let trimmed = |name: &str, value: &serde_json::Value| match name {
        "upgradeSettings" => json!({"maxSurge": "1"}),
        "securityProfile" => json!({"enableVTPM": true}),
        "gpuProfile" | "kubeletConfig" | "linuxOSConfig" | "messageOfTheDay"
        | "workloadRuntime" => value.clone(),
        _ => json!(null),
    };
    let mut harness = Harness::new("healthy");
    for (name, value) in &members {
        let mut sent = json!({"properties": {"count": 1, "vmSize": "Standard_D4s_v5"}});
        sent["properties"][*name] = value.clone();
        for (put, get, whole) in [
            ("2026-05-01", "2026-05-01", true),
            ("2026-05-01", "2025-02-01", false),
            ("2025-02-01", "2026-05-01", false),
            ("2025-02-01", "2025-02-01", false),
        ] {
            let target = |version: &str| format!("{}?api-version={version}", pool("extra"));
            let made = harness.call("PUT", &target(put), Some(&sent));
            assert_eq!(made.status, 201, "{made:?}");
            harness.pass(1200);
            let read = harness.call("GET", &target(get), None);
            let wanted = match *name {
                "unknown" => json!(null),
                _ if whole => value.clone(),
                _ => trimmed(name, value),
            };
            assert_eq!(read.body["properties"][*name], wanted, "{name}: PUT {put}, GET {get}");
            harness.delete(&pool("extra"));
            harness.pass(200);
        }
    }
}

#[test]
fn retired_and_unknown_versions_are_refused() {
    let mut harness = Harness::new("healthy");
    for (version, status, code) in [
        ("2026-05-01", 200, ""),
        ("2025-02-01", 200, ""),
        ("2026-04-02-preview", 200, ""),
        ("2025-01-02-preview", 400, "NoRegisteredProviderFound"),
        ("2025-02-17", 400, "NoRegisteredProviderFound"),
        ("2026-09-01", 400, "NoRegisteredProviderFound"),
        ("2016-01-01", 400, "NoRegisteredProviderFound"),
        ("latest", 400, "InvalidApiVersionParameter"),
    ] {
        let read = harness.call("GET", &format!("{CLUSTER}?api-version={version}"), None);
        assert_eq!((read.status, read.code()), (status, code), "{version}");
    }
    let operations = format!("{CLUSTER}/operations/latest?api-version=");
    let body = json!({"properties": {"count": 3}});
    assert_eq!(harness.put(&pool("user"), &body).status, 200);
    let preview = format!("{operations}2026-04-02-preview");
    assert_eq!(harness.call("GET", &preview, None).status, 200);
    let stable = harness.call("GET", &format!("{operations}2026-05-01"), None);
    assert_eq!((stable.status, stable.code()), (400, "NoRegisteredProviderFound"));
    let options = AzureOptions { aks_previews: false, ..AzureOptions::default() };
    let mut harness = Harness::with("healthy", 1, options);
    assert_eq!(harness.call("GET", &preview, None).status, 400);
}

#[test]
fn pools_of_single_vms_have_no_count_and_no_scale_set() {
    for (scale, nodes) in [
        (
            json!({"manual": [{"size": "Standard_D2s_v5", "count": 3}]}),
            json!([{"size": "Standard_D2s_v5", "count": 3}]),
        ),
        (
            json!({"autoscale": [{"size": "Standard_D2s_v5", "minCount": 1, "maxCount": 5}]}),
            json!([{"size": "Standard_D2s_v5", "count": 1}]),
        ),
    ] {
        let mut harness = Harness::new("healthy");
        let body = json!({"properties": {
            "type": "VirtualMachines", "mode": "User", "virtualMachinesProfile": {"scale": scale}}});
        let target = |version: &str| format!("{}?api-version={version}", pool("vmpool"));
        let old = harness.call("PUT", &target("2025-02-01"), Some(&body));
        assert_eq!((old.status, old.code()), (400, "InvalidParameter"), "{old:?}");
        let made = harness.call("PUT", &target("2026-05-01"), Some(&body));
        assert_eq!(made.status, 201, "{made:?}");
        harness.pass(1200);
        let read = harness.call("GET", &target("2026-05-01"), None);
        let properties = &read.body["properties"];
        assert_eq!(properties["provisioningState"], "Succeeded");
        assert_eq!((properties.get("count"), properties.get("vmSize")), (None, None));
        assert_eq!(properties["virtualMachineNodesStatus"], nodes);
        assert!(harness.vmss("vmpool").is_none());
    }
}

#[test]
fn power_image_snapshot_and_disk_can_be_written() {
    let mut harness = Harness::new("healthy");
    let target = |name: &str| format!("{}?api-version=2026-05-01", pool(name));
    let put = |harness: &mut Harness, name: &str, properties: serde_json::Value| {
        let made = harness.call("PUT", &target(name), Some(&json!({"properties": properties})));
        harness.pass(1200);
        made
    };
    // A new pool has no previous image.
    let sized = |more: serde_json::Value| {
        let mut properties = json!({"count": 1, "vmSize": "Standard_D4s_v5"});
        properties.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        properties
    };
    let image = |harness: &mut Harness, name: &str| {
        harness.call("GET", &target(name), None).text("/properties/nodeImageVersion").to_owned()
    };
    let refused = put(&mut harness, "extra", sized(json!({"nodeImageVersion": "AKSAzureLinux-1"})));
    assert_eq!((refused.status, refused.code()), (400, "InvalidParameter"));
    // A snapshot gives its image.
    let snapshot = format!("{}/snapshots/pin", CLUSTER.rsplit_once("/managedClusters").unwrap().0);
    let pinned = json!({"creationData": {"sourceResourceId": snapshot}, "osDiskSizeGB": 0});
    assert_eq!(put(&mut harness, "extra", sized(pinned.clone())).status, 400, "it is not there");
    harness.azure.put_resource(json!({"id": snapshot, "name": "pin",
        "type": "Microsoft.ContainerService/snapshots", "properties": {"nodeImageVersion": "AKSAzureLinux-old"}}));
    assert_eq!(put(&mut harness, "extra", sized(pinned)).status, 201);
    let read = harness.call("GET", &target("extra"), None);
    assert_eq!(read.text("/properties/nodeImageVersion"), "AKSAzureLinux-old");
    assert_eq!(read.text("/properties/creationData/sourceResourceId"), snapshot);
    assert_eq!(read.body["properties"]["osDiskSizeGB"], 128, "0 is the default");
    // Only a recently used image can be set.
    let own = image(&mut harness, "user");
    let echo = put(&mut harness, "user", json!({"nodeImageVersion": own}));
    assert_eq!(echo.status, 200, "its own image is no change");
    let old = json!({"nodeImageVersion": "AKSAzureLinux-old"});
    assert_eq!(put(&mut harness, "user", old.clone()).status, 400);
    harness.azure.put_resource(json!({"id": format!("{}/upgradeProfiles/default", pool("user")),
        "properties": {"recentlyUsedVersions": [{"nodeImageVersion": "AKSAzureLinux-old"}]}}));
    assert_eq!(put(&mut harness, "user", old).status, 200);
    assert_eq!(image(&mut harness, "user"), "AKSAzureLinux-old");
    // Stopping and starting keeps the count.
    assert_eq!(put(&mut harness, "user", json!({"powerState": {"code": "Stopped"}})).status, 200);
    assert_eq!(harness.vmss("user").unwrap()["sku"]["capacity"], 0);
    put(&mut harness, "user", json!({"tags": {"a": "b"}}));
    let read = harness.call("GET", &target("user"), None);
    assert_eq!(read.text("/properties/powerState/code"), "Stopped");
    assert_eq!(read.body["properties"]["count"], 2);
    put(&mut harness, "user", json!({"powerState": {"code": "Running"}}));
    assert_eq!(harness.vmss("user").unwrap()["sku"]["capacity"], 2);
}

#[test]
fn managed_system_pool_is_in_no_list_of_a_stable_version() {
    let mut harness = Harness::new("healthy");
    harness.azure.put_resource(json!({"id": pool("hidden"), "name": "hidden",
        "type": "Microsoft.ContainerService/managedClusters/agentPools",
        "properties": {"provisioningState": "Succeeded", "mode": "ManagedSystem"}}));
    let listed = |harness: &mut Harness, version: &str| {
        let list =
            harness.call("GET", &format!("{CLUSTER}/agentPools?api-version={version}"), None);
        list.body["value"].as_array().unwrap().iter().any(|pool| pool["name"] == "hidden")
    };
    assert!(!listed(&mut harness, "2026-05-01"));
    assert!(listed(&mut harness, "2026-04-02-preview"));
    assert_eq!(harness.get(&pool("hidden")).status, 404);
    // The cluster has a system pool, so the last listed one can be deleted.
    assert_eq!(harness.delete(&pool("system")).status, 202);
}
