//! Output of commands: style of the streams, formats and JSON documents.
#![allow(clippy::doc_markdown, reason = "some comments are the help text, which is not Markdown")]

pub(crate) mod error_document;
pub(crate) mod failure;
pub(crate) mod outfile;
pub(crate) mod page;
pub(crate) mod published;
pub(crate) mod show;

use std::io::IsTerminal;
use std::os::fd::AsFd;
use std::sync::OnceLock;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use mooring_terminal::Style;

pub(crate) use show::{
    is_plugin, print_document, print_markdown, print_screen, with_commands, yaml,
};

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

/// Formats of commands that answer a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnswerFormat {
    /// Human-readable table
    Table,
    /// Table with more columns and every name
    Wide,
    /// JSON; `mooring schema` prints its schema
    Json,
    /// YAML with the members of the JSON document
    Yaml,
    /// Markdown, for issues and chats
    Markdown,
    /// Names for kubectl, one per line
    Name,
}

impl AnswerFormat {
    /// Returns the parser of `--output` of a command that describes `table`, `wide`, `json` and `name` itself.
    pub(crate) fn described(help: [&'static str; 4]) -> impl TypedValueParser<Value = Self> {
        PossibleValuesParser::new(Self::values(help)).try_map(|name| Self::from_str(&name, false))
    }

    fn values([table, wide, json, name]: [&'static str; 4]) -> impl Iterator<Item = PossibleValue> {
        Self::value_variants().iter().filter_map(move |format| {
            let value = format.to_possible_value()?;
            Some(match format {
                Self::Table => value.help(table),
                Self::Wide => value.help(wide),
                Self::Json => value.help(json),
                Self::Name => value.help(name),
                Self::Yaml | Self::Markdown => value,
            })
        })
    }

    pub(crate) fn is_document(self) -> bool {
        matches!(self, Self::Json | Self::Yaml)
    }
}

/// Formats of plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlanFormat {
    Answer(AnswerFormat),
    Mermaid,
}

impl PlanFormat {
    /// Returns the parser of `--output`, as [`AnswerFormat::described`].
    pub(crate) fn described(help: [&'static str; 4]) -> impl TypedValueParser<Value = Self> {
        let mermaid = PossibleValue::new("mermaid").help("Mermaid diagram");
        let values = AnswerFormat::values(help).chain([mermaid]);
        PossibleValuesParser::new(values).try_map(|name| match name.as_str() {
            "mermaid" => Ok(Self::Mermaid),
            name => AnswerFormat::from_str(name, false).map(Self::Answer),
        })
    }
}
