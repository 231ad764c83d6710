//! Names of scenarios.

use mooring_terminal::{Column, Screen, Table, Text};

use crate::failure::{LabFailure, print, style_of};

/// A longer distance is another name, not a typo.
const MAX_TYPOS: usize = 2;

/// Returns the error of a name of no scenario, with the nearest one.
pub(crate) fn unknown<'a>(
    name: &str,
    known: impl Iterator<Item = &'a str>,
    command: &str,
    error: &impl std::fmt::Display,
) -> LabFailure {
    let typos = |known: &&str| {
        let is_part = known.contains(name) && name.len() > MAX_TYPOS;
        if is_part { MAX_TYPOS } else { strsim::osa_distance(name, known) }
    };
    let nearest = known.min_by_key(typos).filter(|known| typos(known) <= MAX_TYPOS);
    let hint = nearest.map(|known| {
        format!("\nhint: did you mean `{known}`?   mooring-lab {command} --scenario {known}")
    });
    LabFailure::usage(&format!("{error}{}", hint.unwrap_or_default()))
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
