//! Lists of scenarios.

use mooring_terminal::{Column, Screen, Table, Text};

use crate::arguments::suggest;
use crate::output::failure::CommandFailure;
use crate::output::print_screen;

/// Returns the error of a name of no scenario, with similar names.
pub(super) fn unknown<'a>(
    name: &str,
    known: impl Iterator<Item = &'a str>,
    command: &str,
    error: &impl std::fmt::Display,
) -> CommandFailure {
    let hint = suggest::hint(name, known, &format!("mooring {command} --scenario"));
    CommandFailure::unknown_name(match hint {
        Some(hint) => format!("{error}\n{hint}"),
        None => error.to_string(),
    })
}

/// Prints names with their descriptions.
pub(super) fn print_scenarios<'a>(
    scenarios: impl IntoIterator<Item = (&'a str, String)>,
) -> Result<(), CommandFailure> {
    let mut table = Table::new([Column::left("NAME"), Column::left("DESCRIPTION").shortened(20)]);
    for (name, description) in scenarios {
        table.row([Text::new(name), Text::new(description.trim())]);
    }
    let mut screen = Screen::default();
    screen.table(table);
    print_screen(&screen)
}
