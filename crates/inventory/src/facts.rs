//! Facts of a cluster, as they were read.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use mooring_controller::observation::node::Node as LostNode;
use mooring_controller::record;
use mooring_controller::record::counts::half_hour_start;
use mooring_workflow::published::{
    ClusterIdentity, PublishedDocument, Source, SourceName, SourceState,
};
use serde::Serialize;
use serde_json::Value;

use crate::karpenter::Karpenter;
use crate::merge::Inventory;

/// A leader renews its Lease every two seconds.
const MAX_RENEWAL_AGE: SignedDuration = SignedDuration::from_secs(30);

/// Facts of a cluster. What could not be read is in `sources` and `warnings`.
#[derive(Debug, Clone)]
pub struct ClusterFacts {
    pub identity: ClusterIdentity,
    pub region: Option<String>,
    pub version: Option<String>,
    pub inventory: Inventory,
    pub karpenter: Karpenter,
    pub has_karpenter: bool,
    /// Nodes that stop Karpenter.
    pub lost: Vec<LostNode>,
    pub controller: ControllerState,
    /// None if the cluster has no record, or it cannot be read.
    pub record: Option<Arc<record::RecordDocument>>,
    pub sources: Vec<Source>,
    pub warnings: Vec<String>,
    pub now: Timestamp,
}

impl ClusterFacts {
    pub fn source_state(&self, name: SourceName) -> SourceState {
        let source = self.sources.iter().find(|source| source.name == name);
        source.map_or(SourceState::NotAsked, |source| source.state)
    }

    /// Returns a sentence for each source that failed, with what is not known without it.
    pub fn unread(&self, joining: usize) -> impl Iterator<Item = &'static str> {
        let text = move |name| match name {
            SourceName::Cluster => {
                Some("The cluster was not read completely, so nodes and failures may be missing.")
            }
            SourceName::Record => {
                Some("The failure record was not read, so failures of deleted nodes are not known.")
            }
            SourceName::Azure if joining > 0 => {
                Some("Azure was not read, so joining nodes may have failed.")
            }
            SourceName::Azure | SourceName::Controller => None,
        };
        let failed = self.sources.iter().filter(|source| source.state == SourceState::Failed);
        failed.filter_map(move |source| text(source.name))
    }

    /// Returns the name of the cluster, or of its server.
    pub fn cluster_name(&self) -> String {
        let identity = &self.identity;
        let name =
            identity.name.as_ref().or(identity.context.as_ref()).or(identity.server.as_ref());
        name.cloned().unwrap_or_else(|| "cluster".to_owned())
    }

    /// Returns region, version and context, if they are known.
    pub fn about(&self) -> Vec<String> {
        let version = self.version.as_deref().map(|text| text.trim_start_matches('v'));
        let version = version.map(|version| format!("Kubernetes {version}"));
        let context = self.identity.context.as_ref().map(|context| format!("context {context}"));
        [self.region.clone(), version, context].into_iter().flatten().collect()
    }

    /// Returns the start of a filter. With counts, it is that of a half hour.
    pub fn filter_start(&self, since: Timestamp) -> Timestamp {
        if self.inventory.counts.is_some() { half_hour_start(since) } else { since }
    }

    /// Returns a document with this content.
    pub fn document<T: Serialize>(
        &self,
        schema: &'static str,
        content: T,
    ) -> PublishedDocument<'_, T> {
        PublishedDocument::new(schema, self.now, &self.identity, &self.sources, content)
    }
}

/// The controller as the cluster shows it. Unknown members are null.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ControllerState {
    pub namespace: String,
    /// `running`, `late`, `not-running` or `unknown`.
    pub state: &'static str,
    pub version: Option<String>,
    pub replicas: Option<i64>,
    pub ready_replicas: Option<i64>,
    pub leader: Option<String>,
    pub renewed_at: Option<Timestamp>,
    pub error: Option<String>,
}

impl ControllerState {
    /// Returns a state of which nothing is known.
    pub fn unknown(namespace: String) -> Self {
        Self { namespace, state: "unknown", ..Self::default() }
    }

    pub fn is_running(&self) -> bool {
        self.state == "running"
    }

    /// Adds leader and state from the Lease.
    pub fn add_lease(&mut self, lease: &Value, now: Timestamp) {
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
#[allow(clippy::unwrap_used, reason = "tests fail by panicking")]
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
            let mut state = ControllerState::unknown(String::new());
            let lease = json!({"spec": {"holderIdentity": holder, "renewTime": renewed}});
            state.add_lease(&lease, now);
            assert_eq!(state.state, expected, "{holder} {renewed}");
            assert_eq!(state.is_running(), expected == "running");
        }
    }
}
