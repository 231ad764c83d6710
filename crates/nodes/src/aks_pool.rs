//! Pools of AKS.

use crate::count::Count;
use crate::reads::Reads;

/// An AKS pool as Azure shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AksPool {
    pub name: String,
    /// Nodes that it should have; none if unknown.
    pub wanted: Option<usize>,
    /// `provisioningState`; none if Azure does not show it.
    pub state: Option<String>,
}

impl AksPool {
    /// Returns true if its last operation failed, or if it has ended and nodes are missing.
    pub(crate) fn is_degraded(&self, nodes: Count) -> bool {
        match self.state.as_deref() {
            Some("Failed") => true,
            Some("Succeeded") => self.lacks_nodes(nodes),
            _ => false,
        }
    }

    /// Returns true if it is known that nodes are missing.
    pub(crate) fn lacks_nodes(&self, nodes: Count) -> bool {
        let lacking = |nodes: usize| self.wanted.is_some_and(|wanted| nodes < wanted);
        nodes.exact().is_some_and(lacking)
    }

    /// Returns true if so many nodes that exist are all that it should have.
    pub(crate) fn has_all(&self, existing: usize, reads: &Reads) -> bool {
        self.is_whole(Count::of(existing, reads.nodes.is_read()))
    }

    /// Returns true if it is known that no node is missing.
    pub(crate) fn is_whole(&self, nodes: Count) -> bool {
        let has_all = |nodes: usize| self.wanted.is_some_and(|wanted| nodes >= wanted);
        nodes.found().is_some_and(has_all)
    }
}
