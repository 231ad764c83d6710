//! Clusters whose API cannot be reached, explained by their settings.

use mooring_repair::runtime::CredentialSource;
use mooring_simulator::azure::{ActionDenial, KubernetesAccess, Lock, LockLevel};
use mooring_simulator::serve::CertificateAuthority;
use serde_json::{Value, json};

use super::harness::Harness;

/// Reason why the journal in such a cluster cannot be read, and the number of requests for credentials.
async fn unreached(change: impl FnOnce(&Harness), properties: Value) -> (String, usize) {
    let (harness, _running) = Harness::new("wedged-system-pool");
    harness.shell.with(|world, _| {
        let azure = world.azure_mut();
        let host = ["privateFQDN", "fqdn"].iter().find_map(|name| properties[*name].as_str());
        azure.set_kubernetes(Some(KubernetesAccess {
            server: format!("https://{}:443", host.unwrap_or("demo.invalid")),
            ca_pem: CertificateAuthority::new().unwrap().pem().to_owned(),
            token: None,
        }));
        let mut cluster = azure.resource(&azure.options().cluster_id()).unwrap().clone();
        for (name, value) in properties.as_object().unwrap() {
            cluster["properties"][name] = value.clone();
        }
        azure.put_resource(cluster);
    });
    change(&harness);
    let error = harness.operator_by(CredentialSource::Azure).status().await.err().unwrap();
    let asked = harness.shell.with(|world, _| {
        let trace = world.azure().trace().text();
        trace.lines().filter(|line| line.contains("/listClusterUserCredential")).count()
    });
    (error.why().to_owned(), asked)
}

#[tokio::test(start_paused = true)]
async fn cluster_without_accounts_is_reported_before_connecting() {
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
async fn unreachable_api_is_explained_by_cluster_settings() {
    let private = json!({
        "apiServerAccessProfile": {"enablePrivateCluster": true},
        "privateFQDN": "demo.privatelink.westeurope.azmk8s.invalid",
    });
    // A cluster with local accounts: the kubeconfig has a token.
    let local = json!({
        "apiServerAccessProfile": {"authorizedIPRanges": ["203.0.113.0/24"]},
        "fqdn": "demo.hcp.westeurope.azmk8s.invalid", "aadProfile": null, "disableLocalAccounts": false,
    });
    for (properties, parts) in [
        (
            private,
            &["the cluster is private", "(demo.privatelink.westeurope.azmk8s.invalid)", "VPN"][..],
        ),
        (local, &["allows only 203.0.113.0/24"]),
    ] {
        let (why, asked) = unreached(|_| {}, properties).await;
        assert!(parts.iter().all(|part| why.contains(part)), "{why}");
        assert_eq!(asked, 1, "{why}");
        assert!(!why.contains("eyJ"), "a token is printed: {why}");
    }
}

#[tokio::test(start_paused = true)]
async fn denied_credentials_are_explained() {
    let lock = |harness: &Harness| {
        harness.shell.with(|world, _| {
            let scope = world.azure().options().cluster_id();
            let (name, level) = ("freeze".to_owned(), LockLevel::ReadOnly);
            world.azure_mut().add_lock(Lock { scope, name, level, notes: None });
        });
    };
    let (why, _) = unreached(lock, json!({})).await;
    assert!(why.contains("ScopeLocked") && why.contains("a ReadOnly lock also blocks"), "{why}");
    let action = "Microsoft.ContainerService/managedClusters/listClusterUserCredential/action";
    let deny = |harness: &Harness| {
        let denial = ActionDenial { principal: None, action: action.to_owned(), scope: None };
        harness.shell.with(|world, _| world.azure_mut().deny(denial));
    };
    let (why, _) = unreached(deny, json!({})).await;
    assert!(why.contains(&format!("{action} on /subscriptions/")), "{why}");
}
