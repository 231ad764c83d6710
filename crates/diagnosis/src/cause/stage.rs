//! Stages of a node's start.

use std::fmt;

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
