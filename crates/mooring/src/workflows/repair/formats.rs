//! Output formats of `mooring repair`, and the schemas of its documents.
#![allow(clippy::doc_markdown, reason = "these comments are the help text, which is not Markdown")]

use clap::{Args, ValueEnum};

use crate::about::schema;

pub(crate) const DETECTION: &str = "mooring.repair.detection/v1";
pub(crate) const PLAN: &str = "mooring.repair.plan/v2";
pub(crate) const RUN: &str = "mooring.repair.run/v1";
/// Shapes of the release before.
pub(super) const FORMER: &str = "mooring.repair/v1";
pub(super) const FORMER_PLAN: &str = "mooring.repair.plan/v1";
pub(super) const FORMER_STATUS: &str = "mooring.repair.status/v1";

#[derive(Debug, Clone, Args)]
pub(crate) struct DetectOutput {
    /// Output format
    #[arg(short, long, value_enum, default_value_t = DetectFormat::Table)]
    pub(crate) output: DetectFormat,
    /// Shape of the document; the one of the release before is printed for one release
    #[arg(long, value_name = "ID", value_parser = schema::parser([DETECTION, FORMER]))]
    pub(crate) schema: Option<String>,
    /// Exit with 0 regardless of the verdict
    #[arg(long)]
    pub(crate) exit_zero: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct PlanOutput {
    /// Output format
    #[arg(short, long, value_enum, default_value_t = PlanFormat::Table)]
    pub(crate) output: PlanFormat,
    /// Shape of the document; the one of the release before is printed for one release
    #[arg(long, value_name = "ID", value_parser = schema::parser([PLAN, FORMER_PLAN]))]
    pub(crate) schema: Option<String>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ApplyOutput {
    /// Output format; `mermaid` with --dry-run only
    #[arg(short, long, value_enum, default_value_t = PlanFormat::Table)]
    pub(crate) output: PlanFormat,
    /// Shape of the document; the ones of the release before are printed for one release
    #[arg(long, value_name = "ID", value_parser = schema::parser([RUN, PLAN, FORMER, FORMER_PLAN]))]
    pub(crate) schema: Option<String>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct RunOutput {
    /// Output format
    #[arg(short, long, value_enum, default_value_t = RunFormat::Table)]
    pub(crate) output: RunFormat,
    /// Shape of the document; the one of the release before is printed for one release
    #[arg(long, value_name = "ID", value_parser = schema::parser([RUN, FORMER]))]
    pub(crate) schema: Option<String>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct StatusOutput {
    /// Output format
    #[arg(short, long, value_enum, default_value_t = RunFormat::Table)]
    pub(crate) output: RunFormat,
    /// Shape of the document; the one of the release before is printed for one release
    #[arg(long, value_name = "ID", value_parser = schema::parser([RUN, FORMER_STATUS]))]
    pub(crate) schema: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DetectFormat {
    /// Human-readable verdict and signs
    Table,
    /// Every pool, with the names of the checks
    Wide,
    /// JSON, schema mooring.repair.detection/v1
    Json,
    /// YAML with the members of the JSON document
    Yaml,
    /// Markdown, for issues and chats
    Markdown,
    /// Pools that are wedged or suspected, one per line
    Name,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RunFormat {
    /// Human-readable table
    Table,
    /// Table with every column, and every step
    Wide,
    /// JSON, schema mooring.repair.run/v1
    Json,
    /// YAML with the members of the JSON document
    Yaml,
    /// Markdown, for issues and chats
    Markdown,
    /// Pools of the runs, one per line
    Name,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlanFormat {
    /// Human-readable steps and checks
    Table,
    /// Every step, check, body, and the whole hash
    Wide,
    /// JSON, schema mooring.repair.plan/v2
    Json,
    /// YAML with the members of the JSON document
    Yaml,
    /// Markdown, for issues and chats
    Markdown,
    /// Pool of the plan
    Name,
    /// Mermaid diagram
    Mermaid,
}
