//! The command: it lists, shows and finds codes.

use mooring_codes::{ExitCode, Os, Reach, Status, all};

use super::lookup::find;
use super::{document, search, table};
use crate::explain::arguments::{CodesArguments, CodesCommand};
use crate::explain::pages;
use crate::output::failure::CommandFailure;
use crate::output::page::screen;
use crate::output::show;
use crate::output::{AnswerFormat, print_document, print_screen};

pub(crate) fn codes(arguments: &CodesArguments) -> Result<(), CommandFailure> {
    match &arguments.command {
        CodesCommand::List { os, owner, all, output } => {
            let codes: Vec<_> = select_codes(*os, *all)
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
            let found = find(what, *os, *image)?;
            match output {
                AnswerFormat::Table | AnswerFormat::Wide => {
                    let pages: Vec<_> = found.iter().map(|code| pages::code(code)).collect();
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
            let found = search::search(words, *os, *owner);
            search::print(words, &found, *output)
        }
    }
}

/// Prints codes as a document or as names.
fn print_codes(format: AnswerFormat, codes: &[&'static ExitCode]) -> Result<(), CommandFailure> {
    match format {
        AnswerFormat::Name => show::print_names(codes.iter().map(|code| code.name)),
        format => {
            print_document(&document::document(None, codes, &[]), format == AnswerFormat::Yaml)
        }
    }
}

fn select_codes(os: Option<Os>, everything: bool) -> impl Iterator<Item = &'static ExitCode> {
    let is_current = |code: &ExitCode| {
        matches!(code.status, Status::Agent | Status::Current | Status::Raw)
            && matches!(code.reach, Reach::Node | Reach::Raw)
    };
    all().filter(move |code| os.is_none_or(|os| code.os == os) && (everything || is_current(code)))
}
