//! Preflight: checks of an image and a config before a script runs, so that a failure is reported
//! by its cause and not by its first symptom.
//!
//! Checks are data ([`CHECKS`]): all of them run, all results are shown. `provision` runs them as its
//! first phase; `preflight` prints them for a user or a pipeline, on a node or on a mounted image.
//!
//! | module | contents |
//! |---|---|
//! | here | facts about the node, checks and their results |
//! | `command` | runs the checks and shows their results, as a table and as JSON |
//! | `catalog` | the list of all checks |
//! | `oras`, `checks` | the checks |
//! | `network` | network probes, run in parallel |

mod catalog;
mod checks;
mod command;
mod network;
mod oras;

pub(crate) use catalog::CHECKS;
pub use catalog::checks;
pub(crate) use command::{code_name, preflight, report};
pub(crate) use oras::find_oras;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use mooring_codes::Owner;
use mooring_contract::{NodeConfig, node_config};

use crate::format::read_failure;
use crate::node::inputs::{self, MAX_FILE_BYTES};
use crate::node::nbc::{self, Assignments};
use crate::node::paths::{Layout, NBC_COMMAND, NODE_CONFIG, PreflightStage, Site};
use crate::world::{Url, World};

pub(crate) struct PreflightFacts<'a> {
    pub(crate) stage: PreflightStage,
    pub(crate) layout: &'a Layout,
    /// The version of the agent, which decides whether a hotfix applies.
    pub(crate) version: &'static str,
    pub(crate) config: ConfigState<'a>,
    /// The metadata service, if it may be queried.
    pub(crate) imds: Option<&'a Url>,
}

impl<'a> PreflightFacts<'a> {
    pub(crate) fn of_node(
        layout: &'a Layout,
        version: &'static str,
        config: ConfigState<'a>,
    ) -> Self {
        Self { stage: PreflightStage::Node, layout, version, config, imds: None }
    }

    fn site(&self) -> Site<'a> {
        Site { stage: self.stage, layout: self.layout }
    }
}

/// The node config, as far as there is one.
#[expect(clippy::large_enum_variant, reason = "there is one of these, for a moment")]
pub(crate) enum ConfigState<'a> {
    None,
    /// Invalid, with the reason.
    Unusable(String),
    /// Valid, with its path.
    Read {
        path: PathBuf,
        config: Cow<'a, NodeConfig>,
    },
    /// An NBC command instead of a config.
    Nbc {
        text: Vec<u8>,
        assignments: Assignments,
    },
}

impl ConfigState<'_> {
    /// Reads the config of the command line, else that of custom data, else the NBC command.
    fn read(world: &mut dyn World, layout: &Layout, typed: Option<&Path>) -> Self {
        if let Some(typed) = typed {
            return Self::read_file(world, typed, typed);
        }
        let (config, nbc) = (layout.at(NODE_CONFIG), layout.at(NBC_COMMAND));
        if world.kind(&config).is_ok() {
            return Self::read_file(world, &config, NODE_CONFIG.as_ref());
        }
        match world.read(&nbc, MAX_FILE_BYTES) {
            Ok(text) => Self::nbc(text),
            Err(_) => Self::None,
        }
    }

    fn read_file(world: &mut dyn World, path: &Path, shown: &Path) -> Self {
        let text = match world.read(path, MAX_FILE_BYTES) {
            Ok(text) => text,
            Err(failure) => return Self::Unusable(read_failure(shown, &failure)),
        };
        match node_config::parse(&text) {
            Err(error) => Self::Unusable(format!("{}: {error}", shown.display())),
            Ok(parsed) if !parsed.config.has_supported_version() => {
                Self::Unusable(format!("unsupported version: {}", parsed.config.version))
            }
            Ok(parsed) if inputs::hold_mask(&parsed.config.expose_secrets()) => {
                Self::Unusable(format!("{}: {}", shown.display(), inputs::MASKED_CONFIG))
            }
            Ok(parsed) => Self::Read { path: path.to_owned(), config: Cow::Owned(parsed.config) },
        }
    }

    pub(crate) fn nbc(text: Vec<u8>) -> Self {
        let assignments = nbc::assignments(&text);
        Self::Nbc { text, assignments }
    }

    fn is_given(&self) -> bool {
        !matches!(self, Self::None | Self::Nbc { .. })
    }

    fn node_config(&self) -> Option<&NodeConfig> {
        match self {
            Self::Read { config, .. } => Some(config),
            _ => None,
        }
    }

    /// The registry from which a network-isolated node fetches everything, with oras.
    fn bootstrap_registry(&self) -> Option<String> {
        let registry = match self {
            Self::None | Self::Unusable(_) => None,
            Self::Read { config, .. } => {
                Some(config.bootstrap_profile_container_registry_server.clone())
            }
            Self::Nbc { assignments, .. } => assignments
                .expose("BOOTSTRAP_PROFILE_CONTAINER_REGISTRY_SERVER")
                .map(|value| String::from_utf8_lossy(value).into_owned()),
        };
        registry.filter(|registry| !registry.is_empty())
    }
}

