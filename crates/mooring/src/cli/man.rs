//! Manual pages.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use clap::CommandFactory as _;

use super::man_page::render;
use super::parser::{Cli, ManArguments};
use crate::output::failure::CommandFailure;
use crate::output::show::print_raw;

pub(super) fn manual(arguments: &ManArguments) -> Result<(), CommandFailure> {
    if let Some(directory) = &arguments.out {
        return write_all(directory);
    }
    let wanted = arguments.page.as_deref().unwrap_or("mooring");
    let wanted = wanted.strip_prefix("mooring-").unwrap_or(wanted);
    let pages = pages();
    let Some((_, page)) = pages.iter().find(|(name, _)| name == wanted) else {
        let names: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
        return Err(CommandFailure::usage(format!(
            "unknown page `{wanted}`\nhint: valid pages: {}",
            names.join(", ")
        )));
    };
    print_raw(&render(page)?)
}

fn write_all(directory: &Path) -> Result<(), CommandFailure> {
    let failed = |error: std::io::Error| {
        CommandFailure::io(format!("cannot write to {}: {error}", directory.display()))
    };
    std::fs::create_dir_all(directory).map_err(failed)?;
    for (name, page) in pages() {
        let name = if name == "mooring" { name } else { format!("mooring-{name}") };
        let file = directory.join(format!("{name}.1"));
        crate::output::outfile::write(&file, &render(&page)?)?;
        // Others read the pages.
        std::fs::set_permissions(&file, Permissions::from_mode(0o644)).map_err(failed)?;
    }
    Ok(())
}

/// Returns all pages with their names: `mooring`, `repair`, `repair-apply`.
fn pages() -> Vec<(String, clap::Command)> {
    let mut whole = Cli::command().disable_help_subcommand(true);
    whole.build();
    let mut pages = Vec::new();
    collect(whole, &mut pages);
    pages
}

fn collect(command: clap::Command, pages: &mut Vec<(String, clap::Command)>) {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    let name = name.strip_prefix("mooring-").unwrap_or(name).to_owned();
    let inner: Vec<_> =
        command.get_subcommands().filter(|inner| !inner.is_hide_set()).cloned().collect();
    pages.push((name, command));
    for command in inner {
        collect(command, pages);
    }
}
