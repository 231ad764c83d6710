//! Karpenter's provisioning modes: the guarantees of the controller hold in each of them.

use mooring_simulator::azure::Cse;
use mooring_simulator::karpenter::{KarpenterOptions, ProvisionMode};

use crate::run::cluster::Cluster;

/// An image on which bootstraps fail.
pub(crate) const BAD: &str = "202601.27.0";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Provisioning {
    /// Custom data, Karpenter's default.
    Scriptless,
    /// An extension that Karpenter creates.
    Extension,
    Machine,
    /// An extension that Karpenter does not create because it restarts first.
    ExtensionLost,
}

impl Provisioning {
    pub(crate) const ALL: [Self; 4] =
        [Self::Scriptless, Self::Extension, Self::Machine, Self::ExtensionLost];
    /// Modes in which a node can join.
    pub(crate) const WORKING: [Self; 3] = [Self::Scriptless, Self::Extension, Self::Machine];

    pub(crate) fn mode(self) -> ProvisionMode {
        match self {
            Self::Scriptless => ProvisionMode::Scriptless,
            Self::Extension | Self::ExtensionLost => ProvisionMode::Vm,
            Self::Machine => ProvisionMode::Machine,
        }
    }

    /// Returns a Karpenter on whose image bootstraps run like this.
    pub(crate) fn with_cse(self, cse: Cse) -> KarpenterOptions {
        KarpenterOptions {
            mode: self.mode(),
            bootstraps: [(BAD.to_owned(), cse)].into(),
            image_version: BAD.to_owned(),
            ..KarpenterOptions::default()
        }
    }

    /// Returns a Karpenter on whose image bootstraps fail.
    pub(crate) fn failing(self) -> KarpenterOptions {
        self.with_cse(Cse::oras_missing())
    }

    /// Returns true if Azure shows, and Karpenter announces, a failed bootstrap. Otherwise it ends by
    /// Karpenter's time limit.
    pub(crate) fn announces(self) -> bool {
        matches!(self, Self::Extension | Self::Machine)
    }

    /// Returns the reason of a failed bootstrap.
    pub(crate) fn reason(self) -> &'static str {
        if self.announces() { "CSEFailed" } else { "NodeNotRegistered" }
    }

    /// Returns the reason of a joined node; empty if no condition is written.
    pub(crate) fn success(self) -> &'static str {
        if self == Self::Scriptless { "" } else { "CSESucceeded" }
    }

    /// Returns the seconds after which a failed bootstrap has been reported and its NodeClaim deleted.
    pub(crate) fn timeout_seconds(self) -> u64 {
        if self.announces() { 300 } else { 16 * 60 }
    }
}

impl Cluster {
    /// Creates a NodeClaim that is provisioned in this mode. Takes 30 seconds.
    pub(crate) async fn provision(&self, how: Provisioning, name: &str) {
        self.claim(name);
        self.pass(30).await;
        if how == Provisioning::ExtensionLost {
            self.shell.with(|world, now| world.karpenter_mut().unwrap().restart(now));
        }
    }
}
