//! Arguments of `mooring trace`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::arguments::SourceArguments;

pub(crate) const HELP: &str = "\
NODE is the name of a NodeClaim, a node or a VM, or POOL/INSTANCE. Its stages
(created → launched, machine, bootstrap, register, ready) come from the
conditions of the NodeClaim and the node, the VM in Azure, the bootstrap report
of its extension and the failure record; a deleted node has those of the record.
With --run-command every step is shown: the event files are read from the VM,
about 30 s for each 4 KB.

An existing path is read as a file:
- a directory: the root of a node, or a directory with several nodes
- a .tar or .tar.gz archive of such a directory, or of `mooring bundle`
- a file: provision.json, cluster-provision.log, an event file, or the message
  of the extension

Broken files are listed and skipped.

A failed step writes no event. It is inferred from the script trace, or from the
order of the steps and the exit code; the output shows which.

Examples:
  mooring trace default-2jf98     by its name, from the cluster and Azure
  mooring trace default-2jf98 --run-command
  mooring trace /                 on the node
  mooring trace provision.json
  mooring trace node.tar.gz -o html --out node.html
  mooring trace node.tar.gz -o chrome --out node.json   for ui.perfetto.dev
  mooring trace node.tar.gz -o otlp |
    curl -H 'content-type: application/json' --data @- \\
      http://collector:4318/v1/traces

Exits with 1 if a node failed, with 2 if nothing has the name, and with 3 if a
source, or PATH, cannot be read or has no bootstrap logs.";

#[derive(Debug, Args)]
pub(crate) struct TraceArguments {
    /// NodeClaim, node, VM or POOL/INSTANCE; or a directory, an archive or a file
    #[arg(value_name = "NODE|PATH")]
    pub(crate) what: PathBuf,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = TraceFormat::Table)]
    pub(crate) output: TraceFormat,
    /// File to write [default: stdout]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Read report and events from the VM of NODE with Run Command (needs write permission)
    #[arg(long)]
    pub(crate) run_command: bool,
    /// Exit with 0 even if a problem was found
    #[arg(long)]
    pub(crate) exit_zero: bool,
    #[command(flatten)]
    pub(crate) node: SourceArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TraceFormat {
    /// Human-readable table
    Table,
    /// Table with every step of the bootstrap
    Wide,
    /// JSON, schema mooring.trace/v1
    Json,
    /// YAML with the members of the JSON document
    Yaml,
    /// Markdown, for issues and chats
    Markdown,
    /// Names of the nodes for kubectl, one per line
    Name,
    /// HTML page with a waterfall chart
    Html,
    /// Chrome trace events, for Perfetto
    Chrome,
    /// OTLP/JSON, for an OpenTelemetry collector
    Otlp,
}
