//! The hotfix policy of the image.

use std::fmt;

use mooring_redact::identifier;

use crate::node::agent::Agent;
use crate::node::log::LogValue::Text;
use crate::node::paths::{HOTFIX_POLICY, Layout};
use crate::world::World;

/// The feature toggle, which the launcher exports. It overrides the file.
const VARIABLE: &str = "MOORING_HOTFIX_POLICY";
/// The parts of a binary hotfix that a node lacks without it. Only the binary itself has the list of its scripts.
pub(crate) const NOT_APPLIED: &str = "scripts embedded in it are not applied";
/// More than any word of the policy.
const MAX_BYTES: u64 = 256;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Policy {
    Off,
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

/// Finds the policy: the feature toggle, else the file, else the default. An unknown word counts as the default, and is
/// returned with its source.
pub(super) fn find(
    world: &mut dyn World,
    layout: &Layout,
) -> (Policy, Option<(&'static str, String)>) {
    let toggle = world.variable(VARIABLE).map(|value| value.to_string_lossy().into_owned());
    let (source, text) = match toggle.filter(|text| !text.is_empty()) {
        Some(text) => (VARIABLE, text),
        None => match world.read(&layout.at(HOTFIX_POLICY), MAX_BYTES) {
            Ok(text) => (HOTFIX_POLICY, String::from_utf8_lossy(&text).into_owned()),
            Err(_) => return (Policy::default(), None),
        },
    };
    match Policy::parse(&text) {
        Some(policy) => (policy, None),
        None => (Policy::default(), Some((source, identifier(text.trim())))),
    }
}

/// Reads the policy, with a warning for an unknown word.
pub(super) fn read(agent: &mut Agent<'_>) -> Policy {
    let (policy, unknown) = find(agent.world, &agent.layout);
    if let Some((source, word)) = unknown {
        let attributes = [
            ("source", Text(source)),
            ("value", Text(&word)),
            ("hint", Text("use off, scripts or full")),
        ];
        agent.warn("unknown hotfix policy, using the default policy scripts", &attributes);
    }
    policy
}
