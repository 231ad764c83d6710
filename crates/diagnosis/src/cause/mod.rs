//! Causes, their stages, and the wordings that indicate them.

use std::fmt;

use mooring_codes::{Owner, Transient};

use crate::text::phrases::{CLUSTER, MACHINES, NODE_LOG, Phrases};

pub(crate) mod wording;

#[derive(Debug)]
pub(crate) struct Cause {
    /// Stable `PascalCase` name for labels and conditions.
    pub(crate) reason: &'static str,
    pub(crate) stage: Stage,
    pub(crate) owner: Owner,
    pub(crate) retry: Transient,
    /// First sign that an operator sees, if it differs from that of the stage and the codes.
    pub(crate) symptom: Option<&'static str>,
    pub(crate) summary: &'static str,
    pub(crate) actions: &'static [&'static str],
}

/// Stage in which a failure happened; see [`Stage::description`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    Launch,
    Boot,
    Bootstrap,
    Register,
    Ready,
}

impl Stage {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Launch => "launch",
            Self::Boot => "boot",
            Self::Bootstrap => "bootstrap",
            Self::Register => "register",
            Self::Ready => "ready",
        }
    }

    pub const fn description(self) -> &'static str {
        match self {
            Self::Launch => "Azure creates or changes the VM, node pool or cluster",
            Self::Boot => "the VM boots and its agent reports",
            Self::Bootstrap => "the scripts of the node image run",
            Self::Register => "kubelet starts and registers the Node",
            Self::Ready => "the Node becomes and stays Ready",
        }
    }

    /// Returns the first sign of a failure in this stage.
    pub const fn symptom(self) -> &'static str {
        match self {
            Self::Launch => "no VM: Azure rejects or fails the request",
            Self::Boot => "a VM without a report of its extension",
            Self::Bootstrap => "a failed bootstrap extension (CSE)",
            Self::Register => "a VM without a Node",
            Self::Ready => "a Node that is not Ready",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Confidence of a diagnosis; high requires a quoted line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    Low,
    /// The usual cause of the code, or a sign of another.
    Medium,
    /// A line of the text shows the cause.
    High,
}

impl Confidence {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

impl fmt::Display for Confidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

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

#[derive(Debug)]
pub(crate) struct Component {
    /// Stable name for documents and metrics.
    pub(crate) name: &'static str,
    /// What a failure of the component usually needs.
    pub(crate) cause: &'static Cause,
    /// True if its words alone show that a text is about a node.
    pub(crate) is_specific: bool,
    /// In lowercase.
    pub(crate) words: &'static [&'static str],
}

/// What an error code of Azure, Entra ID or Karpenter means for a node, its pool or its cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CatalogRow {
    /// Spelled as Azure spells it.
    pub name: &'static str,
    pub owner: Owner,
    pub stage: Stage,
    pub retry: Transient,
    /// Required subject of a text with the code: other resources have the same codes.
    pub about: TextSubject,
    pub meaning: &'static str,
    pub next: &'static str,
}

/// Returns the row of a code in any case. The rows are sorted by name in lowercase.
pub(crate) fn find_row(rows: &'static [CatalogRow], name: &str) -> Option<&'static CatalogRow> {
    let name = name.to_ascii_lowercase();
    let at = rows.binary_search_by(|row| row.name.to_ascii_lowercase().cmp(&name)).ok()?;
    rows.get(at)
}
