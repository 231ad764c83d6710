//! Version and build information.

use serde::Serialize;

use crate::output::failure::CommandFailure;
use crate::output::{AnswerFormat, print_document, published, show};

pub(crate) const FORMATS: [&str; 4] = [
    "One line",
    "One line for each of version, commit, target and profile",
    "JSON; `mooring schema` prints its schema",
    "Version alone",
];

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

pub(crate) fn version(format: AnswerFormat) -> Result<(), CommandFailure> {
    let content = VersionContent {
        version: SHORT,
        commit: env!("MOORING_COMMIT"),
        target: env!("MOORING_TARGET"),
        profile: env!("MOORING_PROFILE"),
    };
    match format {
        AnswerFormat::Table => {
            let VersionContent { version, commit, target, .. } = content;
            show::print(format!("mooring {version} ({commit}, {target})\n").as_bytes())
        }
        AnswerFormat::Wide => show::print(format!("mooring {LONG}\n").as_bytes()),
        AnswerFormat::Markdown => {
            show::print(show::code_block(&format!("mooring {LONG}\n")).as_bytes())
        }
        AnswerFormat::Name => show::print_names([content.version]),
        AnswerFormat::Json | AnswerFormat::Yaml => {
            let document = published::without_cluster("mooring.version/v1", content);
            print_document(&document, format == AnswerFormat::Yaml)
        }
    }
}
