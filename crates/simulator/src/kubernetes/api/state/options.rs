//! Options of the model.

use std::time::Duration;

use jiff::Timestamp;

use crate::faults::Rule;

#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "options are separate switches")]
pub struct Options {
    /// All chance comes from here: uids, generated names, faults.
    pub seed: u64,
    /// The time at which it begins.
    pub start: Timestamp,
    /// Whether there is a cluster behind the API: scheduler, kubelets, workloads, garbage collector,
    /// namespaces that terminate. Without it the model is an API server alone.
    pub controllers: bool,
    /// A server of version 1.20: no `policy/v1`, and the rules for events of before 1.23.
    pub old_server: bool,
    /// AKS Automatic: writes in `kube-system` and the other namespaces of AKS are refused.
    pub managed_namespaces: bool,
    /// Whether a request without a token is let in, as an administrator.
    pub open: bool,
    /// Whether the server keeps account of who wrote which field. Server-side apply needs it.
    pub managed_fields: bool,
    /// How many changes each resource remembers for watches that resume and lists that go on.
    pub history: usize,
    /// How long the cluster takes for things.
    pub delays: Delays,
    pub faults: Vec<Rule>,
    pub trace: usize,
}

/// How long the cluster behind the API takes for things.
#[derive(Debug, Clone, Copy)]
pub struct Delays {
    /// From a pod's place on a node until it runs.
    pub start: Duration,
    /// From a pod's end until it is gone, if its grace period is not shorter.
    pub stop: Duration,
    /// Between two bookmarks of a watch that wants them.
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

impl Default for Options {
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
