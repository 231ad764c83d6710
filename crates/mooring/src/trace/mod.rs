//! `mooring trace`.

pub(crate) mod input;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use mooring_redact::{identifier, printable, printable_lines};
use mooring_trace::{Timeline, chrome, html, json, otlp, table};

use crate::failure::Failure;
use crate::{outfile, show};

pub(crate) const HELP: &str = "\
PATH is one of:
- a directory: the root of a node, or a directory with several nodes
- a .tar or .tar.gz archive of such a directory, or of `mooring bundle`
- a file: provision.json, cluster-provision.log, an event file, or the message
  of the extension

Broken files are listed and skipped.

A failed step writes no event. It is inferred from the script trace, or from the
order of the steps and the exit code; the output shows which.

Examples:
  mooring trace /                 on the node
  mooring trace provision.json
  mooring trace node.tar.gz -o html --out node.html
  mooring trace node.tar.gz -o chrome --out node.json   for ui.perfetto.dev
  mooring trace node.tar.gz -o otlp |
    curl -H 'content-type: application/json' --data @- \\
      http://collector:4318/v1/traces

Exits with 0 even if the node failed, and with 3 if PATH cannot be read or has
no bootstrap logs.";

#[derive(Debug, Args)]
pub(crate) struct TraceArguments {
    /// Directory, archive or file
    pub(crate) path: PathBuf,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = TraceFormat::Table)]
    pub(crate) output: TraceFormat,
    /// File to write [default: stdout]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TraceFormat {
    /// Human-readable table
    Table,
    /// JSON, schema mooring.trace/v1
    Json,
    /// HTML page with a waterfall chart
    Html,
    /// Chrome trace events, for Perfetto
    Chrome,
    /// OTLP/JSON, for an OpenTelemetry collector
    Otlp,
}

pub(crate) fn trace(arguments: &TraceArguments) -> Result<(), Failure> {
    let input = input::read(&arguments.path)?;
    for note in &input.notes {
        show::print_warning(&printable(note));
    }
    let timelines = mooring_trace::read(&input.files);
    if timelines.iter().all(Timeline::is_empty) {
        let name = identifier(&arguments.path.to_string_lossy());
        let why = timelines
            .iter()
            .flat_map(|timeline| &timeline.skipped)
            .map(|file| format!("\n  {}: {}", file.path, file.why));
        return Err(Failure::io(format!(
            "no bootstrap logs found in `{name}`{}\nhint: `mooring trace --help` lists the supported files",
            why.take(10).collect::<String>()
        )));
    }
    let text = match arguments.output {
        TraceFormat::Table => printable_lines(&table::table(&timelines)),
        TraceFormat::Json => show::escape_hidden(&json::to_json(&timelines)),
        // The page escapes foreign text.
        TraceFormat::Html => html::page(&timelines),
        TraceFormat::Chrome => show::escape_hidden(&chrome::to_json(&timelines)),
        TraceFormat::Otlp => show::escape_hidden(&otlp::to_json(&timelines)),
    };
    match &arguments.out {
        Some(path) => outfile::write(path, text.as_bytes()),
        None => show::print_raw(text.as_bytes()),
    }
}
