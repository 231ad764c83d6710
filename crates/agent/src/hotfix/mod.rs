//! Hotfixes: repaired scripts and agents for an image that was published with broken ones.
//!
//! `check-hotfix` refreshes the pointer, `download-hotfix` acts on it. Neither stops a boot.
//!
//! | file | idea | I/O |
//! |---|---|---|
//! | here | what the image takes, and which version repairs which | reads |
//! | `state` | which agent and scripts a node has | reads |
//! | `pointer` | what is requested | stages the pointer |
//! | `service`, `grpc` | the service that is asked, and its outcome | yes |
//! | `download` | acting on the pointer | through the others |
//! | [`write_files`] | files in custom data, decoded and bounded | |
//! | `scripts` | all files in place, or none, at any instant | yes |
//! | `agent_package` | the agent of Microsoft's package, examined before it is left | yes |

mod agent_package;
mod download;
pub mod grpc;
mod pointer;
mod scripts;
mod service;
mod state;
pub mod write_files;

pub(crate) use download::{apply_embedded_hotfix, download_hotfix};
pub use pointer::normalize_pointer;
pub(crate) use pointer::of_node as read_pointer;
pub(crate) use service::check_hotfix;
pub(crate) use state::{announce, find_not_taken, finish_pending, read_state};

use std::fmt;

use mooring_redact::identifier;

use crate::environment::go::Version;
use crate::node::agent::Agent;
use crate::node::agent::LogValue::Text;
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
fn find_policy(world: &mut dyn World, layout: &Layout) -> (Policy, Option<(&'static str, String)>) {
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
fn read_policy(agent: &mut Agent<'_>) -> Policy {
    let (policy, unknown) = find_policy(agent.world, &agent.layout);
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

/// Reads a version of the form `YYYYMM.DD.PATCH` as upstream's library does: `v`, zeros, missing parts and what follows
/// `-` or `+` are tolerated.
fn read_version(text: &str) -> Option<Version> {
    Version::parse(text.trim())
}

/// Returns whether `asked` is a hotfix of `own`: the same base and a strictly higher patch. `None` if unknown.
pub(crate) fn is_hotfix_of(own: &str, asked: &str) -> Option<bool> {
    let (own, asked) = (read_version(own)?, read_version(asked)?);
    Some((own.major, own.minor) == (asked.major, asked.minor) && asked.patch > own.patch)
}

/// The literal base `YYYYMM.DD` of a version with three parts.
pub(crate) fn base(version: &str) -> Option<&str> {
    let version = version.trim();
    let parts: Vec<&str> = version.split('.').collect();
    let is_whole = parts.len() == 3 && parts.iter().all(|part| !part.is_empty());
    is_whole.then(|| version.rsplit_once('.').map(|(base, _)| base)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hotfix_has_the_same_base_and_a_higher_patch() {
        for (own, asked, expected) in [
            ("202604.01.0", "202604.01.1", Some(true)),
            ("202604.01.0", "202604.1.1", Some(true)),
            ("202604.01.0", " v202604.01.1-1+x ", Some(true)),
            ("202604.01.9", "202604.01.10", Some(true)),
            ("202604.01.1", "202604.01.1", Some(false)),
            ("202604.01.2", "202604.01.1", Some(false)),
            ("202605.01.0", "202604.01.1", Some(false)),
            ("202604.01.0", "202605.30.2", Some(false)),
            ("202604.01.0", "202604.02.1", Some(false)),
            ("dev", "202604.01.1", None),
            ("202604.01.0", "", None),
            ("202604.01.0", "202604.01.1.1", None),
            ("202604.01.0", "202604.01.x", None),
            ("202604.01.0", "202604.01.1-", None),
            ("202604.01.0", "202604.01.1-a b", None),
            ("202604.01.0", "202604..1", None),
            ("202604.01.0", "99999999999999999999.01.1", None),
        ] {
            assert_eq!(is_hotfix_of(own, asked), expected, "{own} {asked}");
        }
    }

    #[test]
    fn base_is_literal_and_needs_three_parts() {
        assert_eq!(base("202604.01.0"), Some("202604.01"));
        assert_eq!(base("202604.1.0"), Some("202604.1"));
        for bad in ["dev", "", "202604.01", "202604.01.", ".01.0", "202604.01.0.1"] {
            assert_eq!(base(bad), None, "{bad}");
        }
    }
}
