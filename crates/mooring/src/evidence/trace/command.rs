//! The command: it reads the files of nodes, and prints their timelines.

use std::process::ExitCode;

use mooring_redact::{identifier, printable, printable_lines};
use mooring_terminal::Style;
use mooring_trace::life::LifeState;
use mooring_trace::{Timeline, TimelineOutcome, chrome, html, json, otlp, table};
use mooring_workflow::published::is_partial;

use super::arguments::{TraceArguments, TraceFormat};
use super::input::{self, TraceInput};
use super::screen;
use crate::arguments::{with_kind, without_kind};
use crate::evidence::bundle::node::{self, NodeFiles};
use crate::evidence::path::{ensure_node, is_path};
use crate::output;
use crate::output::failure::CommandFailure;
use crate::output::outfile;
use crate::output::published::document;
use crate::output::show;

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
        document(json::SCHEMA, source.cluster.as_ref(), &source.sources, content)
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
    if timelines.iter().any(has_failed) {
        1
    } else if is_partial(&source.sources) {
        3
    } else {
        0
    }
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
