//! All nodes: NodeClaims, Nodes and recorded failures, merged by the uid of the NodeClaim.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use mooring_diagnosis::Stage;
use mooring_workflow::Reading;

use crate::claim::image;
use crate::claim::vm_id::{Interner, VmId};
use crate::count::{AksPool, Count, Reads};
use crate::failure::NodeFailure;
use crate::node::{Filter, JoinState, Node, Nodes, PoolKind};
use crate::object::NodeItem;
use crate::record::counts::CountsDocument;
use crate::record::{FailureRecord, RecordDocument};
use crate::unlisted::{Unlisted, unlisted};
use crate::verdict::registration::{
    AzureReading, ClusterState, NodeState, RegistrationCause, overdue,
};
use crate::{Claim, ConditionReason, ConditionStatus, NodeReport, Verdict};

const AKS_POOL: &str = "kubernetes.azure.com/agentpool";
const NODE_POOL: &str = "karpenter.sh/nodepool";
const IMAGE: &str = "kubernetes.azure.com/node-image-version";
const INSTANCE_TYPE: &str = "node.kubernetes.io/instance-type";
const ZONE: &str = "topology.kubernetes.io/zone";

/// A new Node that is not ready after this time has a problem.
const READY_TIMEOUT: SignedDuration = SignedDuration::from_mins(5);

/// Azure has no result of a VM that is younger.
const MIN_AGE: SignedDuration = SignedDuration::from_secs(30);

/// All nodes of a cluster, and failures of deleted ones.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Inventory {
    pub nodes: Nodes,
    /// Failures that did not fit into the record; none if it was not read.
    pub dropped: Option<u64>,
    /// Counted nodes that are not in `nodes`; empty before [`Self::filtered`] and without counts.
    pub unlisted: Vec<Unlisted>,
    /// Counts of all nodes for half hours.
    pub counts: Option<Arc<CountsDocument>>,
    /// Pools of AKS as Azure shows them; empty if they were not read.
    pub aks_pools: Vec<AksPool>,
    /// What was read. Nothing is known of the rest.
    pub reads: Reads,
}

impl Inventory {
    /// Merges what was read. A missing record hides failures of deleted nodes only.
    pub fn merge(
        claims: &Reading<Vec<Arc<Claim>>>,
        nodes: &Reading<Vec<NodeItem>>,
        record: &Reading<Arc<RecordDocument>>,
        now: Timestamp,
    ) -> Self {
        let reads = Reads {
            claims: claims.outcome(),
            nodes: nodes.outcome(),
            record: record.outcome(),
            ..Reads::default()
        };
        let (are_read, record) = (nodes.is_read(), record.known().map(AsRef::as_ref));
        let claims = claims.known().map(Vec::as_slice).unwrap_or_default();
        let nodes = nodes.known().map(Vec::as_slice).unwrap_or_default();
        let recorded = last_by_uid(record);
        let by_name: HashMap<&str, &NodeItem> =
            nodes.iter().map(|node| (node.name.as_str(), node)).collect();
        let mut matched: HashSet<&str> = HashSet::new();
        let mut images = Interner::default();
        let mut merged = Nodes::default();
        for claim in claims {
            let node = by_name.get(claim.node_name().as_str()).copied();
            matched.extend(node.map(|node| node.name.as_str()));
            let entry = recorded.get(&*claim.uid).copied();
            let node = match node {
                _ if !are_read => Reading::NotAsked,
                Some(node) => Reading::Known(node),
                None => Reading::NotFound,
            };
            merged.push(of_claim(claim, &node, entry, &mut images, now));
        }
        let left = nodes.iter().filter(|node| !matched.contains(node.name.as_str()));
        merged.extend(left.map(|node| of_node(node, &mut images, now)));
        let existing: HashSet<&str> = claims.iter().map(|claim| &*claim.uid).collect();
        let gone = recorded.into_values().filter(|entry| !existing.contains(entry.uid.as_str()));
        merged.extend(gone.map(of_entry));
        merged.sort_by(|a, b| (a.at(), a.name()).cmp(&(b.at(), b.name())));
        let dropped = record.map(|record| record.dropped);
        Self { nodes: merged, dropped, reads, ..Self::default() }
    }

