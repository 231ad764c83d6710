//! One node, in the cluster or only in the record, and the nodes of an inventory.

use std::cmp::Ordering;
use std::iter::Map;
use std::slice;
use std::sync::Arc;

use jiff::Timestamp;
use mooring_workflow::Reading;
use serde::Serialize;

use crate::claim::{Claim, image};
use crate::count::AksPool;
use crate::failure::NodeFailure;
use crate::unregistered::NodeState;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum JoinState {
    Ready,
    NotReady,
    /// Joined; if it is ready was not read.
    Joined,
    /// Launched or starting, and not known to have failed.
    #[default]
    Joining,
    Failed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PoolKind {
    /// A NodePool of Karpenter.
    #[default]
    NodePool,
    /// A node pool of AKS.
    AksPool,
}

impl PoolKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NodePool => "NodePool",
            Self::AksPool => "AKS pool",
        }
    }
}

/// A node that exists, or that failed and was deleted.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Node {
    /// Uid of the NodeClaim, or of the Node if it has none.
    pub uid: String,
    pub node_claim: Option<String>,
    /// Name of the Node, which is that of the VM.
    pub node: Option<String>,
    pub pool: Option<Arc<str>>,
    pub pool_kind: PoolKind,
    /// Resource ID of the VM, or of the instance of a scale set.
    pub vm_id: Option<String>,
    /// Number in the scale set of an AKS pool.
    pub instance_id: Option<String>,
    /// `AKSUbuntu/2204gen2containerd/202601.13.0`.
    pub image: Option<Arc<str>>,
    pub node_class: Option<Arc<str>>,
    pub instance_type: Option<Arc<str>>,
    pub zone: Option<Arc<str>>,
    pub state: JoinState,
    /// False if only the record has it.
    pub exists: bool,
    pub created_at: Option<Timestamp>,
    pub launched_at: Option<Timestamp>,
    /// Creation of the Node: the kubelet has registered.
    pub node_created_at: Option<Timestamp>,
    pub joined_at: Option<Timestamp>,
    /// Since when Karpenter counts on the node.
    #[serde(skip)]
    pub initialized_at: Option<Timestamp>,
    /// Since when the Node is ready.
    pub ready_at: Option<Timestamp>,
    pub failure: Option<Box<NodeFailure>>,
    /// None without one, or if it was deleted.
    #[serde(skip)]
    pub claim: Option<Arc<Claim>>,
    /// What the Node shows.
    #[serde(skip)]
    pub node_state: NodeState,
    /// Whether Azure was read for it; not found if it has no result.
    #[serde(skip)]
    pub azure: Reading<()>,
}

impl Node {
    /// Returns the name of the NodeClaim, or of the Node.
    pub fn name(&self) -> &str {
        self.node_claim.as_deref().or(self.node.as_deref()).unwrap_or(&self.uid)
    }

    /// Returns true for the name of the NodeClaim, the Node or the VM, and for `POOL/` with one of these names or
    /// with the number of the instance.
    pub fn is_named(&self, name: &str) -> bool {
        let is = |own: &Option<String>, name: &str| own.as_deref() == Some(name);
        let has = |name: &str| is(&self.node_claim, name) || is(&self.node, name);
        match name.split_once('/') {
            None => has(name),
            Some((pool, rest)) => {
                self.pool.as_deref() == Some(pool) && (has(rest) || is(&self.instance_id, rest))
            }
        }
    }

    /// Returns the operating system that the image shows.
    pub fn os(&self) -> Option<&'static str> {
        let image = self.image.as_ref()?.to_ascii_lowercase();
        Some(if image.contains("windows") { "windows" } else { "linux" })
    }

    pub fn is_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Returns true if it joined the cluster, in any state.
    pub fn has_joined(&self) -> bool {
        matches!(self.state, JoinState::Ready | JoinState::NotReady | JoinState::Joined)
    }

    /// Returns true if only Azure knows the outcome, or the cause of a failure, and it was not read.
    pub fn needs_azure(&self) -> bool {
        let is_unknown = match (self.state, &self.failure) {
            (JoinState::Joining, _) => true,
            (JoinState::Failed, Some(failure)) => self.exists && failure.owner.is_none(),
            _ => false,
        };
        let has_vm = self.launched_at.is_some() && self.node_claim.is_some();
        is_unknown && has_vm && !self.azure.is_read()
    }

    /// Returns true if it is joining as far as is known, and may have failed.
    pub fn is_undecided(&self) -> bool {
        self.state == JoinState::Joining && self.needs_azure()
    }

    /// Returns the time of the failure, if it is known.
    pub fn failed_at(&self) -> Option<Timestamp> {
        self.failure.as_ref().and_then(|failure| failure.failed_at)
    }

    /// Returns the time of the failure, or of the launch.
    pub fn at(&self) -> Option<Timestamp> {
        self.failed_at().or(self.launched_at).or(self.created_at)
    }

    /// Returns the time of the launch; if it is not known, that of the failure.
    pub fn began_at(&self) -> Option<Timestamp> {
        self.launched_at.or(self.created_at).or(self.failed_at())
    }

    /// Returns the seconds from the launch to the failure.
    pub fn seconds_to_failure(&self) -> Option<i64> {
        let failed = self.failed_at()?;
        let launched = self.launched_at.or(self.created_at)?;
        let seconds = failed.as_second() - launched.as_second();
        (seconds >= 0).then_some(seconds)
    }

    /// Returns the seconds from the creation of the NodeClaim to the Node.
    pub fn seconds_to_join(&self) -> Option<i64> {
        let seconds = self.joined_at?.as_second() - self.created_at?.as_second();
        (seconds >= 0).then_some(seconds)
    }

    /// Returns the same; none for a Node without a NodeClaim, which has no time before its creation.
    pub fn claim_seconds(&self) -> Option<i64> {
        self.node_claim.as_ref()?;
        self.seconds_to_join()
    }
}

