//! Pools of all types, retired api-versions, and AKS Automatic.

use std::rc::Rc;

use mooring_repair::runtime::store;
use mooring_repair::verdict::WedgeVerdict;
use mooring_repair::workflow::PoolRepair;
use mooring_simulator::cluster::{ClockTask, ClusterOptions};
use mooring_simulator::scenario::Scenario;
use mooring_workflow::lock::{LockError, LockOwner, LockWait};
use mooring_workflow::store::NAMESPACE;
use serde_json::{Value, json};

use super::harness::{Harness, shown};

const WEDGED: &str = "wedged-system-pool";

fn pool_id(harness: &Harness, name: &str) -> String {
    harness
        .shell
        .with(|world, _| format!("{}/agentPools/{name}", world.azure().options().cluster_id()))
}

fn pool(harness: &Harness, name: &str) -> Value {
    let id = pool_id(harness, name);
    harness.shell.with(|world, _| world.azure().resource(&id).cloned().unwrap_or_default())
}

fn put(harness: &Harness, resource: Value) {
    harness.shell.with(|world, _| world.azure_mut().put_resource(resource));
}

#[tokio::test(start_paused = true)]
async fn rebuilt_pool_keeps_unknown_fields_and_its_snapshot() {
    let (harness, _running) = Harness::new(WEDGED);
    let snapshot = harness.shell.with(|world, _| {
        let options = world.azure().options();
        format!(
            "/subscriptions/{}/resourceGroups/{}/providers/Microsoft.ContainerService/snapshots/pin",
            options.subscription, options.resource_group
        )
    });
    let image = "AKSAzureLinux-V3gen2-202507.1.0";
    put(
        &harness,
        json!({"id": snapshot, "name": "pin", "type": "Microsoft.ContainerService/snapshots",
        "properties": {"nodeImageVersion": image}}),
    );
    let members = [
        ("creationData", json!({"sourceResourceId": snapshot})),
        ("podIPAllocationMode", json!("StaticBlock")),
        ("localDNSProfile", json!({"mode": "Required"})),
        ("artifactStreamingProfile", json!({"enabled": true})),
        (
            "upgradeSettings",
            json!({"maxSurge": "1", "maxUnavailable": "0", "undrainableNodeBehavior": "Cordon"}),
        ),
        (
            "securityProfile",
            json!({"enableVTPM": true, "enableSecureBoot": true, "sshAccess": "Disabled"}),
        ),
    ];
    let mut system = pool(&harness, "system");
    system["properties"]["nodeImageVersion"] = image.into();
    system["properties"]["osDiskSizeGB"] = 0.into();
    for (name, value) in &members {
        system["properties"][*name] = value.clone();
    }
    put(&harness, system);
    harness.completes().await;
    let after = pool(&harness, "system");
    for (name, value) in &members {
        assert_eq!(after["properties"][*name], *value, "{name}");
    }
    assert_eq!(after["properties"]["nodeImageVersion"], image, "the pool stays pinned");
    assert_eq!(after["properties"]["powerState"]["code"], "Running");
}

/// AKS Automatic: the system pool is not listed, and `kube-system` cannot be written.
fn automatic() -> (Harness, ClockTask) {
    let mut options = ClusterOptions::default();
    options.kubernetes.managed_namespaces = true;
    let (harness, running) = Harness::with(WEDGED, options);
    let mut system = pool(&harness, "system");
    system["properties"]["mode"] = "ManagedSystem".into();
    put(&harness, system);
    (harness, running)
}

#[tokio::test(start_paused = true)]
async fn automatic_repairs_other_pools_with_a_separate_journal() {
    let mut options = ClusterOptions::default();
    options.kubernetes.managed_namespaces = true;
    let scenario = "pools:\n- {name: own, mode: System, nodes: 3}\n- {name: system, mode: User, nodes: 3}\n\
        wedge: {pool: system, failedWrites: 12, unregisteredNodes: 1}\n";
    let scenario = Scenario::parse("automatic", scenario).unwrap();
    let (harness, _running) = Harness::of(&scenario, options);
    harness.completes().await;
}

#[tokio::test(start_paused = true)]
async fn automatic_rejects_a_journal_in_kube_system_with_a_hint() {
    let (harness, _running) = automatic();
    let api = mooring_k8s::Client::new(kube::Client::new(
        harness.shell.kube_service("simulated-administrator"),
        "default",
    ));
    let owner = LockOwner { host: "h".into(), pid: 1, holder: "h".into() };
    let shell = harness.shell.clone();
    let clock: mooring_workflow::Clock = Rc::new(move || shell.now());
    let (_stop, mut stop) = tokio::sync::watch::channel(false);
    for (namespace, refused) in [("kube-system", true), (NAMESPACE, false)] {
        let mut store = store(api.clone(), namespace, "system");
        let locked = store
            .acquire::<PoolRepair>(&owner, LockWait::None, &clock, &mut stop, &mut |_| {})
            .await;
        assert_eq!(locked.is_err(), refused, "{namespace}");
        if let Err(LockError::Store(error)) = locked {
            let why = error.to_string();
            assert!(why.contains("kube-system is managed by AKS"), "{why}");
            assert!(why.contains("hint: AKS Automatic refuses writes"), "{why}");
        }
    }
}

mod slow {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn repair_works_without_preview_api_versions() {
        let mut options = ClusterOptions::default();
        options.azure.aks_previews = false;
        let (harness, _running) = Harness::with(WEDGED, options);
        let report = harness.operator().detect().await;
        assert_eq!(report.detection.verdict, WedgeVerdict::Confirmed, "{}", shown(&report));
        harness.completes().await;
    }
}
