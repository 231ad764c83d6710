//! Arguments of `mooring doctor`.
#![allow(clippy::doc_markdown, reason = "these comments are the help text, which is not Markdown")]

use clap::{Args, ValueEnum};

use crate::arguments::SourceArguments;
use crate::output::AnswerFormat;

pub(crate) const HELP: &str = "\
Checks kubeconfig, credential plugins, permissions in Kubernetes and Azure,
sign-in, Karpenter, the controller, its record and the clock. Permissions are
requested from the servers, never tried.

Examples:
  mooring doctor
  mooring doctor azure
  mooring doctor -o json | jq '.checks[] | select(.state == \"failed\")'

Exits with 1 if a check failed.";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Area {
    /// Connection, permissions and clock of the API server
    Cluster,
    /// Sign-in and permissions
    Azure,
    /// NodePools and options of node classes
    Karpenter,
    /// Leader, version and record
    Controller,
    /// Configuration file and variables
    Config,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    /// Part to check [default: all]
    #[arg(value_enum)]
    pub(crate) area: Option<Area>,
    #[command(flatten)]
    pub(crate) sources: SourceArguments,
    /// Exit with 0 even if a check failed
    #[arg(long)]
    pub(crate) exit_zero: bool,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = AnswerFormat::Table)]
    pub(crate) output: AnswerFormat,
}
