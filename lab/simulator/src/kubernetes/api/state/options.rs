//! Options of the model; users, as tokens name them, and webhooks that deny their writes.

use std::time::Duration;

use jiff::Timestamp;

use crate::faults::FaultRule;

#[derive(Debug, Clone)]
pub struct KubernetesOptions {
    /// Random seed of uids, generated names and faults.
    pub seed: u64,
    pub start: Timestamp,
    /// Runs a cluster with the API: scheduler, kubelets, workloads, garbage collector, namespace
    /// deletion. Without it the model is only an API server.
    pub controllers: bool,
    /// AKS Automatic: writes in `kube-system` and the other namespaces of AKS are rejected.
    pub managed_namespaces: bool,
    /// Accepts requests without a token, as an administrator.
    pub open: bool,
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
            managed_namespaces: false,
            open: true,
            history: 20_000,
            delays: Delays::default(),
            faults: Vec::new(),
            trace: 10_000,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    pub name: String,
    /// `system:masters` may do everything.
    pub groups: Vec<String>,
}

impl User {
    pub fn administrator() -> Self {
        Self {
            name: "kubernetes-admin".to_owned(),
            groups: vec!["system:masters".to_owned(), "system:authenticated".to_owned()],
        }
    }

    /// Returns the user of a service account's token.
    pub fn service_account(namespace: &str, name: &str) -> Self {
        Self {
            name: format!("system:serviceaccount:{namespace}:{name}"),
            groups: vec![
                "system:serviceaccounts".to_owned(),
                format!("system:serviceaccounts:{namespace}"),
                "system:authenticated".to_owned(),
            ],
        }
    }
}

/// Denies some writes, as an admission webhook would.
#[derive(Debug, Clone)]
pub struct WebhookDenial {
    pub webhook: String,
    /// For example `nodeclaims.karpenter.sh`.
    pub resource: String,
    pub operations: Vec<String>,
    /// Only this object; none for all.
    pub name: Option<String>,
    pub message: String,
}
