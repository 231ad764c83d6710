//! What a world is made of.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use mooring_contract::Secret;

use crate::{azure, karpenter, kubernetes};

/// What is fixed for one world. The default is a healthy machine room without Karpenter.
#[derive(Debug, Clone)]
pub struct Options {
    /// Azure's side; its speed is the whole world's.
    pub azure: azure::Options,
    /// The cluster's side. Seed, start, controllers and who may come in are the world's to say.
    pub kubernetes: kubernetes::Options,
    /// Karpenter, if it runs.
    pub karpenter: Option<karpenter::Options>,
    /// `NodeClaim`s as up to version 1.12: their conditions are one list, not a map.
    pub atomic_conditions: bool,
    /// Whether the cluster's own workloads run: DNS, metrics and the like, with their disruption budgets.
    pub workloads: bool,
    /// Whether kubelets get their certificates by AKS's secure TLS bootstrapping, which leaves no certificate signing
    /// request.
    pub secure_tls_bootstrapping: bool,
    /// The token that may do everything in the cluster.
    pub token: Secret,
    /// How long a node takes from its registration until it is ready.
    pub node_start: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            azure: azure::Options::default(),
            kubernetes: kubernetes::Options::default(),
            karpenter: None,
            atomic_conditions: false,
            workloads: true,
            secure_tls_bootstrapping: false,
            token: Secret::from("simulated-administrator"),
            node_start: Duration::from_secs(15),
        }
    }
}

/// When a cluster was founded that has always been there.
pub(super) fn founded(start: Timestamp) -> Timestamp {
    start.saturating_sub(SignedDuration::from_hours(30 * 24)).unwrap_or(start)
}
