//! Commands and their options.

use std::path::PathBuf;
use std::time::Duration;

use mooring_contract::custom_data::CustomDataForm;

use crate::registry::LoginFlags;
use crate::world::Url;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Provision(ProvisionFlags),
    ProvisionWait {
        timeout: Option<Duration>,
    },
    Version,
    /// `--version`: with the program's name.
    VersionFlag,
    /// The text to print.
    Help(String),
    CheckHotfix {
        has_extra_words: bool,
    },
    DownloadHotfix,
    ApplyEmbeddedHotfix,
    Render(RenderFlags),
    Preflight(PreflightFlags),
    RegistryLogin(Box<LoginFlags>),
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ProvisionFlags {
    pub(crate) config: Option<PathBuf>,
    pub(crate) nbc_command: Option<PathBuf>,
    pub(crate) dry_run: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PreflightFlags {
    pub(crate) stage: PreflightStage,
    pub(crate) config: Option<PathBuf>,
    /// The metadata service to probe, if the network is to be probed at all.
    pub(crate) network: Option<Url>,
    pub(crate) format: OutputFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PreflightStage {
    /// On a node that is about to be bootstrapped.
    Node,
    /// On an image that is about to be shipped, mounted somewhere.
    Image,
}

impl PreflightStage {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Image => "image",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputFormat {
    Table,
    Json,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RenderFlags {
    pub(crate) what: Rendered,
    pub(crate) config: Option<PathBuf>,
    pub(crate) components: Option<PathBuf>,
    pub(crate) validate: bool,
    pub(crate) show_secrets: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rendered {
    Environment { nul_separated: bool },
    CustomData(CustomDataForm),
    CseCommand,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UsageError {
    pub(crate) text: String,
    /// Prints the general help to standard output.
    pub(crate) with_help: bool,
    /// True for `provision`, whose result a `provision-wait` may be waiting for.
    pub(crate) of_provision: bool,
    pub(crate) exit_code: u8,
}

#[derive(Debug)]
pub(crate) struct Invocation {
    /// `--root`, from any place among the words, or the environment.
    pub(crate) root: Option<PathBuf>,
    pub(crate) command: Result<Command, UsageError>,
}
