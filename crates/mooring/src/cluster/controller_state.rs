//! State of the controller: its Deployment and its Lease.

use jiff::Timestamp;
use mooring_controller::run::Api;
use mooring_nodes::ControllerState;
use serde_json::Value;

pub(crate) const NAMESPACE: &str = "mooring-system";

const DEPLOYMENTS: &str =
    "/apis/apps/v1/deployments?labelSelector=app.kubernetes.io%2Fname%3Dmooring";
const LEASES: &str = "/apis/coordination.k8s.io/v1/leases?fieldSelector=metadata.name%3Dmooring";

/// Reads the Deployment, in any namespace, and the Lease.
pub(crate) async fn read_controller(
    api: &Api,
    namespace: Option<&str>,
    now: Timestamp,
) -> ControllerState {
    let (deployment, unread) = match api.json(DEPLOYMENTS).await {
        Ok(list) => match list["items"].as_array() {
            Some(items) => {
                let is_named = |item: &&Value| {
                    namespace.is_none_or(|name| item["metadata"]["namespace"] == name)
                };
                (items.iter().find(is_named).cloned(), None)
            }
            None => (None, Some("the list of Deployments is not valid".to_owned())),
        },
        // Without this permission the Lease is still read.
        Err(error) if error.status == Some(404) => (None, None),
        Err(error) => (None, Some(error.what)),
    };
    let deployment = deployment.unwrap_or_default();
    // It may run in another namespace than the usual one.
    let elsewhere = unread.filter(|_| namespace.is_none());
    let found = deployment["metadata"]["namespace"].as_str();
    let namespace = namespace.or(found).unwrap_or(NAMESPACE).to_owned();
    let lease = api
        .json(&format!("/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/mooring"))
        .await;
    let version = deployment["metadata"]["labels"]["app.kubernetes.io/version"].as_str();
    let mut state = ControllerState {
        version: version.map(str::to_owned),
        replicas: deployment["spec"]["replicas"].as_i64(),
        ready_replicas: deployment["status"]["readyReplicas"].as_i64(),
        ..ControllerState::unknown(namespace)
    };
    match lease {
        Ok(lease) => state.add_lease(&lease, now),
        Err(error) if error.status == Some(404) => match elsewhere {
            None => state.state = "not-running",
            Some(why) => state.error = Some(why),
        },
        Err(error) => state.error = Some(error.what),
    }
    state
}

/// Returns a namespace that has a controller: its Deployment, or the Lease of one that runs elsewhere.
pub(crate) async fn find_namespace(api: &Api) -> Option<String> {
    for path in [DEPLOYMENTS, LEASES] {
        let list = api.json(path).await.ok();
        let found =
            list.as_ref().and_then(|list| list["items"][0]["metadata"]["namespace"].as_str());
        if let Some(found) = found {
            return Some(found.to_owned());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{Server, at, now};

    const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/b/leases/mooring";

    #[tokio::test]
    async fn state_is_that_of_the_deployment_and_the_lease() {
        let deployments = r#"{"items": [
            {"metadata": {"namespace": "a", "labels": {"app.kubernetes.io/version": "0.1.0"}}},
            {"metadata": {"namespace": "b", "labels": {"app.kubernetes.io/version": "0.2.0"}},
             "spec": {"replicas": 2}, "status": {"readyReplicas": 1}}
        ]}"#;
        let server = || Server::default().with(DEPLOYMENTS, 200, deployments);
        let read = async |server: Server, namespace| {
            read_controller(&Api::new(server.client()), namespace, now()).await
        };
        let lease =
            r#"{"spec": {"holderIdentity": "p-1", "renewTime": "2026-11-17T09:13:59.000000Z"}}"#;
        let running = ControllerState {
            namespace: "b".to_owned(),
            state: "running",
            version: Some("0.2.0".to_owned()),
            replicas: Some(2),
            ready_replicas: Some(1),
            leader: Some("p-1".to_owned()),
            renewed_at: Some(at("2026-11-17T09:13:59Z")),
            error: None,
        };
        assert_eq!(read(server().with(LEASE, 200, lease), Some("b")).await, running);
        let stopped = read(server(), Some("b")).await;
        assert_eq!((stopped.state, stopped.error), ("not-running", None));
        let denied = read(server().with(LEASE, 403, "no"), Some("b")).await;
        assert_eq!((denied.state, denied.error.is_some()), ("unknown", true));
        assert_eq!(read(server(), None).await.namespace, "a", "the first one");
        let blind = || Server::default().with(DEPLOYMENTS, 403, "no");
        let elsewhere = read(blind(), None).await;
        assert_eq!((elsewhere.state, elsewhere.error.is_some()), ("unknown", true));
        assert_eq!(read(blind(), Some("b")).await.state, "not-running");
        let odd = read(Server::default().with(DEPLOYMENTS, 200, "{}"), None).await;
        assert_eq!((odd.state, odd.error.is_some()), ("unknown", true));
        let cut = read(server().with(LEASE, 200, "{"), Some("b")).await;
        assert_eq!((cut.state, cut.error.is_some()), ("unknown", true));
        let other = read(server(), Some("c")).await;
        assert_eq!((other.namespace.as_str(), other.version), ("c", None));
        assert_eq!(read(Server::default(), None).await.namespace, NAMESPACE);
    }
}
