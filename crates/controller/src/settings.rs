use jiff::SignedDuration;
use mooring_nodes::DocsUrl;
use mooring_nodes::claim::scope::Scope;
use mooring_nodes::verdict::registration::REGISTRATION_TIMEOUT;

/// Settings of the controller, with the defaults of the command line.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Kubernetes recommends `domain/Name` to third parties; users requested the plain name from Karpenter,
    /// so it can be changed should Karpenter use it.
    pub condition_type: String,
    pub scope: Scope,
    /// Name of this replica in events.
    pub instance: String,
    pub failures_kept: usize,
    /// Number of waiting NodeClaims above which lists are read instead of single VMs.
    pub sweep_above: usize,
    /// Time from a successful bootstrap after which an unregistered node is reported.
    pub registration_timeout: SignedDuration,
    /// Site that conditions of failures link to.
    pub docs: DocsUrl,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            condition_type: "CSEProvisioned".to_owned(),
            scope: Scope::default(),
            instance: "mooring".to_owned(),
            failures_kept: 50,
            sweep_above: 200,
            registration_timeout: REGISTRATION_TIMEOUT,
            docs: DocsUrl::default(),
        }
    }
}
