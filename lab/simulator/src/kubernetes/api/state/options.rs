use std::time::Duration;

use jiff::Timestamp;

use crate::faults::FaultRule;

#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "options are separate switches")]
pub struct KubernetesOptions {
    /// Random seed of uids, generated names and faults.
    pub seed: u64,
    pub start: Timestamp,
    /// Runs a cluster with the API: scheduler, kubelets, workloads, garbage collector, namespace
    /// deletion. Without it the model is only an API server.
    pub controllers: bool,
    /// A server of version 1.20: no `policy/v1`, and the event rules from before 1.23.
    pub old_server: bool,
    /// AKS Automatic: writes in `kube-system` and the other namespaces of AKS are rejected.
    pub managed_namespaces: bool,
    /// Accepts requests without a token, as an administrator.
    pub open: bool,
    /// Records field managers. Server-side apply needs it.
    pub managed_fields: bool,
    /// Changes kept of each resource, for watches that resume and lists that continue.
    pub history: usize,
    pub delays: Delays,
    pub faults: Vec<FaultRule>,
    pub trace: usize,
}

#[derive(Debug, Clone, Copy)]
pub struct Delays {
    /// From a pod's scheduling until it runs.
    pub start: Duration,
    /// From a pod's deletion until it is removed, unless its grace period is shorter.
    pub stop: Duration,
    /// Interval between two bookmarks of a watch that requests them.
    pub bookmark: Duration,
}

impl Default for Delays {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(2),
            stop: Duration::from_secs(1),
            bookmark: Duration::from_mins(1),
        }
    }
}

impl Default for KubernetesOptions {
    fn default() -> Self {
        Self {
            seed: 1,
            start: Timestamp::UNIX_EPOCH,
            controllers: false,
            old_server: false,
            managed_namespaces: false,
            open: true,
            managed_fields: true,
            history: 20_000,
            delays: Delays::default(),
            faults: Vec::new(),
            trace: 10_000,
        }
    }
}
