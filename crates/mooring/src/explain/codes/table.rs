//! Tables of exit codes.

use std::fmt::Write as _;

use mooring_codes::ExitCode;
use mooring_diagnosis::CausePage;
use mooring_redact::markdown as escape;
use mooring_terminal::{Column, Screen, Table, Text};

/// Columns that a name keeps on a narrow terminal; most names are shorter.
const MIN_NAME: usize = 40;
/// Columns that a meaning keeps on a narrow terminal.
const MIN_MEANING: usize = 12;

pub(super) fn screen(codes: &[&ExitCode], is_wide: bool) -> Screen {
    let mut screen = Screen::default();
    screen.table(table(codes, is_wide));
    screen
}

pub(super) fn table(codes: &[&ExitCode], is_wide: bool) -> Table {
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

pub(super) fn markdown(codes: &[&ExitCode]) -> String {
    let mut text = "| code | os | name | owner | meaning |\n|---:|---|---|---|---|\n".to_owned();
    for code in codes {
        let meaning = escape(first_sentence(code.meaning));
        let (number, os, owner) = (code.number, code.os, code.owner);
        let name = code.name;
        let _ = writeln!(text, "| {number} | {os} | `{name}` | {owner} | {meaning} |");
    }
    text
}

pub(super) fn causes(causes: &[CausePage]) -> Table {
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

pub(super) fn markdown_of_causes(causes: &[CausePage]) -> String {
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
