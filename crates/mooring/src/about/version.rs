//! Version and build information.

use clap::ValueEnum;
use serde::Serialize;

use crate::output::failure::CommandFailure;
use crate::output::print_document;
use crate::output::published;
use crate::output::show;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum VersionFormat {
    /// One line
    Table,
    /// One line for each of version, commit, target and profile
    Wide,
    /// JSON; `mooring schema` prints its schema
    Json,
    /// YAML with the members of the JSON document
    Yaml,
    /// Markdown, for issues and chats
    Markdown,
    /// Version alone
    Name,
}

pub(crate) const SHORT: &str = env!("CARGO_PKG_VERSION");

/// Text of `--version`, for bug reports.
pub(crate) const LONG: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\ncommit:  ",
    env!("MOORING_COMMIT"),
    "\ntarget:  ",
    env!("MOORING_TARGET"),
    "\nprofile: ",
    env!("MOORING_PROFILE"),
);

#[derive(Debug, Serialize)]
struct VersionContent {
    version: &'static str,
    commit: &'static str,
    target: &'static str,
    profile: &'static str,
}

pub(crate) fn version(format: VersionFormat) -> Result<(), CommandFailure> {
    let content = VersionContent {
        version: SHORT,
        commit: env!("MOORING_COMMIT"),
        target: env!("MOORING_TARGET"),
        profile: env!("MOORING_PROFILE"),
    };
    match format {
        VersionFormat::Table => {
            let VersionContent { version, commit, target, .. } = content;
            show::print(format!("mooring {version} ({commit}, {target})\n").as_bytes())
        }
        VersionFormat::Wide => show::print(format!("mooring {LONG}\n").as_bytes()),
        VersionFormat::Markdown => {
            show::print(show::code_block(&format!("mooring {LONG}\n")).as_bytes())
        }
        VersionFormat::Name => show::print_names([content.version]),
        VersionFormat::Json | VersionFormat::Yaml => {
            let document = published::without_cluster("mooring.version/v1", content);
            print_document(&document, format == VersionFormat::Yaml)
        }
    }
}
