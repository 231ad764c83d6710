//! Finds a scenario by its name or file.

use super::definition::Scenario;

macro_rules! scenarios {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../scenarios/", $name, ".yaml")))),*]
    };
}

/// Names and texts of the built-in scenarios; the first is the default.
const BUILT_IN: &[(&str, &str)] = scenarios![
    "first-five-minutes",
    "healthy-boot",
    "oras-missing",
    "blocked-outbound",
    "slow-network",
    "never-registers",
    "budget-blocks",
    "young-operation",
    "api-server-restarts",
];

#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    #[error(
        "unknown scenario `{0}`\nhint: `mooring-lab demo --list` lists the built-in ones; a file needs a path such as ./mine.yaml"
    )]
    Unknown(String),
    #[error("cannot read {0}: {1}\nhint: `mooring-lab demo --list` names the built-in scenarios")]
    Unreadable(String, std::io::Error),
    #[error(
        "{file} is not a scenario: {why}\nhint: fix the file; `mooring-lab demo --show NAME` prints a built-in scenario to start from"
    )]
    Invalid { file: String, why: String },
}

impl Scenario {
    /// Names and descriptions of the built-in scenarios.
    pub fn list() -> impl Iterator<Item = (&'static str, String)> {
        BUILT_IN.iter().map(|(name, text)| {
            let read = Self::parse(name, text);
            (*name, read.map(|scenario| scenario.description).unwrap_or_default())
        })
    }

    pub fn text_of(name: &str) -> Result<&'static str, ScenarioError> {
        let found = BUILT_IN.iter().find(|(known, _)| *known == name);
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
