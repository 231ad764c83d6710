//! How far a node came.

use std::fmt;

/// The stage of a node's life in which a failure happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Azure creates the VM.
    Launch,
    /// The VM boots and its agent reports.
    Boot,
    /// The scripts of the node image run.
    Bootstrap,
    /// kubelet registers the Node.
    Register,
    /// The Node becomes and stays ready.
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
            Self::Ready => "the Node becomes and stays ready",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
