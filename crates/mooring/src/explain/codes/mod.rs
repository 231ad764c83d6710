//! `mooring codes`: lists, shows and finds codes.

mod command;
mod search;

use std::fmt::Write as _;

use clap::{Args, Subcommand};
use mooring_codes::{Date, ExitCode, Os, Owner, by_name, code_names, lookup};
use mooring_diagnosis::{CausePage, find_codes};
use mooring_redact::{identifier, markdown as escape};
use mooring_terminal::{Column, Table, Text, suggest};
use mooring_workflow::published::PublishedDocument;
use serde::Serialize;

pub(crate) use self::command::codes;
use super::{image_date, value_by_name};
use crate::output::failure::CommandFailure;
use crate::output::{AnswerFormat, published};

#[derive(Debug, Args)]
pub(crate) struct CodesArguments {
    #[command(subcommand)]
    pub(crate) command: CodesCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CodesCommand {
    /// List the exit codes that nodes report
    List {
        /// Operating system of the node
        #[arg(long, value_parser = value_by_name(Os::ALL, Os::as_str))]
        os: Option<Os>,
        /// Owner of the next step
        #[arg(long, value_parser = value_by_name(Owner::ALL, Owner::as_str))]
        owner: Option<Owner>,
        /// Include past, raw, proposed and image-build codes
        #[arg(long)]
        all: bool,
        /// Output format
        #[arg(short, long, value_enum, default_value_t = AnswerFormat::Table)]
        output: AnswerFormat,
    },
    /// Show the pages of an exit code
    Show {
        /// Exit code (decimal or 0x…) or error name
        #[arg(value_name = "CODE|NAME", allow_negative_numbers = true)]
        what: String,
        /// Operating system of the node
        #[arg(long, value_parser = value_by_name(Os::ALL, Os::as_str))]
        os: Option<Os>,
        /// Node image version (202601.27.0) or date
        #[arg(long, value_name = "VERSION", value_parser = image_date)]
        image: Option<Date>,
        /// Output format
        #[arg(short, long, value_enum, default_value_t = AnswerFormat::Table)]
        output: AnswerFormat,
    },
    /// Find exit codes and causes by words in their names and texts, also with typos
    #[command(after_help = SEARCH_EXAMPLES)]
    Search {
        /// Words; all are required
        #[arg(required = true)]
        words: Vec<String>,
        /// Operating system of the node
        #[arg(long, value_parser = value_by_name(Os::ALL, Os::as_str))]
        os: Option<Os>,
        /// Owner of the next step
        #[arg(long, value_parser = value_by_name(Owner::ALL, Owner::as_str))]
        owner: Option<Owner>,
        /// Output format
        #[arg(short, long, value_enum, default_value_t = AnswerFormat::Table)]
        output: AnswerFormat,
    },
}

const SEARCH_EXAMPLES: &str = "\
Examples:
  mooring codes search oras registry
  mooring codes search timeout --os windows
  mooring codes search OrasBinryMising";

/// Returns the codes with this number or name, or an error with similar names.
fn find(
    what: &str,
    os: Option<Os>,
    image: Option<Date>,
) -> Result<Vec<&'static ExitCode>, CommandFailure> {
    let found: Vec<&'static ExitCode> = if let Some(code) = parse_code(what) {
        meanings(code, os, image)
    } else {
        let named = by_name(what);
        let of_cause = if named.is_empty() { find_codes(what) } else { Vec::new() };
        let all = named.into_iter().chain(of_cause);
        all.filter(|code| os.is_none_or(|os| code.os == os)).collect()
    };
    if found.is_empty() { Err(unknown_code(what)) } else { Ok(found) }
}

/// Returns the error for a code or name that does not exist, with similar names.
pub(super) fn unknown_code(what: &str) -> CommandFailure {
    let hint = suggest::hint(what, code_names(), "mooring codes show").unwrap_or_else(|| {
        "hint: `mooring codes list --all` lists all codes, `mooring codes search WORDS` finds them \
         by their texts"
            .to_owned()
    });
    CommandFailure::unknown_name(format!("unknown exit code `{}`\n{hint}", identifier(what)))
}

/// Parses `211` or `0xD3`.
pub(super) fn parse_code(text: &str) -> Option<i32> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => i32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Returns all meanings of a code, on all systems unless `os` is given.
fn meanings(code: i32, os: Option<Os>, image: Option<Date>) -> Vec<&'static ExitCode> {
    systems(os).flat_map(|os| lookup(os, code, image)).collect()
}

/// Returns the meanings of a code in reports of current nodes.
pub(super) fn likely_meanings(
    code: i32,
    os: Option<Os>,
    image: Option<Date>,
) -> Vec<&'static ExitCode> {
    systems(os).flat_map(|os| lookup(os, code, image).likely()).collect()
}

fn systems(os: Option<Os>) -> impl Iterator<Item = Os> {
    [Os::Linux, Os::Windows].into_iter().filter(move |system| os.is_none_or(|os| os == *system))
}

const SCHEMA: &str = "mooring.codes/v1";

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CodesContent<'a> {
    /// The search; null for a list.
    query: Option<String>,
    codes: Vec<CodeEntry>,
    causes: Vec<CauseEntry<'a>>,
}

