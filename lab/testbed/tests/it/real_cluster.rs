//! Tests of the real API server.

use mooring_testbed::{RealCluster, Users, require};

#[tokio::test]
async fn real_server_starts_responds_and_cleans_up() {
    let started = RealCluster::start().await.unwrap();
    let Some(cluster) = require(started, "kube-apiserver") else { return };
    assert!(cluster.version().starts_with("v1."), "{}", cluster.version());
    assert!(cluster.minor() >= 20);
    let nobody = cluster.client(Users::OTHERS[0]).await.unwrap();
    assert!(nobody.list_core_api_versions().await.is_ok(), "whoever signs in may discover");
    let (folder, process) = (cluster.folder().to_owned(), cluster.process());
    drop(cluster);
    assert!(!folder.exists());
    assert!(!std::path::Path::new(&format!("/proc/{process}/exe")).exists());
}
