//! Pools of every kind, api-versions that end, and AKS Automatic.

use std::rc::Rc;

use mooring_repair::shell::CommandResult;
use mooring_repair::shell::store;
use mooring_repair::verdict::Verdict;
use mooring_repair::workflow::Finish;
use mooring_repair::workflow::RunOutcome;
use mooring_simulator::cluster::{Options, Running};
use mooring_simulator::scenario::Scenario;
use mooring_workflow::lock::{LockError, LockWait, Owner, acquire};
use mooring_workflow::store::NAMESPACE;
use serde_json::{Value, json};

use crate::bench::Bench;

const WEDGED: &str = "wedged-system-pool";

fn pool_id(bench: &Bench, name: &str) -> String {
    bench
        .shell
        .with(|world, _| format!("{}/agentPools/{name}", world.azure().options().cluster_id()))
}

fn pool(bench: &Bench, name: &str) -> Value {
    let id = pool_id(bench, name);
    bench.shell.with(|world, _| world.azure().resource(&id).cloned().unwrap_or_default())
}

fn put(bench: &Bench, resource: Value) {
    bench.shell.with(|world, _| world.azure_mut().put_resource(resource));
}

fn add_pool(bench: &Bench, name: &str, properties: &Value) {
    put(
        bench,
        json!({"id": pool_id(bench, name), "name": name,
        "type": "Microsoft.ContainerService/managedClusters/agentPools", "properties": properties}),
    );
}

