//! Names of scenarios.

use mooring_terminal::{Column, Screen, Table, Text, suggest};

use crate::failure::{LabFailure, print, style_of};

/// Returns the error of a name of no scenario, with similar ones.
pub(crate) fn unknown<'a>(
    name: &str,
    known: impl Iterator<Item = &'a str>,
    command: &str,
    error: &impl std::fmt::Display,
) -> LabFailure {
    let hint = suggest::hint(name, known, &format!("mooring-lab {command} --scenario"));
    let hint = hint.map_or_else(String::new, |hint| format!("\n{hint}"));
    LabFailure::usage(&format!("{error}{hint}"))
}

/// Prints names with their descriptions.
pub(crate) fn print_scenarios<'a>(
    scenarios: impl IntoIterator<Item = (&'a str, String)>,
) -> Result<(), LabFailure> {
    let mut table = Table::new([Column::left("NAME"), Column::left("DESCRIPTION").shortened(20)]);
    for (name, description) in scenarios {
        table.row([Text::new(name), Text::new(description.trim())]);
    }
    let mut screen = Screen::default();
    screen.table(table);
    print(&screen.render(&style_of(&std::io::stdout())))
}
