//! `mooring sim --kube-port`: the cluster's API of the built binary, to a client that nobody here wrote.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use crate::common::Sim;
use k8s_openapi::api::core::v1::Node;
use kube::api::{Api, DynamicObject, ListParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::{ApiResource, GroupVersionKind};

const PATIENCE: Duration = Duration::from_secs(30);

async fn client(state: &Path) -> kube::Client {
    let config = Kubeconfig::read_from(state.join("kubeconfig")).unwrap();
    let config =
        kube::Config::from_custom_kubeconfig(config, &KubeConfigOptions::default()).await.unwrap();
    kube::Client::try_from(config).unwrap()
}

#[tokio::test]
async fn a_client_finds_the_cluster_by_its_kubeconfig() {
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
    let listed = tokio::time::timeout(PATIENCE, listed).await.expect("an answer in time");
    // Five nodes of pools and five that Karpenter's good machines became; ten claims.
    assert_eq!(listed, (10, 10));
}

#[test]
fn without_a_port_there_is_no_kubeconfig() {
    let state = tempfile::tempdir().unwrap();
    let _sim = Sim::start(state.path(), &[]);
    assert!(!state.path().join("kubeconfig").exists());
    let environment = std::fs::read_to_string(state.path().join("env.sh")).unwrap();
    assert!(!environment.contains("KUBECONFIG"), "{environment}");
}
