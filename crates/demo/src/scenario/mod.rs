//! Scenarios of the demo: cluster, images, stages and expected results. Data only.

mod built_in;
pub(crate) mod image;
mod steps;

use std::collections::BTreeMap;

use mooring_simulator::scenario as cluster;
use serde::Deserialize;

pub use steps::{
    Apply, Boot, Delete, Describe, Detect, Fault, Fleet, NodeFilter, Plan, Resume, StepSpec, Wedge,
    Why,
};

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Scenario {
    pub description: String,
    /// Speed relative to Azure; a stage may override it.
    #[serde(default = "speed")]
    pub speed: f64,
    /// Initial cluster, in the format of `mooring sim`; defaults to a healthy one.
    #[serde(default)]
    pub cluster: cluster::Scenario,
    /// Registry of network-isolated nodes; without it, nodes use the internet.
    #[serde(default)]
    pub registry: Option<String>,
    #[serde(default)]
    pub images: BTreeMap<String, Image>,
    #[serde(alias = "chapters")]
    pub stages: Vec<Stage>,
}

fn speed() -> f64 {
    20.0
}

/// Properties of a node image; the default is a healthy one.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Image {
    pub lacks: Vec<String>,
    /// Slow steps of its scripts, with factors on their usual duration.
    pub slow: BTreeMap<String, f64>,
    pub fails: Option<Failing>,
    /// Its kubelet starts and never registers.
    pub silent: bool,
    /// Bootstrap of nodes that are only modeled, not booted: as an image without this agent behaves.
    pub modelled: Option<cluster::Bootstrap>,
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
pub struct Stage {
    pub title: String,
    /// Speed relative to Azure from here on.
    #[serde(default)]
    pub speed: Option<f64>,
    #[serde(default = "limit")]
    pub limit_seconds: u64,
    #[serde(alias = "acts")]
    pub steps: Vec<StepSpec>,
}

fn limit() -> u64 {
    120
}

#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    #[error(
        "unknown scenario `{0}`\nhint: `mooring demo --list` lists the built-in ones; a file needs a path such as ./mine.yaml"
    )]
    Unknown(String),
    #[error("cannot read {0}: {1}\nhint: `mooring demo --list` names the built-in scenarios")]
    Unreadable(String, std::io::Error),
    #[error(
        "{file} is not a scenario: {why}\nhint: fix the file; `mooring demo --show NAME` prints a built-in scenario to start from"
    )]
    Invalid { file: String, why: String },
}

impl Scenario {
    /// Names and descriptions of the built-in scenarios.
    pub fn list() -> impl Iterator<Item = (&'static str, String)> {
        built_in::ALL.iter().map(|(name, text)| {
            let read = Self::parse(name, text);
            (*name, read.map(|scenario| scenario.description).unwrap_or_default())
        })
    }

    pub fn text_of(name: &str) -> Result<&'static str, ScenarioError> {
        let found = built_in::ALL.iter().find(|(known, _)| *known == name);
        found.map(|(_, text)| *text).ok_or_else(|| ScenarioError::Unknown(name.to_owned()))
    }

    /// Returns a built-in scenario by its name; anything that looks like a path is a file.
    pub fn find(wanted: &str) -> Result<Self, ScenarioError> {
        if wanted.contains(['/', '.']) {
            let text = std::fs::read_to_string(wanted)
                .map_err(|error| ScenarioError::Unreadable(wanted.to_owned(), error))?;
            return Self::parse(wanted, &text);
        }
        Self::parse(wanted, Self::text_of(wanted)?)
    }

    /// Parses a scenario; `file` is its name in errors.
    pub fn parse(file: &str, text: &str) -> Result<Self, ScenarioError> {
        let invalid = |why: String| ScenarioError::Invalid { file: file.to_owned(), why };
        let scenario: Self = serde_saphyr::from_str(text)
            .map_err(|error| invalid(error.to_string().trim_start_matches("error: ").to_owned()))?;
        scenario.check().map_err(invalid)?;
        Ok(scenario)
    }

    /// Validates what the schema does not.
    fn check(&self) -> Result<(), String> {
        let is_speed = |speed: f64| speed.is_finite() && speed > 0.0;
        let speeds = self.stages.iter().filter_map(|stage| stage.speed);
        if !std::iter::once(self.speed).chain(speeds).all(is_speed) {
            return Err("a `speed` is a number above 0".to_owned());
        }
        if self.stages.is_empty() {
            return Err("`stages` is empty, so nothing would happen".to_owned());
        }
        for stage in &self.stages {
            for step in &stage.steps {
                step.check(self).map_err(|why| format!("stage `{}`: {why}", stage.title))?;
            }
        }
        self.cluster.check().map_err(|why| format!("cluster: {why}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_scenarios_parse_and_have_descriptions() {
        assert!(Scenario::list().count() >= 6);
        for (name, description) in Scenario::list() {
            Scenario::find(name).unwrap();
            assert!(!description.is_empty(), "{name}");
        }
    }

    #[test]
    fn a_bad_scenario_names_file_place_and_next_step() {
        let good = Scenario::text_of("healthy-boot").unwrap();
        for (text, expected) in [
            (good.replace("description:", "descripton:"), "descripton"),
            (good.replace("image: 202601.13.0", "image: 202699.1.0"), "202699.1.0"),
            (format!("{good}speeed: 3\n"), "line "),
            (format!("speed: 0\n{good}"), "speed"),
            ("stages: []\ndescription: x\n".to_owned(), "stages"),
        ] {
            let error = Scenario::parse("mine.yaml", &text).unwrap_err().to_string();
            assert!(error.contains("mine.yaml") && error.contains(expected), "{error}");
            assert!(error.contains("hint:"), "{error}");
        }
        assert!(Scenario::find("nosuch").unwrap_err().to_string().contains("--list"));
        assert!(Scenario::find("./nosuch.yaml").unwrap_err().to_string().contains("cannot read"));
    }
}
