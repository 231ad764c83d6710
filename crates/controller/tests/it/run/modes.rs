//! The ways in which Karpenter provisions nodes: what is claimed of the controller holds in each of them.

use mooring_simulator::azure::Cse;
use mooring_simulator::karpenter::{Mode, Options};

use crate::run::cluster::Cluster;

/// An image on which bootstraps fail.
pub(crate) const BAD: &str = "202601.27.0";

/// A way in which nodes are provisioned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Provisioning {
    /// By custom data, which is Karpenter's default.
    Scriptless,
    /// By an extension that Karpenter creates.
    Extension,
    Machine,
    /// By an extension that Karpenter does not create, since it restarts in between.
    LostPromise,
}

impl Provisioning {
    pub(crate) const ALL: [Self; 4] =
        [Self::Scriptless, Self::Extension, Self::Machine, Self::LostPromise];
    /// Those in which a node can come up.
    pub(crate) const WORKING: [Self; 3] = [Self::Scriptless, Self::Extension, Self::Machine];

    pub(crate) fn mode(self) -> Mode {
        match self {
            Self::Scriptless => Mode::Scriptless,
            Self::Extension | Self::LostPromise => Mode::Vm,
            Self::Machine => Mode::Machine,
        }
    }

    /// A Karpenter on whose image bootstraps go like this.
    pub(crate) fn going(self, cse: Cse) -> Options {
        Options {
            mode: self.mode(),
            bootstraps: [(BAD.to_owned(), cse)].into(),
            image_version: BAD.to_owned(),
            ..Options::default()
        }
    }

    /// A Karpenter on whose image bootstraps fail.
    pub(crate) fn failing(self) -> Options {
        self.going(Cse::oras_missing())
    }

    /// Returns true if Azure shows, and Karpenter announces, a failed bootstrap. Otherwise it ends by Karpenter's time limit.
    pub(crate) fn announces(self) -> bool {
        matches!(self, Self::Extension | Self::Machine)
    }

    /// The reason of a failed bootstrap.
    pub(crate) fn reason(self) -> &'static str {
        if self.announces() { "CSEFailed" } else { "NodeNotRegistered" }
    }

    /// The reason of a node that came up; empty where no condition is written.
    pub(crate) fn success(self) -> &'static str {
        if self == Self::Scriptless { "" } else { "CSESucceeded" }
    }

    /// Seconds after which a failed bootstrap has been reported, and its NodeClaim is gone.
    pub(crate) fn patience(self) -> u64 {
        if self.announces() { 300 } else { 16 * 60 }
    }
}

impl Cluster {
    /// Creates a NodeClaim that is provisioned in this way. Takes 30 seconds.
    pub(crate) async fn provision(&self, how: Provisioning, name: &str) {
        self.claim(name);
        self.pass(30).await;
        if how == Provisioning::LostPromise {
            self.shell.with(|world, now| world.karpenter_mut().unwrap().restart(now));
        }
    }
}