/// Filters of `status`, `fleet` and `why`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// Failures of deleted nodes before this time are left out; what exists is always shown.
    pub since: Option<Timestamp>,
    pub pool: Option<String>,
    /// A whole image, or its version.
    pub image: Option<String>,
    pub cause: Option<String>,
}

impl Filter {
    /// Returns true for a pool that is shown without nodes.
    pub(crate) fn selects(&self, pool: &AksPool) -> bool {
        let is_named = self.pool.as_ref().is_none_or(|name| *name == pool.name);
        is_named && self.image.is_none() && self.cause.is_none()
    }

    pub fn matches(&self, node: &Node) -> bool {
        let is_recent = match (self.since, &node.failure) {
            (Some(since), Some(_)) if !node.exists => node.at().is_none_or(|at| at >= since),
            _ => true,
        };
        let is_of_pool = self.pool.as_ref().is_none_or(|pool| node.pool.as_deref() == Some(pool));
        let cause = node.failure.as_ref().map(|failure| failure.cause.as_str());
        is_recent && is_of_pool && self.has_image(node.image.as_deref()) && self.has_cause(cause)
    }

    pub fn has_image(&self, image: Option<&str>) -> bool {
        self.image.as_ref().is_none_or(|wanted| {
            image.is_some_and(|own| own == wanted || image::version(own) == wanted)
        })
    }

    pub fn has_cause(&self, cause: Option<&str>) -> bool {
        let is = |wanted: &String| cause.is_some_and(|own| own.eq_ignore_ascii_case(wanted));
        self.cause.as_ref().is_none_or(is)
    }
}

/// Nodes that inventories share: a filtered inventory copies none of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Nodes(Vec<Arc<Node>>);

type Iter<'a> = Map<slice::Iter<'a, Arc<Node>>, fn(&'a Arc<Node>) -> &'a Node>;

impl Nodes {
    pub fn iter<'a>(&'a self) -> Iter<'a> {
        let as_node: fn(&'a Arc<Node>) -> &'a Node = AsRef::as_ref;
        self.0.iter().map(as_node)
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn first(&self) -> Option<&Node> {
        self.iter().next()
    }

    pub fn push(&mut self, node: Node) {
        self.0.push(Arc::new(node));
    }

    pub fn retain(&mut self, mut is_kept: impl FnMut(&Node) -> bool) {
        self.0.retain(|node| is_kept(node));
    }

    /// Returns the nodes that match.
    pub(crate) fn filtered(&self, is_wanted: impl Fn(&Node) -> bool) -> Self {
        Self(self.0.iter().filter(|node| is_wanted(node)).cloned().collect())
    }

    /// Returns a node to change it; other inventories keep the old one.
    pub(crate) fn find_mut(&mut self, is_wanted: impl Fn(&Node) -> bool) -> Option<&mut Node> {
        self.0.iter_mut().find(|node| is_wanted(node)).map(Arc::make_mut)
    }

    pub(crate) fn sort_by(&mut self, compare: impl Fn(&Node, &Node) -> Ordering) {
        self.0.sort_by(|one, other| compare(one, other));
    }
}

impl FromIterator<Node> for Nodes {
    fn from_iter<T: IntoIterator<Item = Node>>(nodes: T) -> Self {
        Self(nodes.into_iter().map(Arc::new).collect())
    }
}

impl Extend<Node> for Nodes {
    fn extend<T: IntoIterator<Item = Node>>(&mut self, nodes: T) {
        self.0.extend(nodes.into_iter().map(Arc::new));
    }
}

impl<'a> IntoIterator for &'a Nodes {
    type Item = &'a Node;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}
