//! State of the controller: its Deployment and its Lease.

use jiff::{SignedDuration, Timestamp};
use mooring_controller::run::Api;
use serde::Serialize;
use serde_json::Value;

pub(crate) const NAMESPACE: &str = "mooring-system";

const DEPLOYMENTS: &str =
    "/apis/apps/v1/deployments?labelSelector=app.kubernetes.io%2Fname%3Dmooring";

/// A leader renews its Lease every two seconds.
const MAX_RENEWAL_AGE: SignedDuration = SignedDuration::from_secs(30);

/// The controller as the cluster shows it. Unknown members are null.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ControllerState {
    pub(crate) namespace: String,
    /// `running`, `late`, `not-running` or `unknown`.
    pub(crate) state: &'static str,
    pub(crate) version: Option<String>,
    pub(crate) replicas: Option<i64>,
    pub(crate) ready_replicas: Option<i64>,
    pub(crate) leader: Option<String>,
    pub(crate) renewed_at: Option<Timestamp>,
    pub(crate) error: Option<String>,
}

impl ControllerState {
    pub(crate) fn is_running(&self) -> bool {
        self.state == "running"
    }

    /// Reads the Deployment, in any namespace, and the Lease.
    pub(super) async fn read(api: &Api, namespace: Option<&str>, now: Timestamp) -> Self {
        let deployment = match api.get(DEPLOYMENTS).await {
            Ok(text) => {
                let list: Value = serde_json::from_str(&text).unwrap_or_default();
                let mut items = list["items"].as_array().cloned().unwrap_or_default().into_iter();
                items
                    .find(|item| namespace.is_none_or(|name| item["metadata"]["namespace"] == name))
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
        let mut state = Self {
            namespace,
            state: "unknown",
            version: version.map(str::to_owned),
            replicas: deployment["spec"]["replicas"].as_i64(),
            ready_replicas: deployment["status"]["readyReplicas"].as_i64(),
            leader: None,
            renewed_at: None,
            error: None,
        };
        match lease {
            Ok(text) => state.add_lease(&serde_json::from_str(&text).unwrap_or_default(), now),
            Err(error) if error.status == Some(404) => state.state = "not-running",
            Err(error) => state.error = Some(error.what),
        }
        state
    }

    fn add_lease(&mut self, lease: &Value, now: Timestamp) {
        let leader = lease["spec"]["holderIdentity"].as_str().filter(|name| !name.is_empty());
        self.leader = leader.map(str::to_owned);
        let renewed = lease["spec"]["renewTime"].as_str();
        self.renewed_at = renewed.and_then(|text| text.parse().ok());
        let age = self.renewed_at.map(|at| now.duration_since(at));
        self.state = match (&self.leader, age) {
            (Some(_), Some(age)) if age < MAX_RENEWAL_AGE => "running",
            (Some(_), _) => "late",
            (None, _) => "not-running",
        };
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lease_shows_if_a_leader_runs() {
        let now: Timestamp = "2026-11-17T09:14:00Z".parse().unwrap();
        for (holder, renewed, expected) in [
            ("a", "2026-11-17T09:13:56.000000Z", "running"),
            ("a", "2026-11-17T09:13:30.000000Z", "late"),
            ("a", "x", "late"),
            ("", "2026-11-17T09:13:56.000000Z", "not-running"),
        ] {
            let mut state = ControllerState {
                namespace: String::new(),
                state: "unknown",
                version: None,
                replicas: None,
                ready_replicas: None,
                leader: None,
                renewed_at: None,
                error: None,
            };
            let lease = json!({"spec": {"holderIdentity": holder, "renewTime": renewed}});
            state.add_lease(&lease, now);
            assert_eq!(state.state, expected, "{holder} {renewed}");
            assert_eq!(state.is_running(), expected == "running");
        }
    }
}
