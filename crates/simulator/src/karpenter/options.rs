//! What is fixed for one Karpenter.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::azure::{Cse, Mode};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LaunchFailure {
    /// Azure has no capacity: an event, and the `NodeClaim` is deleted.
    NoCapacity,
    /// The node class is not ready: the `NodeClaim` is deleted without an event.
    NodeClassNotReady,
    /// Azure refuses the request: `Launched` has the reason, and the `NodeClaim` is deleted five minutes after its creation.
    Refused,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Options {
    /// Who makes the machines, and how they bootstrap.
    pub mode: Mode,
    /// The node image of new machines: a version, perhaps with its definition in front.
    pub image_version: String,
    /// Why no machine can be created, if none can.
    pub launch_failure: Option<LaunchFailure>,
    /// How bootstraps go, by image or by its version alone; on others they succeed.
    pub bootstraps: BTreeMap<String, Cse>,
    pub size: String,
    /// How many milliseconds Karpenter works at most between the read of a claim and the write of its status, which
    /// replaces all conditions: what others write meanwhile is lost.
    pub work_millis: u64,
    /// How often a write is computed from an old copy of the claim, and how many seconds old that is at most.
    pub stale: f64,
    /// See `stale`.
    pub stale_seconds: u64,
    /// How many seconds a failed machine stays after the event at least, whatever the speed: those who read it over a
    /// real network are no faster in a fast world.
    pub linger_seconds: u64,
    /// How many claims that failed get a successor, all together.
    pub replacements: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            mode: Mode::default(),
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