    /// Returns the nodes that match.
    #[must_use]
    pub fn filtered(&self, filter: &Filter) -> Self {
        let counts = self.counts.as_ref();
        let unlisted = counts.map(|counts| unlisted(&self.nodes, counts, filter));
        Self {
            nodes: self.nodes.filtered(|node| filter.matches(node)),
            dropped: self.dropped,
            unlisted: unlisted.unwrap_or_default(),
            counts: self.counts.clone(),
            reads: self.reads.clone(),
            aks_pools: self.aks_pools.iter().filter(|pool| filter.selects(pool)).cloned().collect(),
        }
    }

    /// Returns the number of failures, listed or not.
    pub fn failed(&self) -> Count {
        let listed = self.nodes.iter().filter(|node| node.is_failed()).count();
        let unlisted = self.unlisted_failures().map(|one| one.count as usize).sum::<usize>();
        let is_complete = self.has_all_outcomes() && self.reads.record.is_known();
        Count::of(listed + unlisted, is_complete && !self.may_lack_vms())
    }

    /// Returns true if an AKS pool has fewer nodes than it should, or may have: VMs that did not join are not in the cluster.
    fn may_lack_vms(&self) -> bool {
        let is_unread = self.reads.aks_pools.has_failed();
        let lacks = |pool: &AksPool| {
            let is_of = |node: &&Node| {
                let is_aks = node.pool_kind == PoolKind::AksPool;
                is_aks && node.exists && node.pool.as_deref() == Some(&*pool.name)
            };
            !pool.has_all(self.nodes.iter().filter(is_of).count(), &self.reads)
        };
        (is_unread && self.nodes.iter().any(|node| node.pool_kind == PoolKind::AksPool))
            || self.aks_pools.iter().any(lacks)
    }

    /// Returns true if the outcomes of all nodes that exist are known.
    pub fn has_all_outcomes(&self) -> bool {
        self.reads.has_all_nodes() && !self.nodes.iter().any(Node::is_undecided)
    }

    pub(crate) fn unlisted_failures(&self) -> impl Iterator<Item = &Unlisted> {
        self.unlisted.iter().filter(|one| one.is_failed())
    }

    /// Returns the number of nodes that joined or are joining, in one state.
    pub fn count(&self, state: JoinState) -> Count {
        self.count_if(state, |_| true)
    }

    /// Returns the same of some nodes.
    pub fn count_if(&self, state: JoinState, is_wanted: impl Fn(&Node) -> bool) -> Count {
        let found = self.nodes.iter().filter(|node| node.state == state && is_wanted(node)).count();
        let is_complete = match state {
            JoinState::Ready | JoinState::NotReady => self.reads.nodes.is_read(),
            JoinState::Joining => self.reads.claims.is_read() && !self.may_lack_vms(),
            JoinState::Joined | JoinState::Failed => self.reads.has_all_nodes(),
        };
        Count::of(found, is_complete)
    }

    /// Returns the number of nodes that joined.
    pub fn joined(&self) -> Count {
        let joined = self.nodes.iter().filter(|node| node.has_joined() && !node.is_failed());
        Count::of(joined.count(), self.reads.has_all_nodes())
    }

    /// Returns the AKS pools, or why they are not known.
    pub fn aks_pools_read(&self) -> Reading<Vec<AksPool>> {
        self.reads.aks_pools.map(|()| self.aks_pools.clone())
    }

    pub fn set_aks_pools(&mut self, read: Reading<Vec<AksPool>>) {
        self.reads.aks_pools = read.outcome();
        self.aks_pools = match read {
            Reading::Known(pools) => pools,
            _ => Vec::new(),
        };
    }

    /// Returns the node with this uid.
    pub fn by_uid(&self, uid: &str) -> Option<&Node> {
        self.nodes.iter().find(|node| node.uid == uid)
    }

    /// Adds the verdict of Azure on a node that has none yet, or whose cause is not known.
    pub fn add_report(&mut self, uid: &str, report: &NodeReport) {
        let Some(node) = self.nodes.find_mut(|node| node.uid == uid) else { return };
        node.azure = match report.verdict.reason {
            ConditionReason::CseStatusUnavailable => Reading::Failed(report.message()),
            _ => Reading::Known(()),
        };
        let is_unknown = match node.state {
            JoinState::Joining => true,
            JoinState::Failed => {
                node.failure.as_ref().is_none_or(|failure| failure.owner.is_none())
            }
            JoinState::Ready | JoinState::NotReady | JoinState::Joined => false,
        };
        if let (true, Some(failure)) = (is_unknown, observed(report)) {
            let failed_at = failure.failed_at.or(node.failed_at());
            node.failure = Some(Box::new(NodeFailure { failed_at, ..failure }));
            node.state = JoinState::Failed;
        }
    }

