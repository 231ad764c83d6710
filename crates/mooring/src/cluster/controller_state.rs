//! State of the controller: its Deployment and its Lease.

use jiff::Timestamp;
use mooring_controller::run::Api;
use mooring_inventory::ControllerState;
use serde_json::Value;

pub(crate) const NAMESPACE: &str = "mooring-system";

const DEPLOYMENTS: &str =
    "/apis/apps/v1/deployments?labelSelector=app.kubernetes.io%2Fname%3Dmooring";

/// Reads the Deployment, in any namespace, and the Lease.
pub(crate) async fn read_controller(
    api: &Api,
    namespace: Option<&str>,
    now: Timestamp,
) -> ControllerState {
    let deployment = match api.get(DEPLOYMENTS).await {
        Ok(text) => {
            let list: Value = serde_json::from_str(&text).unwrap_or_default();
            let mut items = list["items"].as_array().cloned().unwrap_or_default().into_iter();
            items.find(|item| namespace.is_none_or(|name| item["metadata"]["namespace"] == name))
        }
        // Without this permission the Lease is still read.
        Err(_) => None,
    };
    let deployment = deployment.unwrap_or_default();
    let found = deployment["metadata"]["namespace"].as_str();
    let namespace = namespace.or(found).unwrap_or(NAMESPACE).to_owned();
    let lease = api
        .get(&format!("/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/mooring"))
        .await;
    let version = deployment["metadata"]["labels"]["app.kubernetes.io/version"].as_str();
    let mut state = ControllerState {
        version: version.map(str::to_owned),
        replicas: deployment["spec"]["replicas"].as_i64(),
        ready_replicas: deployment["status"]["readyReplicas"].as_i64(),
        ..ControllerState::unknown(namespace)
    };
    match lease {
        Ok(text) => state.add_lease(&serde_json::from_str(&text).unwrap_or_default(), now),
        Err(error) if error.status == Some(404) => state.state = "not-running",
        Err(error) => state.error = Some(error.what),
    }
    state
}
