//! Subject of a text. Errors of other resources use the same wordings.

use crate::text::phrases::{CLUSTER, MACHINES, NODE_LOG, Phrases};

/// Required subject of a text for a wording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextSubject {
    /// The wording itself is specific to nodes or VMs.
    Anything,
    /// VMs, or anything of [`TextSubject::Nodes`].
    Machines,
    /// A cluster, its node pools or its nodes.
    Cluster,
    /// A cluster, its node pools, its nodes, or logs of a node.
    Nodes,
    /// Logs of a node: kubelet, the container runtime, cloud-init, the bootstrap scripts.
    NodeLog,
}

impl TextSubject {
    pub(crate) fn holds(self, found: &Phrases) -> bool {
        let has = |phrases: &[usize]| found.has_any(phrases);
        match self {
            Self::Anything => true,
            Self::Machines => has(MACHINES) || has(CLUSTER) || has(NODE_LOG),
            Self::Cluster => has(CLUSTER),
            Self::Nodes => has(CLUSTER) || has(NODE_LOG),
            Self::NodeLog => has(NODE_LOG),
        }
    }
}
