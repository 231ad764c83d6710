use std::collections::BTreeMap;

use serde::Deserialize;

use crate::azure::{Cse, ProvisionMode};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LaunchFailure {
    /// Azure has no capacity: an event, and the `NodeClaim` is deleted.
    NoCapacity,
    /// The node class is not ready: the `NodeClaim` is deleted without an event.
    NodeClassNotReady,
    /// Azure rejects the request: `Launched` has the reason, and the `NodeClaim` is deleted five
    /// minutes after its creation.
    Refused,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct KarpenterOptions {
    /// Decides the creator of VMs, and their bootstrap.
    pub mode: ProvisionMode,
    /// Node image of new VMs: a version, optionally with its image definition.
    pub image_version: String,
    /// Fails every launch.
    pub launch_failure: Option<LaunchFailure>,
    /// Bootstraps by image or by image version alone; on others they succeed.
    pub bootstraps: BTreeMap<String, Cse>,
    pub size: String,
    /// Maximum milliseconds between the read of a NodeClaim and the write of its status, which
    /// replaces all conditions: concurrent writes of others are lost.
    pub work_millis: u64,
    /// Probability that a write is computed from an old copy of the NodeClaim, and the copy's maximum age.
    pub stale: f64,
    /// See `stale`.
    pub stale_seconds: u64,
    /// Minimum seconds for which a failed VM stays after the event, regardless of the speed:
    /// clients on a real network are not faster in a fast simulation.
    pub linger_seconds: u64,
    /// Maximum number of failed NodeClaims that are replaced.
    pub replacements: u32,
}

impl Default for KarpenterOptions {
    fn default() -> Self {
        Self {
            mode: ProvisionMode::default(),
            image_version: "202601.13.0".to_owned(),
            launch_failure: None,
            bootstraps: [("202601.27.0".to_owned(), Cse::oras_missing())].into(),
            size: "Standard_D4s_v5".to_owned(),
            work_millis: 1500,
            stale: 0.0,
            stale_seconds: 2,
            linger_seconds: 0,
            replacements: 0,
        }
    }
}
