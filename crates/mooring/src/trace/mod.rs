//! `mooring trace`: from a node's files to its timeline.

pub(crate) mod input;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use mooring_redact::{identifier, printable_lines};
use mooring_trace::{Timeline, chrome, html, json, otlp, table};

use crate::failure::Failure;
use crate::{outfile, show};

pub(crate) const HELP: &str = "\
PATH is a folder (a node's root, or one that holds several nodes), a .tar or .tar.gz of one, an
archive of `mooring bundle`, or a single file: provision.json, cluster-provision.log, an event
file, an extension's message. Broken files are named and left out.

A step that fails writes no event. It is named all the same: from the scripts' trace, or from the
order of the steps and the exit code; the answer says which.

Examples:
  mooring trace /                                   on the node itself
  mooring trace node.tar.gz -o html --out node.html
  mooring trace provision.json
  mooring trace bundle.tar.gz -o chrome --out node.json     open it in https://ui.perfetto.dev
  mooring trace bundle.tar.gz -o otlp | curl -H 'content-type: application/json' \\
    --data @- http://collector:4318/v1/traces

Exits with 0 whenever it answered, also when the node failed; with 3 if PATH cannot be read or
tells nothing.";

#[derive(Debug, Args)]
pub(crate) struct TraceArguments {
    /// A folder, an archive, or a file
    pub(crate) path: PathBuf,
    /// How to show the timeline
    #[arg(short, long, value_enum, default_value_t = TraceFormat::Table)]
    pub(crate) output: TraceFormat,
    /// Write to this file, whole or not at all, rather than to standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// How a timeline is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TraceFormat {
    /// For a terminal
    Table,
    /// mooring.trace/v1
    Json,
    /// A page with a waterfall, in one file
    Html,
    /// Trace events for Perfetto and Chrome
    Chrome,
    /// OTLP/JSON for an OpenTelemetry collector
    Otlp,
}

/// Runs the command.
pub(crate) fn trace(arguments: &TraceArguments) -> Result<(), Failure> {
    let input = input::read(&arguments.path)?;
    for note in &input.notes {
        say(note);
    }
    let timelines = mooring_trace::read(&input.files);
    if timelines.iter().all(Timeline::is_empty) {
        let name = identifier(&arguments.path.to_string_lossy());
        let why = timelines
            .iter()
            .flat_map(|one| &one.skipped)
            .map(|one| format!("\n  {}: {}", one.path, one.why));
        return Err(Failure::unreadable(format!(
            "there is nothing of a node's bootstrap in `{name}`{}\nhint: `mooring trace --help` says what is looked for",
            why.take(10).collect::<String>()
        )));
    }
    let text = match arguments.output {
        TraceFormat::Table => printable_lines(&table::table(&timelines)),
        TraceFormat::Json => show::escape_hidden(&json::to_json(&timelines)),
        // The page escapes what others wrote.
        TraceFormat::Html => html::page(&timelines),
        TraceFormat::Chrome => show::escape_hidden(&chrome::to_json(&timelines)),
        TraceFormat::Otlp => show::escape_hidden(&otlp::to_json(&timelines)),
    };
    match &arguments.out {
        Some(path) => outfile::write(path, text.as_bytes()),
        None => show::print_raw(text.as_bytes()),
    }
}

#[expect(clippy::print_stderr, reason = "what is no data goes to standard error")]
pub(crate) fn say(note: &str) {
    eprintln!("mooring: {}", mooring_redact::printable(note));
}
