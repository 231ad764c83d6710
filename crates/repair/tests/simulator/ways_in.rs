//! Clusters that are not simply reached: each is explained by its own settings.

use mooring_repair::shell::Access;
use mooring_simulator::azure::{Denial, KubernetesAccess, Lock, LockLevel};
use mooring_simulator::serve::Authority;
use serde_json::{Value, json};

use crate::bench::Bench;

/// Why the journal in a cluster with these properties cannot be read, and how often its credentials were asked for.
async fn unreached(change: impl FnOnce(&Bench), properties: Value) -> (String, usize) {
    let (bench, _running) = Bench::new("wedged-system-pool");
    bench.shell.with(|world, _| {
        let azure = world.azure_mut();
        let host = ["privateFQDN", "fqdn"].iter().find_map(|name| properties[*name].as_str());
        azure.set_kubernetes(Some(KubernetesAccess {
            server: format!("https://{}:443", host.unwrap_or("demo.invalid")),
            ca_pem: Authority::new().unwrap().pem().to_owned(),
            token: None,
        }));
        let mut cluster = azure.resource(&azure.options().cluster_id()).unwrap().clone();
        for (name, value) in properties.as_object().unwrap() {
            cluster["properties"][name] = value.clone();
        }
        azure.put_resource(cluster);
    });
    change(&bench);
    let error = bench.operator_by(Access::Azure).status().await.err().unwrap();
    let asked = bench.shell.with(|world, _| {
        let trace = world.azure().trace().text();
        trace.lines().filter(|line| line.contains("/listClusterUserCredential")).count()
    });
    (error.why().to_owned(), asked)
}

#[tokio::test(start_paused = true)]
async fn cluster_without_any_accounts_is_named_before_credentials_are_asked_for() {
    let (why, asked) =
        unreached(|_| {}, json!({"disableLocalAccounts": true, "aadProfile": null})).await;
    assert!(why.contains("local accounts are disabled and Entra integration is off"), "{why}");
    assert!(why.contains("--kubeconfig FILE"), "{why}");
    assert_eq!(asked, 0);
    let (why, asked) = unreached(|_| {}, json!({"powerState": {"code": "Stopped"}})).await;
    assert!(why.contains("az aks start"), "{why}");
    assert_eq!(asked, 0);
}

#[tokio::test(start_paused = true)]
async fn api_that_cannot_be_reached_is_explained_by_the_clusters_settings() {
    let private = json!({
        "apiServerAccessProfile": {"enablePrivateCluster": true},
        "privateFQDN": "demo.privatelink.westeurope.azmk8s.invalid",
    });
    let ranges = json!({
        "apiServerAccessProfile": {"authorizedIPRanges": ["203.0.113.0/24"]},
        "fqdn": "demo.hcp.westeurope.azmk8s.invalid",
    });
    // A cluster with local accounts: the kubeconfig holds a token of its own.
    let local = json!({
        "apiServerAccessProfile": {"authorizedIPRanges": ["203.0.113.0/24"]},
        "fqdn": "demo.hcp.westeurope.azmk8s.invalid", "aadProfile": null, "disableLocalAccounts": false,
    });
    for (properties, parts) in [
        (
            private,
            &["the cluster is private", "(demo.privatelink.westeurope.azmk8s.invalid)", "VPN"][..],
        ),
        (ranges, &["admits 203.0.113.0/24 only"]),
        (local, &["admits 203.0.113.0/24 only"]),
    ] {
        let (why, asked) = unreached(|_| {}, properties).await;
        assert!(parts.iter().all(|part| why.contains(part)), "{why}");
        assert_eq!(asked, 1, "{why}");
        assert!(!why.contains("eyJ"), "a token is printed: {why}");
    }
}

#[tokio::test(start_paused = true)]
async fn refusals_to_list_credentials_are_explained() {
    let lock = |bench: &Bench| {
        bench.shell.with(|world, _| {
            let scope = world.azure().options().cluster_id();
            let (name, level) = ("freeze".to_owned(), LockLevel::ReadOnly);
            world.azure_mut().add_lock(Lock { scope, name, level, notes: None });
        });
    };
    let (why, _) = unreached(lock, json!({})).await;
    assert!(why.contains("ScopeLocked") && why.contains("a ReadOnly lock forbids"), "{why}");
    let action = "Microsoft.ContainerService/managedClusters/listClusterUserCredential/action";
    let deny = |bench: &Bench| {
        let denial = Denial { principal: None, action: action.to_owned(), scope: None };
        bench.shell.with(|world, _| world.azure_mut().deny(denial));
    };
    let (why, _) = unreached(deny, json!({})).await;
    assert!(why.contains(&format!("{action} on /subscriptions/")), "{why}");
}
