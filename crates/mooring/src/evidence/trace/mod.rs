//! `mooring trace`: reads the files of nodes, and prints their timelines.

pub(crate) mod input;
mod screen;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use mooring_redact::{identifier, printable, printable_lines};
use mooring_terminal::Style;
use mooring_trace::life::LifeState;
use mooring_trace::{Timeline, TimelineOutcome, chrome, html, json, otlp, table};

use self::input::TraceInput;
use super::bundle::node::{self, NodeFiles};
use super::path::{ensure_node, is_path};
use crate::arguments::{SourceArguments, with_kind, without_kind};
use crate::output::failure::CommandFailure;
use crate::output::{self, outfile, published, show};

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

pub(crate) fn trace(arguments: &TraceArguments) -> Result<ExitCode, CommandFailure> {
    let what = arguments.what.to_string_lossy();
    let source = if arguments.what.exists() || is_path(&what) {
        ensure_node(arguments.run_command, &what)?;
        let input = input::read(&arguments.what)?;
        for note in &input.notes {
            show::print_warning(&printable(note));
        }
        let TraceInput { files, left_out, .. } = input;
        NodeFiles { files, left_out, ..NodeFiles::default() }
    } else {
        node::trace_files(without_kind(&what), &arguments.node, arguments.run_command)?
    };
    let timelines = mooring_trace::read(&source.files);
    if timelines.iter().all(Timeline::is_empty) {
        return Err(nothing_found(arguments, &source, &timelines));
    }
    let style = if arguments.out.is_some() { Style::PIPE } else { output::style() };
    let document = || {
        let content = json::TraceContent::new(&timelines);
        published::document(json::SCHEMA, source.cluster.as_ref(), &source.sources, content)
    };
    let text = match arguments.output {
        TraceFormat::Table => tables(&timelines, &source, false, &style),
        TraceFormat::Wide => tables(&timelines, &source, true, &style),
        TraceFormat::Markdown => {
            show::code_block(&tables(&timelines, &source, false, &Style::PIPE))
        }
        TraceFormat::Name => printable_lines(&timelines.iter().map(name).collect::<String>()),
        TraceFormat::Json => show::json(&document())?,
        TraceFormat::Yaml => output::yaml(&document())?,
        // The page escapes foreign text.
        TraceFormat::Html => html::page(&timelines),
        TraceFormat::Chrome => show::escape_hidden(&chrome::to_json(&timelines)),
        TraceFormat::Otlp => show::escape_hidden(&otlp::to_json(&timelines)),
    };
    match &arguments.out {
        Some(path) => outfile::write(path, text.as_bytes())?,
        None => show::print_raw(text.as_bytes())?,
    }
    Ok(ExitCode::from(if arguments.exit_zero { 0 } else { exit_code(&timelines, &source) }))
}

/// Returns 1 if a node failed, else 3 if a source was not read, as `why` does.
fn exit_code(timelines: &[Timeline], source: &NodeFiles) -> u8 {
    let has_failed = |timeline: &Timeline| match &timeline.life {
        Some(life) => life.state == LifeState::Failed,
        None => timeline.outcome == TimelineOutcome::Failed,
    };
    if timelines.iter().any(has_failed) { 1 } else { published::exit_code(&source.sources) }
}

/// Returns the screens of nodes with a life in the cluster, and tables of the others.
fn tables(timelines: &[Timeline], source: &NodeFiles, is_wide: bool, style: &Style) -> String {
    let one = |timeline: &Timeline| match &timeline.life {
        Some(life) => {
            let screen =
                screen::screen(timeline, life, &source.left_out, source.now, is_wide, style);
            screen.render(style)
        }
        None => printable_lines(&table::table(std::slice::from_ref(timeline))),
    };
    timelines.iter().map(one).collect::<Vec<_>>().join("\n")
}

/// Returns the line of a node, as kubectl takes it if the cluster has it.
fn name(timeline: &Timeline) -> String {
    let node = timeline.node.as_str();
    let life = timeline.life.as_ref();
    let known = life.and_then(|life| with_kind(life.node_claim.as_deref(), Some(node)));
    known.unwrap_or_else(|| node.to_owned()) + "\n"
}

fn nothing_found(
    arguments: &TraceArguments,
    source: &NodeFiles,
    timelines: &[Timeline],
) -> CommandFailure {
    let name = identifier(&arguments.what.to_string_lossy());
    if source.now.is_some() {
        let why = source.left_out.join("; ");
        return CommandFailure::io(format!("no times are known of `{name}`: {why}"));
    }
    let why = timelines
        .iter()
        .flat_map(|timeline| &timeline.skipped)
        .map(|file| format!("\n  {}: {}", file.path, file.why));
    CommandFailure::io(format!(
        "no bootstrap logs found in `{name}`{}\nhint: `mooring trace --help` lists the supported files",
        why.take(10).collect::<String>()
    ))
}