    /// Sets what Azure said of a node without a report: there is no VM, or it could not be read.
    pub fn set_azure(&mut self, uid: &str, azure: Reading<()>) {
        if let Some(node) = self.nodes.find_mut(|node| node.uid == uid) {
            node.azure = azure;
        }
    }

    /// Adds a VM that Azure shows, unless its Node is in the cluster. Returns the uid of the node.
    pub fn add_vm(&mut self, report: &NodeReport) -> String {
        let is_same = |node: &&Node| node.node.as_deref() == Some(&*report.node) && node.exists;
        if let Some(node) = self.nodes.iter().find(is_same) {
            let uid = node.uid.clone();
            self.add_report(&uid, report);
            return uid;
        }
        let node = of_vm(report);
        let uid = node.uid.clone();
        self.nodes.push(node);
        uid
    }
}

fn observed(report: &NodeReport) -> Option<NodeFailure> {
    let failure = report.verdict.failure.as_ref().filter(|_| report.is_failed())?;
    let reason = report.verdict.reason.as_str();
    let failure = NodeFailure::observed(failure, reason, &report.message());
    Some(NodeFailure { failed_at: report.verdict.at, ..failure })
}

/// Returns a VM without a NodeClaim and without a Node.
fn of_vm(report: &NodeReport) -> Node {
    let failure = observed(report);
    Node {
        uid: format!("vm/{}", report.node),
        node_claim: report.claim.clone(),
        node: Some(report.node.clone()),
        pool: report.pool.as_deref().map(Arc::from),
        pool_kind: PoolKind::AksPool,
        image: report.image.as_deref().map(Arc::from),
        state: match (&failure, report.joined) {
            (Some(_), _) => JoinState::Failed,
            (None, Some(true)) => JoinState::Ready,
            (None, _) => JoinState::Joining,
        },
        exists: true,
        failure: failure.map(Box::new),
        azure: Reading::Known(()),
        ..Node::default()
    }
}

/// Returns the last failure of each NodeClaim; a confirmed one if there is one.
fn last_by_uid(record: Option<&RecordDocument>) -> HashMap<&str, &FailureRecord> {
    let mut last: HashMap<&str, &FailureRecord> = HashMap::new();
    for entry in record.into_iter().flat_map(RecordDocument::entries) {
        let known = last.entry(&entry.uid).or_insert(entry);
        if (!entry.unconfirmed, entry.at) > (!known.unconfirmed, known.at) {
            *known = entry;
        }
    }
    last
}

fn of_claim(
    claim: &Arc<Claim>,
    node: &Reading<&NodeItem>,
    entry: Option<&FailureRecord>,
    images: &mut Interner,
    now: Timestamp,
) -> Node {
    let are_read = node.is_read();
    let node = node.known().copied();
    let absent = if are_read { NodeState::Absent } else { NodeState::Unknown };
    let node_state = node.map_or(absent, NodeItem::state);
    let failed = claim.condition.as_ref().filter(|one| one.status == ConditionStatus::False);
    let has_joined = claim.registered.is_some();
    let failure = match (has_joined, failed, entry, &claim.launch_error) {
        (true, ..) if claim.initialized.is_some() => None,
        (true, ..) => node.and_then(|node| never_ready(node, now)),
        (false, _, Some(entry), _) => Some(NodeFailure::recorded(entry)),
        (false, Some(one), None, _) => {
            let at = Some(one.since);
            Some(NodeFailure::diagnosed(&one.reason, &one.message, Stage::Bootstrap, at))
        }
        (false, None, None, Some(error)) => {
            Some(NodeFailure::diagnosed(&error.reason, &error.message, Stage::Launch, error.at))
        }
        (false, None, None, None) => unregistered(claim, node_state, now),
    };
    let state = match (has_joined, &failure) {
        (true, _) if !are_read => JoinState::Joined,
        (true, _) if node.is_some_and(|node| node.is_ready) => JoinState::Ready,
        (true, _) => JoinState::NotReady,
        (false, Some(_)) => JoinState::Failed,
        (false, None) => JoinState::Joining,
    };
    Node {
        uid: claim.uid.to_string(),
        node_claim: Some(claim.name.to_string()),
        node: node.map(|node| node.name.clone()).or_else(|| Some(claim.node_name())),
        pool: claim.pool.clone(),
        pool_kind: PoolKind::NodePool,
        vm_id: claim.vm.as_ref().map(VmId::path),
        image: claim.image_key().map(|image| images.intern(&image)),
        node_class: Some(Arc::clone(&claim.node_class)).filter(|class| !class.is_empty()),
        instance_type: claim.instance_type.clone(),
        zone: claim.zone.clone(),
        state,
        exists: true,
        created_at: Some(claim.created),
        launched_at: claim.launched,
        node_created_at: node.and_then(|node| node.created),
        joined_at: claim.registered,
        initialized_at: claim.initialized,
        ready_at: node.and_then(|node| node.ready_since),
        failure: failure.map(Box::new),
        node_state,
        claim: Some(Arc::clone(claim)),
        azure: if now.duration_since(claim.created) < MIN_AGE {
            Reading::NotFound
        } else {
            Reading::NotAsked
        },
        ..Node::default()
    }
}

