//! Manual pages with the usual sections. Examples and tables are not reflowed.

use std::fs::Permissions;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use clap::{Command, CommandFactory as _};
use clap_mangen::Man;

use super::parser::{Cli, EXIT_CODES, ManArguments};
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
fn pages() -> Vec<(String, Command)> {
    let mut whole = Cli::command().disable_help_subcommand(true);
    whole.build();
    let mut pages = Vec::new();
    collect(whole, &mut pages);
    pages
}

fn collect(command: Command, pages: &mut Vec<(String, Command)>) {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    let name = name.strip_prefix("mooring-").unwrap_or(name).to_owned();
    let inner: Vec<_> =
        command.get_subcommands().filter(|inner| !inner.is_hide_set()).cloned().collect();
    pages.push((name, command));
    for command in inner {
        collect(command, pages);
    }
}

const ENVIRONMENT: &str = "\
KUBECONFIG                       kubeconfig, if --kubeconfig is not set
MOORING_CONTEXT                  context, if --context is not set
MOORING_NAMESPACE                namespace, if --namespace is not set
MOORING_CLUSTER                  cluster, if --cluster is not set
MOORING_RESOURCE_GROUP           its group, if --resource-group is not set
MOORING_SUBSCRIPTION             subscription, if --subscription is not set
MOORING_NODE_RESOURCE_GROUP      if --node-resource-group is not set
MOORING_SIGNS                    signs of a wedge that `repair` accepts
MOORING_SIGNATURES               error signatures of `repair`
MOORING_DOCS_URL                 site of the documents that screens link to
MOORING_LOG                      log level of `controller`
MOORING_SIM_TOKEN                token of the admin API of `sim`
AZURE_TENANT_ID, AZURE_CLIENT_ID and the other variables of Azure identities
NO_COLOR, CLICOLOR_FORCE, TERM   colors of the output
COLUMNS, LC_ALL, LC_CTYPE, LANG  width and characters of the output";

const FILES: &str = "~/.kube/config  default kubeconfig";

/// Returns the page of one command.
fn render(command: &Command) -> Result<Vec<u8>, CommandFailure> {
    let notes = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let man = Man::new(command.clone());
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    let (examples, notes) = split_examples(&notes);
    let codes = EXIT_CODES.lines().skip(1).take_while(|line| !line.is_empty());
    section(&mut page, "EXIT STATUS", &codes.map(str::trim).collect::<Vec<_>>().join("\n"))?;
    section(&mut page, "ENVIRONMENT", ENVIRONMENT)?;
    section(&mut page, "FILES", FILES)?;
    section(&mut page, "NOTES", &notes)?;
    section(&mut page, "EXAMPLES", &examples)?;
    see_also(command, &mut page)?;
    Ok(page)
}

fn see_also(command: &Command, page: &mut Vec<u8>) -> Result<(), CommandFailure> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    let inner = command.get_subcommands().filter(|inner| !inner.is_hide_set());
    let mut others: Vec<String> =
        inner.map(|inner| format!("{name}-{}", inner.get_name())).collect();
    if let Some((outer, _)) = name.rsplit_once('-') {
        others.insert(0, outer.to_owned());
    }
    others.push("kubectl".to_owned());
    let others: Vec<String> =
        others.iter().map(|other| format!("\\fB{}\\fR(1)", escape(other))).collect();
    write!(page, ".SH \"SEE ALSO\"\n{}\n", others.join(", "))?;
    Ok(())
}

/// Separates the block under `Examples:` from other help; drops the table of exit codes, which has a section.
fn split_examples(help: &str) -> (String, String) {
    let (mut examples, mut notes) = (Vec::new(), Vec::new());
    for block in help.split("\n\n") {
        match block.split_once('\n') {
            Some(("Examples:", lines)) => examples.push(lines),
            Some(("Exit codes:", _)) => {}
            _ => notes.push(block),
        }
    }
    (examples.join("\n\n"), notes.join("\n\n"))
}

/// Adds a section whose lines are kept as they are.
fn section(page: &mut Vec<u8>, title: &str, text: &str) -> Result<(), CommandFailure> {
    if text.trim().is_empty() {
        return Ok(());
    }
    writeln!(page, ".SH \"{title}\"\n.EX")?;
    for line in text.lines() {
        writeln!(page, "{}", escape(line))?;
    }
    writeln!(page, ".EE")?;
    Ok(())
}

fn escape(line: &str) -> String {
    let line = line.replace('\\', "\\e").replace('-', "\\-");
    if line.starts_with(['.', '\'']) { format!("\\&{line}") } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_separated_and_escaped() {
        let help = "Examples:\n  a -b\n  c\n\nMore.\n\nExit codes:\n  0  x";
        assert_eq!(split_examples(help), ("  a -b\n  c".to_owned(), "More.".to_owned()));
        assert_eq!(escape(".x \\ -y"), "\\&.x \\e \\-y");
    }
}
