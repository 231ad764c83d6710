//! Version and build information.

use clap::ValueEnum;
use serde::Serialize;

use crate::output::error_document::generated_at;
use crate::output::failure::Failure;
use crate::output::print_document;
use crate::output::show;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum VersionFormat {
    /// One line
    Table,
    /// JSON; `mooring schema` prints its schema
    Json,
    /// YAML with the members of the JSON document
    Yaml,
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
#[serde(rename_all = "camelCase")]
struct VersionDocument {
    schema: &'static str,
    generated_at: String,
    version: &'static str,
    commit: &'static str,
    target: &'static str,
    profile: &'static str,
}

pub(crate) fn version(format: VersionFormat) -> Result<(), Failure> {
    let document = VersionDocument {
        schema: "mooring.version/v1",
        generated_at: generated_at(),
        version: SHORT,
        commit: env!("MOORING_COMMIT"),
        target: env!("MOORING_TARGET"),
        profile: env!("MOORING_PROFILE"),
    };
    match format {
        VersionFormat::Table => {
            let VersionDocument { version, commit, target, .. } = document;
            show::print(format!("mooring {version} ({commit}, {target})\n").as_bytes())
        }
        VersionFormat::Json => print_document(&document, false),
        VersionFormat::Yaml => print_document(&document, true),
    }
}