/// Returns the failure of a NodeClaim that is past Karpenter's limit, by what the cluster shows of its node.
fn unregistered(claim: &Claim, node: NodeState, now: Timestamp) -> Option<NodeFailure> {
    let overdue = overdue(claim, None, now)?;
    // Karpenter does not run, and the node does.
    if overdue.is_alive && node == NodeState::Ready {
        return None;
    }
    let cluster = ClusterState { node, ..ClusterState::default() };
    let verdict = Verdict::not_registered(claim, AzureReading::Unknown, cluster, overdue);
    let (reason, found) = (verdict.reason.as_str(), verdict.failure?);
    let failure = NodeFailure::observed(&found, reason, &verdict.message);
    // Without an owner, Azure is asked for the cause.
    let owner = failure.owner.filter(|_| found.cause != RegistrationCause::NothingSeen.as_str());
    Some(NodeFailure { owner, failed_at: Some(overdue.at), ..failure })
}

/// Returns the problem of a Node that was not ready since its creation.
fn never_ready(node: &NodeItem, now: Timestamp) -> Option<NodeFailure> {
    let (message, since) = node.not_ready.as_ref()?;
    let (created, since) = (node.created?, (*since)?);
    let was_ready = since.duration_since(created) > READY_TIMEOUT;
    let is_new = now.duration_since(created) < READY_TIMEOUT;
    (!was_ready && !is_new)
        .then(|| NodeFailure::diagnosed("NodeNotReady", message, Stage::Ready, Some(since)))
}

fn of_node(node: &NodeItem, images: &mut Interner, now: Timestamp) -> Node {
    let label = |name: &str| node.shared_label(name);
    let (pool, pool_kind) = match (label(NODE_POOL), label(AKS_POOL)) {
        (Some(pool), _) => (Some(pool), PoolKind::NodePool),
        (None, pool) => (pool, PoolKind::AksPool),
    };
    Node {
        uid: node.uid.clone(),
        node: Some(node.name.clone()),
        pool,
        pool_kind,
        vm_id: node.vm_id(),
        instance_id: node.instance_id().map(str::to_owned),
        image: node.label(IMAGE).map(|image| images.intern(&image::key(image))),
        instance_type: label(INSTANCE_TYPE),
        zone: label(ZONE),
        state: if node.is_ready { JoinState::Ready } else { JoinState::NotReady },
        node_state: node.state(),
        exists: true,
        created_at: node.created,
        node_created_at: node.created,
        joined_at: node.created,
        ready_at: node.ready_since,
        failure: never_ready(node, now).map(Box::new),
        ..Node::default()
    }
}

fn of_entry(entry: &FailureRecord) -> Node {
    let text = |text: &Option<String>| text.as_deref().map(Arc::from);
    let some = |text: &str| (!text.is_empty()).then(|| Arc::from(text));
    Node {
        uid: entry.uid.clone(),
        node_claim: Some(entry.node_claim.clone()),
        node: Some(entry.node.clone()).filter(|node| !node.is_empty()),
        pool: some(&entry.pool),
        pool_kind: PoolKind::NodePool,
        image: text(&entry.image),
        node_class: some(&entry.node_class),
        instance_type: text(&entry.instance_type),
        zone: text(&entry.zone),
        state: JoinState::Failed,
        exists: false,
        launched_at: entry.launched,
        failure: Some(Box::new(NodeFailure::recorded(entry))),
        ..Node::default()
    }
}
