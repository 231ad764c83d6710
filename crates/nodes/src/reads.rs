//! What was read. A fact of a source that was not read is unknown, on every screen.

use mooring_workflow::Reading;

/// The sources of an inventory, without their content. The default is that nothing was asked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reads {
    /// NodeClaims; not found without Karpenter.
    pub claims: Reading<()>,
    pub nodes: Reading<()>,
    /// The failure record and the counts; not found without a controller.
    pub record: Reading<()>,
    /// AKS pools as Azure shows them.
    pub aks_pools: Reading<()>,
    /// The journals of `mooring repair`.
    pub runs: Reading<()>,
}

impl Reads {
    /// Returns the reads of a cluster in which nothing was denied.
    pub fn complete() -> Self {
        let known = || Reading::Known(());
        Self { claims: known(), nodes: known(), record: known(), aks_pools: known(), runs: known() }
    }

    /// Returns true if no node that exists can be missing.
    pub fn has_all_nodes(&self) -> bool {
        self.claims.is_read() && self.nodes.is_read()
    }
}
