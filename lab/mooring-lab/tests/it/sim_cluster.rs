//! Tests of `mooring-lab sim --kube-port` with the `kube` client.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use k8s_openapi::api::core::v1::Node;
use kube::api::{Api, DynamicObject, ListParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::{ApiResource, GroupVersionKind};
use mooring_testbed::simulation::Sim;

const TIMEOUT: Duration = Duration::from_secs(30);

async fn client(state: &Path) -> kube::Client {
    let config = Kubeconfig::read_from(state.join("kubeconfig")).unwrap();
    let config =
        kube::Config::from_custom_kubeconfig(config, &KubeConfigOptions::default()).await.unwrap();
    kube::Client::try_from(config).unwrap()
}

#[tokio::test]
async fn kube_client_connects_with_the_kubeconfig() {
    let state = tempfile::tempdir().unwrap();
    let _sim = Sim::start(state.path(), &["--scenario", "oras-missing", "--kube-port", "0"]);
    let file = state.path().join("kubeconfig");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let environment = std::fs::read_to_string(state.path().join("env.sh")).unwrap();
    assert!(environment.contains("export KUBECONFIG='/"), "{environment}");
    let listed = async {
        let client = client(state.path()).await;
        let nodes = Api::<Node>::all(client.clone()).list(&ListParams::default()).await.unwrap();
        let kind = GroupVersionKind::gvk("karpenter.sh", "v1", "NodeClaim");
        let claims: Api<DynamicObject> = Api::all_with(client, &ApiResource::from_gvk(&kind));
        (nodes.items.len(), claims.list(&ListParams::default()).await.unwrap().items.len())
    };
    let listed = tokio::time::timeout(TIMEOUT, listed).await.expect("timed out");
    // Five nodes of pools, and five nodes of the ten NodeClaims.
    assert_eq!(listed, (10, 10));
}

#[test]
fn kubeconfig_is_not_written_without_kube_port() {
    let state = tempfile::tempdir().unwrap();
    let _sim = Sim::start(state.path(), &[]);
    assert!(!state.path().join("kubeconfig").exists());
    let environment = std::fs::read_to_string(state.path().join("env.sh")).unwrap();
    assert!(!environment.contains("KUBECONFIG"), "{environment}");
}
