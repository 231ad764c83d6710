//! The page of the controller's leader, through a port-forward of the API server.

use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use mooring_controller::run::Api;
use mooring_k8s::port_forward;
use mooring_page::{Connect, Connecting};
use tokio::io::DuplexStream;

use crate::cluster::read_controller;

/// Port of the page in the pod, as in the chart.
const PORT: u16 = 8082;

/// The way to the leader. Another replica may lead later.
#[derive(Clone)]
pub(super) struct Leader {
    client: kube::Client,
    pub(super) namespace: String,
    pod: Arc<Mutex<String>>,
}

impl Leader {
    /// Finds the leader by its Lease and connects once; the reason why not otherwise.
    pub(super) async fn find(
        client: &kube::Client,
        namespace: Option<&str>,
    ) -> Result<Self, String> {
        let api = Api::new(client.clone());
        let state = read_controller(&api, namespace, Timestamp::now()).await;
        if !state.is_running() {
            return Err(state.error.unwrap_or_else(|| "no controller is running".to_owned()));
        }
        let pod = pod_of(state.leader.as_deref().unwrap_or_default()).to_owned();
        let pod = Arc::new(Mutex::new(pod));
        let leader = Self { client: client.clone(), namespace: state.namespace, pod };
        leader.open().await.map(|_| leader)
    }

    pub(super) fn pod(&self) -> String {
        self.pod.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn open(&self) -> Result<DuplexStream, String> {
        port_forward::open(&self.client, &self.namespace, &self.pod(), PORT).await
    }

    /// Opens a connection; after an error, finds the leader again and retries once.
    async fn reopen(self) -> Result<DuplexStream, String> {
        match self.open().await {
            Ok(stream) => Ok(stream),
            Err(why) => {
                let api = Api::new(self.client.clone());
                let state = read_controller(&api, Some(&self.namespace), Timestamp::now()).await;
                let pod = pod_of(state.leader.as_deref().ok_or(why)?).to_owned();
                *self.pod.lock().unwrap_or_else(PoisonError::into_inner) = pod;
                self.open().await
            }
        }
    }

    pub(super) fn connect(self) -> Connect {
        Arc::new(move || -> Connecting { Box::pin(self.clone().reopen()) })
    }
}

/// Returns the pod of a holder, which is `POD-PROCESS`.
fn pod_of(holder: &str) -> &str {
    holder.rsplit_once('-').map_or(holder, |(pod, _)| pod)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::Server;

    #[tokio::test]
    async fn leader_is_needed_for_its_page() {
        let find = async |server: Server| Leader::find(&server.client(), Some("ops")).await.err();
        let none = find(Server::default()).await;
        assert_eq!(none.as_deref(), Some("no controller is running"));
        let path = "/apis/coordination.k8s.io/v1/namespaces/ops/leases/mooring";
        let renewed = Timestamp::now();
        let spec = serde_json::json!({"holderIdentity": "p-1", "renewTime": renewed});
        let lease = serde_json::json!({"spec": spec});
        let unreachable = find(Server::default().with(path, 200, lease.to_string())).await;
        assert!(unreachable.is_some_and(|why| why != "no controller is running"));
        let leader = Leader {
            client: Server::default().client(),
            namespace: "ops".to_owned(),
            pod: Arc::new(Mutex::new("p".to_owned())),
        };
        assert_eq!(leader.pod(), "p");
    }

    #[test]
    fn holder_of_the_lease_names_the_pod() {
        assert_eq!(pod_of("mooring-6c9f7d-x2x8k-1"), "mooring-6c9f7d-x2x8k");
    }
}
