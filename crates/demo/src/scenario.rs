//! Scenarios of the demo: which cluster, which images, what is done and what must come of it. Data only.

mod acts;
mod built_in;

use std::collections::BTreeMap;

use mooring_simulator::scenario as cluster;
use serde::Deserialize;

pub use acts::{
    Act, Apply, Boot, Delete, Describe, Detect, Fault, Fleet, Of, Plan, Resume, Wedge, Why,
};

/// A story to play.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Scenario {
    /// What it shows, in a sentence.
    pub description: String,
    /// How much faster than in Azure things happen; a chapter may say otherwise.
    #[serde(default = "speed")]
    pub speed: f64,
    /// The cluster to begin with, as `mooring sim` takes it; what is not said is as in a healthy one.
    #[serde(default)]
    pub cluster: cluster::Scenario,
    /// The registry from which network-isolated nodes fetch everything; without it nodes go without.
    #[serde(default)]
    pub registry: Option<String>,
    /// The node images, by version.
    #[serde(default)]
    pub images: BTreeMap<String, Image>,
    /// What happens, in order.
    pub chapters: Vec<Chapter>,
}

fn speed() -> f64 {
    20.0
}

/// What is particular about a node image; the default is a good one.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Image {
    /// Programs that it lacks.
    pub lacks: Vec<String>,
    /// Steps of its scripts that take so many times as long as usual.
    pub slow: BTreeMap<String, f64>,
    /// The step in which its scripts end.
    pub fails: Option<Failing>,
    /// Its kubelet starts and is never heard of.
    pub silent: bool,
    /// Nodes of it are not booted but only modelled, with this bootstrap: as an image without this agent behaves.
    pub modelled: Option<cluster::Bootstrap>,
}

/// A step that ends the scripts.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Failing {
    pub step: String,
    /// With which exit code.
    pub code: u8,
    pub says: String,
}

/// A part of the story.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Chapter {
    pub title: String,
    /// How much faster than in Azure things happen from here on.
    #[serde(default)]
    pub speed: Option<f64>,
    /// After so many seconds it has failed.
    #[serde(default = "limit")]
    pub limit_seconds: u64,
    pub acts: Vec<Act>,
}

fn limit() -> u64 {
    120
}

/// A scenario that cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// No built-in one has this name.
    #[error(
        "there is no scenario `{0}`\nhint: `mooring demo --list` names the built-in ones; a file is named by a path such as ./mine.yaml"
    )]
    Unknown(String),
    /// A file that cannot be read.
    #[error("cannot read {0}: {1}\nhint: `mooring demo --list` names the built-in scenarios")]
    Unreadable(String, std::io::Error),
    #[error(
        "{file} is not a scenario: {why}\nhint: mend that place; `mooring demo --show NAME` prints a built-in scenario to start from"
    )]
    Invalid {
        file: String,
        /// What is wrong, and where.
        why: String,
    },
}

impl Scenario {
    /// The names and sentences of the built-in scenarios.
    pub fn list() -> impl Iterator<Item = (&'static str, String)> {
        built_in::ALL.iter().map(|(name, text)| {
            let read = Self::parse(name, text);
            (*name, read.map(|scenario| scenario.description).unwrap_or_default())
        })
    }

    /// The YAML of a built-in scenario.
    pub fn text_of(name: &str) -> Result<&'static str, ScenarioError> {
        let found = built_in::ALL.iter().find(|(known, _)| *known == name);
        found.map(|(_, text)| *text).ok_or_else(|| ScenarioError::Unknown(name.to_owned()))
    }

    /// A built-in scenario by its name; anything that looks like a path is a file.
    pub fn find(wanted: &str) -> Result<Self, ScenarioError> {
        if wanted.contains(['/', '.']) {
            let text = std::fs::read_to_string(wanted)
                .map_err(|error| ScenarioError::Unreadable(wanted.to_owned(), error))?;
            return Self::parse(wanted, &text);
        }
        Self::parse(wanted, Self::text_of(wanted)?)
    }

    /// A scenario from a text; `file` is what to call it when it is wrong.
    pub fn parse(file: &str, text: &str) -> Result<Self, ScenarioError> {
        let invalid = |why: String| ScenarioError::Invalid { file: file.to_owned(), why };
        let scenario: Self =
            serde_saphyr::from_str(text).map_err(|error| invalid(error.to_string()))?;
        scenario.check().map_err(invalid)?;
        Ok(scenario)
    }

    /// What the form alone does not say.
    fn check(&self) -> Result<(), String> {
        let is_speed = |speed: f64| speed.is_finite() && speed > 0.0;
        let speeds = self.chapters.iter().filter_map(|chapter| chapter.speed);
        if !std::iter::once(self.speed).chain(speeds).all(is_speed) {
            return Err("a `speed` is a number above 0".to_owned());
        }
        if self.chapters.is_empty() {
            return Err("`chapters` is empty, so nothing would happen".to_owned());
        }
        for chapter in &self.chapters {
            for act in &chapter.acts {
                act.check(self).map_err(|why| format!("chapter `{}`: {why}", chapter.title))?;
            }
        }
        self.cluster.check().map_err(|why| format!("cluster: {why}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_scenario_reads_and_says_what_it_shows() {
        assert!(Scenario::list().count() >= 6);
        for (name, description) in Scenario::list() {
            Scenario::find(name).unwrap();
            assert!(!description.is_empty(), "{name}");
        }
    }

    #[test]
    fn a_bad_scenario_names_file_place_and_next_step() {
        let good = Scenario::text_of("healthy-boot").unwrap();
        for (text, place) in [
            (good.replace("description:", "descripton:"), "descripton"),
            (good.replace("image: 202601.13.0", "image: 202699.1.0"), "202699.1.0"),
            (format!("{good}speeed: 3\n"), "line "),
            (format!("speed: 0\n{good}"), "speed"),
            ("chapters: []\ndescription: x\n".to_owned(), "chapters"),
        ] {
            let error = Scenario::parse("mine.yaml", &text).unwrap_err().to_string();
            assert!(error.contains("mine.yaml") && error.contains(place), "{error}");
            assert!(error.contains("hint:"), "{error}");
        }
        assert!(Scenario::find("nosuch").unwrap_err().to_string().contains("--list"));
        assert!(Scenario::find("./nosuch.yaml").unwrap_err().to_string().contains("cannot read"));
    }
}