#[derive(Debug, Serialize)]
struct CodeEntry {
    os: &'static str,
    code: i32,
    name: &'static str,
    status: &'static str,
    reach: &'static str,
    category: &'static str,
    owner: &'static str,
    transient: &'static str,
    meaning: &'static str,
    cause: &'static str,
    action: &'static str,
}

/// The page of a cause.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CauseEntry<'a> {
    cause: &'static str,
    stage: &'static str,
    owner: &'static str,
    retry: &'static str,
    summary: &'static str,
    symptom: &'a str,
    known_by: &'a [Vec<String>],
    actions: &'a [&'static str],
    codes: Vec<CodeName>,
}

#[derive(Debug, Serialize)]
struct CodeName {
    os: &'static str,
    code: i32,
    name: &'static str,
}

impl<'a> From<&'a CausePage> for CauseEntry<'a> {
    fn from(page: &'a CausePage) -> Self {
        let name = |code: &&ExitCode| CodeName {
            os: code.os.as_str(),
            code: code.number,
            name: code.name,
        };
        Self {
            cause: page.reason,
            stage: page.stage.as_str(),
            owner: page.owner.as_str(),
            retry: page.retry.as_str(),
            summary: page.summary,
            symptom: &page.symptom,
            known_by: &page.known_by,
            actions: &page.actions,
            codes: page.codes.iter().map(name).collect(),
        }
    }
}

fn document<'a>(
    query: Option<String>,
    codes: &[&'static ExitCode],
    causes: &'a [CausePage],
) -> PublishedDocument<'static, CodesContent<'a>> {
    let entry = |code: &&'static ExitCode| CodeEntry {
        os: code.os.as_str(),
        code: code.number,
        name: code.name,
        status: code.status.as_str(),
        reach: code.reach.as_str(),
        category: code.category.as_str(),
        owner: code.owner.as_str(),
        transient: code.transient.as_str(),
        meaning: code.meaning,
        cause: code.cause,
        action: code.action,
    };
    let content = CodesContent {
        query,
        codes: codes.iter().map(entry).collect(),
        causes: causes.iter().map(CauseEntry::from).collect(),
    };
    published::without_cluster(SCHEMA, content)
}

/// Columns that a name keeps on a narrow terminal; most names are shorter.
const MIN_NAME: usize = 40;
/// Columns that a meaning keeps on a narrow terminal.
const MIN_MEANING: usize = 12;

fn table(codes: &[&ExitCode], is_wide: bool) -> Table {
    let mut table = Table::new([
        Column::right("CODE"),
        Column::left("OS").extra(),
        Column::left("NAME").truncated(MIN_NAME),
        Column::left("OWNER"),
        Column::left("MEANING").shortened(MIN_MEANING),
    ])
    .wide(is_wide);
    for code in codes {
        let name = match code.doc_url {
            Some(url) => Text::default().link(code.name, url),
            None => Text::new(code.name),
        };
        table.row([
            Text::new(code.number.to_string()),
            Text::new(code.os.as_str()),
            name,
            Text::new(code.owner.as_str()),
            Text::new(first_sentence(code.meaning)),
        ]);
    }
    table
}

fn markdown(codes: &[&ExitCode]) -> String {
    let mut text = "| code | os | name | owner | meaning |\n|---:|---|---|---|---|\n".to_owned();
    for code in codes {
        let meaning = escape(first_sentence(code.meaning));
        let (number, os, owner) = (code.number, code.os, code.owner);
        let name = code.name;
        let _ = writeln!(text, "| {number} | {os} | `{name}` | {owner} | {meaning} |");
    }
    text
}

fn causes_table(causes: &[CausePage]) -> Table {
    let mut table = Table::new([
        Column::left("CAUSE"),
        Column::left("OWNER"),
        Column::left("MEANING").shortened(MIN_MEANING),
    ]);
    for cause in causes {
        let owner = Text::new(cause.owner.as_str());
        table.row([Text::new(cause.reason), owner, Text::new(first_sentence(cause.summary))]);
    }
    table
}

fn markdown_of_causes(causes: &[CausePage]) -> String {
    let mut text = "| cause | owner | meaning |\n|---|---|---|\n".to_owned();
    for cause in causes {
        let meaning = escape(first_sentence(cause.summary));
        let _ = writeln!(text, "| `{}` | {} | {meaning} |", cause.reason, cause.owner);
    }
    text
}

/// Returns the first sentence without its period.
fn first_sentence(text: &str) -> &str {
    let first = text.split_inclusive(". ").next().unwrap_or(text).trim_end();
    first.strip_suffix('.').unwrap_or(first)
}

#[cfg(test)]
mod tests {
    use super::parse_code;

    #[test]
    fn codes_are_decimal_or_hexadecimal() {
        assert_eq!(parse_code("211"), Some(211));
        assert_eq!(parse_code("0xD3"), Some(211));
        assert_eq!(parse_code("-1"), Some(-1));
        assert_eq!(parse_code("ERR"), None);
        assert_eq!(parse_code("0x"), None);
    }
}