pub struct PreflightCheck {
    pub name: &'static str,
    pub about: &'static str,
    /// Exit code of its failure, if it has a specific one.
    pub code: Option<i32>,
    pub audience: Owner,
    find: fn(&mut dyn World, &PreflightFacts<'_>) -> PreflightFinding,
}

impl PreflightCheck {
    /// Returns who acts on a finding: the builder of an image, but on a node its operator.
    fn audience(&self, stage: PreflightStage) -> &'static str {
        match (self.audience, stage) {
            (Owner::Image, PreflightStage::Node) => Owner::Operator.as_str(),
            (owner, _) => owner.as_str(),
        }
    }
}

/// The reasons for which several checks are skipped.
const NO_CONFIG: &str = "no node config is given";
const NOT_ON_A_NODE: &str = "only on a running node";

pub(crate) type Result = (&'static PreflightCheck, PreflightFinding);

pub(crate) fn run(
    world: &mut dyn World,
    facts: &PreflightFacts<'_>,
    checks: impl IntoIterator<Item = &'static PreflightCheck>,
) -> Vec<Result> {
    checks.into_iter().map(|check| (check, (check.find)(world, facts))).collect()
}

/// The finding that decides, if one is fatal.
pub(crate) fn first_fatal(results: &[Result]) -> Option<&Result> {
    results.iter().find(|(_, finding)| finding.verdict == PreflightVerdict::Fatal)
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PreflightFinding {
    pub(crate) verdict: PreflightVerdict,
    pub(crate) summary: String,
    /// Evidence, one line each.
    pub(crate) evidence: Vec<String>,
    /// Remedy; empty for success.
    pub(crate) action: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PreflightVerdict {
    Pass,
    Warning,
    Fatal,
    Skipped,
}

impl PreflightVerdict {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Warning => "warning",
            Self::Fatal => "fatal",
            Self::Skipped => "skipped",
        }
    }
}

impl PreflightFinding {
    fn pass(summary: impl Into<String>) -> Self {
        Self::new(PreflightVerdict::Pass, summary.into(), "")
    }

    fn skipped(summary: impl Into<String>) -> Self {
        Self::new(PreflightVerdict::Skipped, summary.into(), "")
    }

    fn warning(summary: impl Into<String>, action: &'static str) -> Self {
        Self::new(PreflightVerdict::Warning, summary.into(), action)
    }

    fn fatal(summary: impl Into<String>, action: &'static str) -> Self {
        Self::new(PreflightVerdict::Fatal, summary.into(), action)
    }

    fn new(verdict: PreflightVerdict, summary: String, action: &'static str) -> Self {
        Self { verdict, summary, evidence: Vec::new(), action }
    }
}
