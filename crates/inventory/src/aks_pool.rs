//! Pools of AKS.

/// An AKS pool as Azure shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AksPool {
    pub name: String,
    /// Nodes that it should have; none if unknown.
    pub wanted: Option<usize>,
    /// `provisioningState`.
    pub state: String,
}

impl AksPool {
    /// Returns true if its last operation failed, or if it has ended and nodes are missing.
    pub(crate) fn is_degraded(&self, nodes: usize) -> bool {
        let lacks_nodes = self.wanted.is_some_and(|wanted| nodes < wanted);
        self.state == "Failed" || (self.state == "Succeeded" && lacks_nodes)
    }
}
