//! Flags of every command, and the style of the streams that they select.
#![allow(clippy::doc_markdown, reason = "these comments are the help text, which is not Markdown")]

use std::io::IsTerminal;
use std::os::fd::AsFd;
use std::sync::OnceLock;

use clap::{Args, ValueEnum};
use mooring_terminal::Style;

/// Flags of every command.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArguments {
    /// Use colors: auto, always or never [env: NO_COLOR, CLICOLOR_FORCE]
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = When::Auto, hide_possible_values = true)]
    pub(crate) color: When,
    /// Print links that a terminal can open: auto, always or never
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = When::Auto, hide_possible_values = true)]
    pub(crate) hyperlinks: When,
    /// Print only results and errors
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Print each request to the Kubernetes API and to Azure, with its duration
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    Auto,
    Always,
    Never,
}

impl When {
    fn forced(self) -> Option<bool> {
        match self {
            Self::Auto => None,
            Self::Always => Some(true),
            Self::Never => Some(false),
        }
    }
}

static ARGUMENTS: OnceLock<OutputArguments> = OnceLock::new();

/// Stores the flags of this process.
pub(crate) fn init(arguments: OutputArguments) {
    let _ = ARGUMENTS.set(arguments);
}

pub(crate) fn is_quiet() -> bool {
    ARGUMENTS.get().is_some_and(|arguments| arguments.quiet)
}

/// Returns true for a terminal whose lines can be redrawn.
pub(crate) fn is_live(stream: &impl IsTerminal) -> bool {
    let is_dumb = std::env::var("TERM").is_ok_and(|term| term == "dumb");
    stream.is_terminal() && !is_dumb
}

/// Returns what stdout can show. Read again for every screen, since a terminal may be resized.
pub(crate) fn style() -> Style {
    style_of(&std::io::stdout())
}

/// Returns what stderr can show.
pub(crate) fn message_style() -> Style {
    style_of(&std::io::stderr())
}

fn style_of(stream: &(impl IsTerminal + AsFd)) -> Style {
    const DEFAULT: usize = 80;
    let size = terminal_size::terminal_size_of(stream);
    let width = size.map_or(DEFAULT, |(width, _)| usize::from(width.0));
    let arguments = ARGUMENTS.get();
    Style::new(
        stream.is_terminal().then_some(width),
        |name| std::env::var(name).ok(),
        arguments.and_then(|arguments| arguments.color.forced()),
        arguments.and_then(|arguments| arguments.hyperlinks.forced()),
    )
}
