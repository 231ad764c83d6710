//! What is fixed for one Karpenter.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::azure::Cse;

/// Who makes the machines, and how they bootstrap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Mode {
    /// Karpenter makes VMs with the bootstrap extension `cse-agent-karpenter`.
    #[default]
    Vm,
    /// AKS makes them, as machines of the pool `aksmachines`, with an extension of its own.
    Machine,
    /// The VM bootstraps by its custom data; there is no extension that could report.
    Scriptless,
}

/// What is fixed for one Karpenter.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Options {
    /// Who makes the machines.
    pub mode: Mode,
    /// The node image of new machines.
    pub image_version: String,
    /// How bootstraps go, by image; on others they succeed.
    pub bootstraps: BTreeMap<String, Cse>,
    /// The machines' size.
    pub size: String,
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
            mode: Mode::Vm,
            image_version: "202601.13.0".to_owned(),
            bootstraps: [("202601.27.0".to_owned(), Cse::oras_missing())].into(),
            size: "Standard_D4s_v5".to_owned(),
            stale: 0.0,
            stale_seconds: 2,
            linger_seconds: 0,
            replacements: 0,
        }
    }
}
