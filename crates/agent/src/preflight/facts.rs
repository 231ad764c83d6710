//! Facts about the node, read before the checks.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use mooring_contract::{NodeConfig, node_config};

use crate::cli::PreflightStage;
use crate::format::go_text::read_failure;
use crate::node::nbc::{self, Assignments};
use crate::node::paths::{Layout, NBC_COMMAND, NODE_CONFIG};
use crate::node::secrets::{self, MAX_FILE_BYTES};
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
    pub(super) fn read(world: &mut dyn World, layout: &Layout, typed: Option<&Path>) -> Self {
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
            Ok(parsed) if secrets::hold_mask(&parsed.config.expose_secrets()) => {
                Self::Unusable(format!("{}: {}", shown.display(), secrets::MASKED_CONFIG))
            }
            Ok(parsed) => Self::Read { path: path.to_owned(), config: Cow::Owned(parsed.config) },
        }
    }

    pub(crate) fn nbc(text: Vec<u8>) -> Self {
        let assignments = nbc::assignments(&text);
        Self::Nbc { text, assignments }
    }

    pub(super) fn is_given(&self) -> bool {
        !matches!(self, Self::None | Self::Nbc { .. })
    }

    pub(super) fn node_config(&self) -> Option<&NodeConfig> {
        match self {
            Self::Read { config, .. } => Some(config),
            _ => None,
        }
    }

    /// The registry from which a network-isolated node fetches everything, with oras.
    pub(super) fn bootstrap_registry(&self) -> Option<String> {
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
