//! Parts of a scenario.

use std::collections::BTreeMap;

use mooring_simulator::scenario as cluster;
use serde::Deserialize;

use super::steps::StepSpec;

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Scenario {
    pub description: String,
    /// Speed relative to Azure; a stage may override it.
    #[serde(default = "speed")]
    pub speed: f64,
    /// Initial cluster, in the format of `mooring-lab sim`; defaults to a healthy one.
    #[serde(default)]
    pub cluster: cluster::Scenario,
    /// Registry of network-isolated nodes; without it, nodes use the internet.
    pub registry: Option<String>,
    #[serde(default)]
    pub images: BTreeMap<String, ImageDefinition>,
    #[serde(alias = "chapters")]
    pub stages: Vec<ScenarioStage>,
}

impl Scenario {
    /// Says which parts are the real programs and which are models.
    pub(crate) fn what_is_real(&self) -> String {
        let mut real = vec!["the controller", "every command of mooring"];
        if self.images.values().any(|image| image.starter == NodeStarter::Agent) {
            real.push("the agent on the nodes");
        }
        if self.images.values().any(|image| image.preflight) {
            real.push("the check in the scripts");
        }
        let mut modeled = vec!["Azure", "the Kubernetes API", "Karpenter"];
        if !self.images.is_empty() {
            modeled.extend(["the VMs (a directory each)", "the scripts of the image (bash)"]);
        }
        format!("Real: {}. Modeled: {}.", enumerate(&real), enumerate(&modeled))
    }
}

/// `a, b and c`.
fn enumerate(parts: &[&str]) -> String {
    match parts.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

fn speed() -> f64 {
    20.0
}

/// Properties of a node image; the default is a healthy one.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ImageDefinition {
    pub lacks: Vec<String>,
    /// Slow steps of its scripts, with factors on their usual duration.
    pub slow: BTreeMap<String, f64>,
    pub fails: Option<Failing>,
    /// Its kubelet starts and never registers.
    pub silent: bool,
    /// What starts the bootstrap of its nodes.
    pub starter: NodeStarter,
    /// True if its scripts check oras (`packaging/cse/oras_preflight.sh`).
    pub preflight: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum NodeStarter {
    #[default]
    Agent,
    /// `provision_start.sh`, without the agent.
    Scripts,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Failing {
    pub step: String,
    pub code: u8,
    pub message: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ScenarioStage {
    pub title: String,
    /// Speed relative to Azure from here on.
    pub speed: Option<f64>,
    #[serde(default = "limit")]
    pub limit_seconds: u64,
    #[serde(alias = "acts")]
    pub steps: Vec<StepSpec>,
}

fn limit() -> u64 {
    120
}