async fn repaired(bench: &Bench) {
    let ending = bench.go().await.unwrap();
    assert!(
        matches!(ending, CommandResult::Rested(RunOutcome::Finished(Finish::Repaired))),
        "{ending:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn pools_of_other_kinds_are_in_no_repairs_way() {
    let (bench, _running) = Bench::new(WEDGED);
    let succeeded = |mut properties: Value| {
        properties["provisioningState"] = "Succeeded".into();
        properties
    };
    for (name, properties) in [
        (
            "vmpool",
            json!({"type": "VirtualMachines", "mode": "User",
                "virtualMachinesProfile": {"scale": {"manual": [{"size": "Standard_D2s_v5", "count": 3}]}}}),
        ),
        (
            "vmscaled",
            json!({"type": "VirtualMachines", "mode": "User",
                "virtualMachinesProfile": {"scale": {"autoscale": [{"size": "Standard_D2s_v5", "minCount": 0, "maxCount": 3}]}}}),
        ),
        ("aksmanagedap", json!({"type": "VirtualMachines", "mode": "Machines"})),
        ("gateway", json!({"type": "VirtualMachineScaleSets", "mode": "Gateway", "count": 2})),
        ("tomorrow", json!({"type": "SomethingNew", "mode": "User", "count": 0})),
    ] {
        add_pool(&bench, name, &succeeded(properties));
    }
    let report = bench.operator().detect().await;
    assert_eq!(report.detection.verdict, Verdict::Confirmed, "{}", report.table());
    assert!(report.table().contains("vmpool (type VirtualMachines)"), "{}", report.table());
    repaired(&bench).await;
}

#[tokio::test(start_paused = true)]
async fn a_rebuilt_pool_keeps_its_snapshot_and_what_the_newest_version_has() {
    let (bench, _running) = Bench::new(WEDGED);
    let snapshot = bench.shell.with(|world, _| {
        let options = world.azure().options();
        format!(
            "/subscriptions/{}/resourceGroups/{}/providers/Microsoft.ContainerService/snapshots/pin",
            options.subscription, options.resource_group
        )
    });
    let image = "AKSAzureLinux-V3gen2-202507.1.0";
    put(
        &bench,
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
    let mut system = pool(&bench, "system");
    system["properties"]["nodeImageVersion"] = image.into();
    system["properties"]["osDiskSizeGB"] = 0.into();
    for (name, value) in &members {
        system["properties"][*name] = value.clone();
    }
    put(&bench, system);
    repaired(&bench).await;
    let after = pool(&bench, "system");
    for (name, value) in &members {
        assert_eq!(after["properties"][*name], *value, "{name}");
    }
    assert_eq!(after["properties"]["nodeImageVersion"], image, "the pool stays pinned");
    assert_eq!(after["properties"]["powerState"]["code"], "Running");
}

#[tokio::test(start_paused = true)]
async fn a_repair_needs_no_preview_version() {
    let mut options = Options::default();
    options.azure.aks_previews = false;
    let (bench, _running) = Bench::with(WEDGED, options);
    let report = bench.operator().detect().await;
    assert_eq!(report.detection.verdict, Verdict::Confirmed, "{}", report.table());
    repaired(&bench).await;
}

#[tokio::test(start_paused = true)]
async fn a_stopped_pool_is_refused() {
    let (bench, _running) = Bench::new(WEDGED);
    let mut system = pool(&bench, "system");
    system["properties"]["powerState"] = json!({"code": "Stopped"});
    put(&bench, system);
    let error = bench.operator().examine(None, None).await.plan.unwrap_err().to_string();
    assert!(error.contains("pool system is stopped"), "{error}");
    assert_eq!(*bench.sent.lock().unwrap(), Vec::<String>::new());
}

/// AKS Automatic: the system pool is not listed, and `kube-system` cannot be written.
fn automatic() -> (Bench, Running) {
    let mut options = Options::default();
    options.kubernetes.managed_namespaces = true;
    let (bench, running) = Bench::with(WEDGED, options);
    let mut system = pool(&bench, "system");
    system["properties"]["mode"] = "ManagedSystem".into();
    put(&bench, system);
    (bench, running)
}

#[tokio::test(start_paused = true)]
async fn automatic_has_no_system_pool_to_repair() {
    let (bench, _running) = automatic();
    let report = bench.operator().detect().await;
    assert_ne!(report.detection.verdict, Verdict::Confirmed);
    assert!(report.table().contains("no system pool to repair"), "{}", report.table());
    let error = bench.operator().examine(None, None).await.plan.unwrap_err().to_string();
    assert!(error.contains("no system pool to repair"), "{error}");
    assert_eq!(bench.operator().unfinished_0_1().await, None, "the old place is only read");
}

#[tokio::test(start_paused = true)]
async fn automatic_repairs_its_other_pools_with_a_journal_of_its_own_namespace() {
    let mut options = Options::default();
    options.kubernetes.managed_namespaces = true;
    let scenario = "pools:\n- {name: own, mode: System, nodes: 3}\n- {name: system, mode: User, nodes: 3}\n\
        wedge: {pool: system, failedWrites: 12, unregisteredNodes: 1}\n";
    let scenario = Scenario::parse("automatic", scenario).unwrap();
    let (bench, _running) = Bench::of(&scenario, options);
    repaired(&bench).await;
}

#[tokio::test(start_paused = true)]
async fn automatic_refuses_a_journal_in_kube_system_and_the_refusal_is_explained() {
    let (bench, _running) = automatic();
    let api = mooring_kube::Client::new(kube::Client::new(
        bench.shell.kube_service("simulated-administrator"),
        "default",
    ));
    let owner = Owner { host: "h".into(), pid: 1, holder: "h".into() };
    let shell = bench.shell.clone();
    let clock: mooring_workflow::world::Clock = Rc::new(move || shell.now());
    let (_stop, mut stop) = tokio::sync::watch::channel(false);
    for (namespace, refused) in [("kube-system", true), (NAMESPACE, false)] {
        let mut store = store(api.clone(), namespace, "system");
        let locked =
            acquire(&mut store, &owner, LockWait::None, &clock, &mut stop, &mut |_| {}).await;
        assert_eq!(locked.is_err(), refused, "{namespace}");
        if let Err(LockError::Store(error)) = locked {
            let why = error.to_string();
            assert!(why.contains("kube-system is managed by AKS"), "{why}");
            assert!(why.contains("hint: AKS Automatic refuses writes"), "{why}");
        }
    }
}
