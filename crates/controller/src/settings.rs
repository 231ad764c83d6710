//! What the operator decides.

use jiff::SignedDuration;

use crate::claim::scope::Scope;
use crate::verdict::registration::REGISTRATION_LIMIT;

/// Everything that can be set. The defaults are those of the command line.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The condition's type. Kubernetes asks third parties for `domain/Name`; the plain name is what
    /// users asked Karpenter for, so it can be changed should Karpenter take it.
    pub condition_type: String,
    /// The part of Azure that may be read.
    pub scope: Scope,
    /// How this replica calls itself in events.
    pub instance: String,
    /// Failures kept for each `NodePool`.
    pub failures_kept: usize,
    /// With more claims waiting than this, lists are read instead of single VMs.
    pub sweep_above: usize,
    /// A node that has not registered this long after its bootstrap succeeded is told about.
    pub registration_patience: SignedDuration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            condition_type: "CSEProvisioned".to_owned(),
            scope: Scope::default(),
            instance: "mooring".to_owned(),
            failures_kept: 50,
            sweep_above: 200,
            registration_patience: REGISTRATION_LIMIT,
        }
    }
}
