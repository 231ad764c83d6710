//! `mooring codes`.

pub(crate) mod document;
mod search;
mod table;

use mooring_codes::{Date, ExitCode, Os, Owner, Reach, Status, all, by_name, code_names, lookup};
use mooring_diagnosis::find_codes;
use mooring_redact::identifier;

use crate::cli::suggest;
use crate::explain::arguments::{CodesArguments, CodesCommand};
use crate::explain::code_page;
use crate::output::failure::Failure;
use crate::output::page::screen;
use crate::output::show;
use crate::output::{AnswerFormat, print_document, print_screen};

pub(crate) fn codes(arguments: &CodesArguments) -> Result<(), Failure> {
    match &arguments.command {
        CodesCommand::List { os, owner, all, output } => {
            let (os, owner) = (os.map(Os::from), owner.map(Owner::from));
            let codes: Vec<_> = select_codes(os, *all)
                .filter(|code| owner.is_none_or(|owner| code.owner == owner))
                .collect();
            match output {
                AnswerFormat::Table | AnswerFormat::Wide => {
                    print_screen(&table::screen(&codes, *output == AnswerFormat::Wide))
                }
                AnswerFormat::Markdown => show::print(table::markdown(&codes).as_bytes()),
                format => print_codes(*format, &codes),
            }
        }
        CodesCommand::Show { what, os, image, output } => {
            let found = find(what, os.map(Os::from), *image)?;
            match output {
                AnswerFormat::Table | AnswerFormat::Wide => {
                    let pages: Vec<_> = found.iter().map(|code| code_page(code)).collect();
                    print_screen(&screen(&pages))
                }
                AnswerFormat::Markdown => {
                    let pages: Vec<_> =
                        found.iter().map(|code| mooring_codes::page(code)).collect();
                    show::print(pages.join("\n").as_bytes())
                }
                format => print_codes(*format, &found),
            }
        }
        CodesCommand::Search { words, os, owner, output } => {
            let found = search::search(words, os.map(Os::from), owner.map(Owner::from));
            search::print(words, &found, *output)
        }
    }
}

/// Prints codes as a document or as names.
fn print_codes(format: AnswerFormat, codes: &[&'static ExitCode]) -> Result<(), Failure> {
    match format {
        AnswerFormat::Name => show::print_names(codes.iter().map(|code| code.name)),
        format => {
            print_document(&document::document(None, codes, &[]), format == AnswerFormat::Yaml)
        }
    }
}

fn find(
    what: &str,
    os: Option<Os>,
    image: Option<Date>,
) -> Result<Vec<&'static ExitCode>, Failure> {
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
pub(crate) fn unknown_code(what: &str) -> Failure {
    let hint = suggest::hint(what, code_names(), "mooring codes show").unwrap_or_else(|| {
        "hint: `mooring codes list --all` lists all codes, `mooring codes search WORDS` finds them \
         by their texts"
            .to_owned()
    });
    Failure::unknown_name(format!("unknown exit code `{}`\n{hint}", identifier(what)))
}

/// Parses `211` or `0xD3`.
pub(crate) fn parse_code(text: &str) -> Option<i32> {
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
pub(crate) fn likely_meanings(
    code: i32,
    os: Option<Os>,
    image: Option<Date>,
) -> Vec<&'static ExitCode> {
    systems(os).flat_map(|os| lookup(os, code, image).likely()).collect()
}

fn systems(os: Option<Os>) -> impl Iterator<Item = Os> {
    [Os::Linux, Os::Windows].into_iter().filter(move |system| os.is_none_or(|os| os == *system))
}

fn select_codes(os: Option<Os>, everything: bool) -> impl Iterator<Item = &'static ExitCode> {
    let is_current = |code: &ExitCode| {
        matches!(code.status, Status::Agent | Status::Current | Status::Raw)
            && matches!(code.reach, Reach::Node | Reach::Raw)
    };
    all().filter(move |code| os.is_none_or(|os| code.os == os) && (everything || is_current(code)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_decimal_or_hexadecimal() {
        assert_eq!(parse_code("211"), Some(211));
        assert_eq!(parse_code("0xD3"), Some(211));
        assert_eq!(parse_code("-1"), Some(-1));
        assert_eq!(parse_code("ERR"), None);
        assert_eq!(parse_code("0x"), None);
    }
}
