//! Arguments of `mooring status`, `mooring fleet` and `mooring why`.
#![allow(clippy::doc_markdown, reason = "these comments are the help text, which is not Markdown")]

use std::time::Duration;

use clap::Args;

use crate::arguments::{SourceArguments, parse_duration};
use crate::output::AnswerFormat;

pub(crate) const WHY_HELP: &str = "\
Failures with the same cause, image and pool are one group, the largest first.
Reads the cluster and the failure record, and Azure only for what they lack.

Examples:
  mooring why                    all failures of the cluster
  mooring why default            a NodePool or an AKS pool, with past failures
  mooring why default-2jf98      a NodeClaim, even if it was deleted
  mooring why aks-default-2jf98  a node or a VM
  mooring why system/3           an instance of an AKS pool
  mooring why default -o wide    every node, with time and evidence
  mooring why -o name | xargs kubectl get
  mooring why default-2jf98 --run-command

Exits with 1 if a node failed, is late or unknown, and with 3 if a source that
was asked could not be read.";

pub(crate) const STATUS_HELP: &str = "\
Findings come first, then pools, controller and next commands. Without a
controller, failures of deleted nodes are not known; without Azure, failures
that the cluster does not show.

Examples:
  mooring status
  mooring status -w          redrawn until q
  mooring status --context prod-weu-admin
  mooring status -o json | jq '.pools[] | select(.state != \"healthy\")'

A pool is healthy only if all that could deny it was read. Otherwise it is late,
unknown (a source could not be read) or not checked (it was not asked).

Exits with 1 if something failed, is late or unknown, and with 3 if a source
that was asked could not be read.";

pub(crate) const FLEET_HELP: &str = "\
Merges the failure record of `mooring controller` with NodeClaims and nodes that
exist now. An image is at fault if its failure rate is above that of all other
images: at least four nodes on each side, and 95 % intervals that do not touch.

Examples:
  mooring fleet
  mooring fleet --since 7d --pool default
  mooring fleet -o markdown

Exits with 1 if something failed, is late or unknown, and with 3 if a source
that was asked could not be read.";

/// Flags of commands that show facts of a cluster.
#[derive(Debug, Args)]
pub(crate) struct ReadArguments {
    #[command(flatten)]
    pub(crate) sources: SourceArguments,
    /// Exit with 0 even if a problem was found
    #[arg(long)]
    pub(crate) exit_zero: bool,
    /// Show deleted nodes of this time only, such as 90m, 24h or 7d
    ///
    /// With a controller, which counts nodes by half hours, from the start of a half hour on.
    #[arg(long, value_name = "DURATION", default_value = "24h", value_parser = parse_duration)]
    pub(crate) since: Duration,
    /// Show one pool only
    #[arg(long, value_name = "NAME")]
    pub(crate) pool: Option<String>,
    /// Show one node image only: its version or its whole name
    #[arg(long, value_name = "IMAGE")]
    pub(crate) image: Option<String>,
    /// Show one cause only
    #[arg(long, value_name = "CAUSE")]
    pub(crate) cause: Option<String>,
    /// Print tables without headers
    #[arg(long)]
    pub(crate) no_headers: bool,
}

impl ReadArguments {
    /// Reads everything, without filters.
    pub(crate) fn all(sources: SourceArguments) -> Self {
        Self {
            sources,
            exit_zero: false,
            since: Duration::from_hours(24),
            pool: None,
            image: None,
            cause: None,
            no_headers: false,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct WhyArguments {
    /// Pool, NodeClaim, node, VM, or instance of a pool [default: all failures of the cluster]
    #[arg(value_name = "POOL|NODECLAIM|NODE|VM|POOL/INSTANCE", conflicts_with = "pool")]
    pub(crate) what: Option<String>,
    #[command(flatten)]
    pub(crate) read: ReadArguments,
    /// Read provision.json from the VM with Run Command (needs write permission)
    ///
    /// Used only if Azure has no result of the extension.
    #[arg(long)]
    pub(crate) run_command: bool,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = AnswerFormat::Table)]
    pub(crate) output: AnswerFormat,
}

#[derive(Debug, Args)]
pub(crate) struct FleetArguments {
    #[command(flatten)]
    pub(crate) read: ReadArguments,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = AnswerFormat::Table)]
    pub(crate) output: AnswerFormat,
}

#[derive(Debug, Args)]
pub(crate) struct StatusArguments {
    #[command(flatten)]
    pub(crate) read: ReadArguments,
    /// Show changes until `q` or Ctrl-C: a terminal is redrawn, a pipe gets changed rows, `-o json` one document per line
    #[arg(short, long)]
    pub(crate) watch: bool,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = AnswerFormat::Table)]
    pub(crate) output: AnswerFormat,
}
