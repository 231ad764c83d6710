//! What a text is about. Errors of other resources use the very same words.

use crate::text::phrases::{CLUSTER, MACHINES, NODE_LOG, Phrases};

/// What a text must be about for a wording to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    /// The wording is of nodes or VMs by itself.
    Anything,
    /// VMs, or anything of [`About::Nodes`].
    Machines,
    /// A cluster, its node pools or its nodes.
    Cluster,
    /// A cluster, its node pools or its nodes, or a node's own logs.
    Nodes,
    /// A node's own logs: kubelet, the container runtime, cloud-init, the bootstrap scripts.
    NodeLog,
}

impl About {
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
