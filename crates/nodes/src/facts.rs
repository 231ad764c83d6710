//! Facts of a cluster, as they were read.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use mooring_workflow::Reading;
use mooring_workflow::plural::counted;
use mooring_workflow::published::{
    ClusterIdentity, PublishedDocument, Source, SourceName, SourceState, is_partial,
};
use mooring_workflow::status::RunStatus;
use serde::Serialize;
use serde_json::Value;

use crate::count::Reads;
use crate::karpenter::Karpenter;
use crate::merge::Inventory;
use crate::node::PoolKind;
use crate::pool::JoinTimes;
use crate::record;
use crate::record::counts::half_hour_start;
use crate::unregistered::UnregisteredNode;

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
    pub lost: Vec<UnregisteredNode>,
    pub controller: ControllerState,
    /// None if the cluster has no record, or it cannot be read.
    pub record: Option<Arc<record::RecordDocument>>,
    /// The last run of each pool that has a journal of `mooring repair`; `inventory.reads` has whether they were read.
    pub runs: Vec<RunStatus>,
    pub sources: Vec<Source>,
    pub warnings: Vec<String>,
    pub now: Timestamp,
}

impl ClusterFacts {
    pub fn source_state(&self, name: SourceName) -> SourceState {
        let source = self.sources.iter().find(|source| source.name == name);
        source.map_or(SourceState::NotAsked, |source| source.state)
    }

    /// Returns a sentence for each read that failed, with what is not known without it.
    pub fn unread(&self) -> Vec<&'static str> {
        self.unread_of(&self.inventory, None)
    }

    /// Returns the same for some nodes, and for pools of one kind.
    pub fn unread_of(&self, inventory: &Inventory, kind: Option<PoolKind>) -> Vec<&'static str> {
        let Reads { claims, nodes, record, aks_pools, runs } = &inventory.reads;
        let (is_node_pool, is_aks_pool) =
            (kind != Some(PoolKind::AksPool), kind != Some(PoolKind::NodePool));
        let azure = undecided(inventory, Reading::has_failed) > 0;
        let texts = [
            (
                is_node_pool && claims.has_failed(),
                "NodeClaims were not read, so joining and failed nodes are not known.",
            ),
            (nodes.has_failed(), "Nodes were not read, so it is not known which are ready."),
            (
                is_node_pool && record.has_failed(),
                "The failure record was not read, so failures of deleted nodes are not known.",
            ),
            (
                is_aks_pool && aks_pools.has_failed(),
                "AKS pools were not read, so their missing nodes are not known.",
            ),
            (azure, "Azure was not read, so joining nodes may have failed."),
            (runs.has_failed(), "Repairs were not read, so stopped ones are not known."),
        ];
        texts.into_iter().filter_map(|(is_unread, text)| is_unread.then_some(text)).collect()
    }

    /// Returns a sentence for everything that Azure was not asked about.
    pub fn unasked(&self) -> Vec<String> {
        self.unasked_of(&self.inventory, None)
    }

    /// Returns the same for some nodes, and for pools of one kind.
    pub fn unasked_of(&self, inventory: &Inventory, kind: Option<PoolKind>) -> Vec<String> {
        let mut all = Vec::new();
        let joining = undecided(inventory, |azure| *azure == Reading::NotAsked);
        if joining > 0 {
            let are = if joining == 1 { "is" } else { "are" };
            let nodes = counted(joining, "node");
            all.push(format!("{nodes} {are} joining, and Azure was not asked about them."));
        }
        let is_aks_pool = kind != Some(PoolKind::NodePool);
        if is_aks_pool && inventory.reads.aks_pools == Reading::NotAsked {
            all.push("AKS pools are not checked: Azure was not asked.".to_owned());
        }
        all
    }

    /// Sets the runs of `mooring repair`, and whether all were read.
    pub fn set_runs(&mut self, runs: Vec<RunStatus>, read: Reading<()>) {
        self.inventory.reads.runs = read;
        self.runs = runs;
    }

    /// Returns true if a source that was asked could not be read.
    pub fn is_partial(&self) -> bool {
        is_partial(&self.sources) || !self.unread().is_empty() || self.controller.is_unknown()
    }

    /// Returns the exit code of an answer: 1 if something is wrong, else 3 if a source could not be read.
    pub fn exit_code(&self, is_wrong: bool) -> u8 {
        match (is_wrong, self.is_partial()) {
            (true, _) => 1,
            (false, true) => 3,
            (false, false) => 0,
        }
    }

    /// Returns the usual times of pools, from all nodes.
    pub fn join_times(&self) -> JoinTimes {
        JoinTimes::of(&self.inventory.nodes, self.now)
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

/// Counts nodes that may have failed, by what Azure said.
fn undecided(inventory: &Inventory, is_wanted: impl Fn(&Reading<()>) -> bool) -> usize {
    inventory.nodes.iter().filter(|node| node.is_undecided() && is_wanted(&node.azure)).count()
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

    pub fn is_unknown(&self) -> bool {
        self.state == "unknown"
    }

    /// Returns why nothing is known of the controller.
    pub fn unread(&self) -> Option<&str> {
        self.error.as_deref().filter(|_| self.is_unknown())
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
