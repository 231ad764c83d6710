//! Lists of scenarios.

use mooring_terminal::{Column, Screen, Table, Text};

use crate::output::failure::CommandFailure;
use crate::output::print_screen;

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
