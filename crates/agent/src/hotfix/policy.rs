//! The hotfix policy of the image.

use std::fmt;

use mooring_contract::shown;

use crate::agent::Agent;
use crate::log::Value;
use crate::paths::HOTFIX_POLICY;

/// The feature toggle, which the launcher exports. It overrides the file.
const VARIABLE: &str = "MOORING_HOTFIX_POLICY";
/// More than any word of the policy.
const MAX_BYTES: u64 = 256;

/// The parts of a node that a hotfix may change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Policy {
    /// No part of the node.
    Off,
    /// The image's scripts and units.
    #[default]
    Scripts,
    /// The scripts, and the agent itself: Microsoft's binary then provisions the node.
    Full,
}

impl Policy {
    fn parse(text: &str) -> Option<Self> {
        match text.trim() {
            "off" => Some(Self::Off),
            "scripts" => Some(Self::Scripts),
            "full" => Some(Self::Full),
            _ => None,
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "off",
            Self::Scripts => "scripts",
            Self::Full => "full",
        })
    }
}

/// Reads the policy: the feature toggle, else the file, else the default. An unknown word counts as the default.
pub(super) fn read(agent: &mut Agent<'_>) -> Policy {
    let toggle = agent.world.variable(VARIABLE).map(|value| value.to_string_lossy().into_owned());
    let (source, text) = match toggle.filter(|text| !text.is_empty()) {
        Some(text) => (VARIABLE, text),
        None => match agent.world.read(&agent.layout.at(HOTFIX_POLICY), MAX_BYTES) {
            Ok(text) => (HOTFIX_POLICY, String::from_utf8_lossy(&text).into_owned()),
            Err(_) => return Policy::default(),
        },
    };
    Policy::parse(&text).unwrap_or_else(|| {
        let text = shown(text.trim());
        let attributes = [
            ("source", Value::Text(source)),
            ("value", Value::Text(&text)),
            ("hint", Value::Text("use off, scripts or full")),
        ];
        agent.warn("unknown hotfix policy, using the default policy scripts", &attributes);
        Policy::default()
    })
}
