//! The command: it lists, shows and finds codes.

use mooring_codes::{ExitCode, Os, Reach, Status, all};
use mooring_terminal::Screen;

use super::{CodesArguments, CodesCommand, document, find, markdown, search, table};
use crate::explain::pages;
use crate::output::failure::CommandFailure;
use crate::output::page::screen;
use crate::output::{AnswerFormat, show};

pub(crate) fn codes(arguments: &CodesArguments) -> Result<(), CommandFailure> {
    match &arguments.command {
        CodesCommand::List { os, owner, all, output } => {
            let codes: Vec<_> = select_codes(*os, *all)
                .filter(|code| owner.is_none_or(|owner| code.owner == owner))
                .collect();
            let screen = |is_wide| {
                let mut screen = Screen::default();
                screen.table(table(&codes, is_wide));
                screen
            };
            print_codes(*output, &codes, screen, &|| markdown(&codes))
        }
        CodesCommand::Show { what, os, image, output } => {
            let found = find(what, *os, *image)?;
            let pages = |_| {
                let pages: Vec<_> = found.iter().map(|code| pages::code_page(code)).collect();
                screen(&pages)
            };
            let markdown = || {
                let pages: Vec<_> = found.iter().map(|code| mooring_codes::page(code)).collect();
                pages.join("\n")
            };
            print_codes(*output, &found, pages, &markdown)
        }
        CodesCommand::Search { words, os, owner, output } => {
            let found = search::search(words, *os, *owner);
            search::print(words, &found, *output)
        }
    }
}

fn print_codes(
    format: AnswerFormat,
    codes: &[&'static ExitCode],
    screen: impl FnOnce(bool) -> Screen,
    markdown: &dyn Fn() -> String,
) -> Result<(), CommandFailure> {
    let names = codes.iter().map(|code| code.name);
    show::print_answer(format, screen, Some(markdown), || document(None, codes, &[]), names)
}

fn select_codes(os: Option<Os>, everything: bool) -> impl Iterator<Item = &'static ExitCode> {
    let is_current = |code: &ExitCode| {
        matches!(code.status, Status::Agent | Status::Current | Status::Raw)
            && matches!(code.reach, Reach::Node | Reach::Raw)
    };
    all().filter(move |code| os.is_none_or(|os| code.os == os) && (everything || is_current(code)))
}
