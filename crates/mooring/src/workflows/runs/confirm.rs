//! What makes a command change something: `DRY_RUN`, `--dry-run`, and a name typed on a terminal.

use std::io::{BufRead as _, IsTerminal as _};

use super::write;
use crate::output::failure::CommandFailure;

/// Prompts for `name` on a terminal; `unattended` is the command for scripts, named in the hint.
pub(crate) fn confirm(name: &str, unattended: &str) -> Result<(), CommandFailure> {
    prompt(name, &format!("in scripts, use `{unattended}`"))
}

/// Prompts for `name` although flags approve the change, because its context is protected.
pub(crate) fn confirm_protected(name: &str, context: &str) -> Result<(), CommandFailure> {
    prompt(name, &format!("context {context} is protected: a plan hash is not enough"))
}

/// Ensures that a terminal can confirm a change in a protected context, before anything is read.
pub(crate) fn ensure_terminal(context: &str) -> Result<(), CommandFailure> {
    if std::io::stdin().is_terminal() {
        return Ok(());
    }
    Err(CommandFailure::blocked(format!(
        "context {context} is protected: a plan hash is not enough\nhint: run the command on a terminal and type the name"
    )))
}

/// Only a terminal can confirm: text in a pipe was written before the prompt was seen.
fn prompt(name: &str, hint: &str) -> Result<(), CommandFailure> {
    let stdin = std::io::stdin();
    let blocked =
        |why: &str| CommandFailure::blocked(format!("{why}; nothing was changed\nhint: {hint}"));
    if !stdin.is_terminal() {
        return Err(blocked(&format!(
            "only a terminal can confirm {}",
            mooring_redact::printable(name)
        )));
    }
    write(&format!("Type {name} to continue: "));
    let mut line = String::new();
    stdin.lock().read_line(&mut line)?;
    if line.trim() == name {
        return Ok(());
    }
    Err(blocked(if line.is_empty() { "no name typed" } else { "name does not match" }))
}

const VARIABLE: &str = "DRY_RUN";

/// Parses the value of `DRY_RUN`. Any other value is an error: a typo must not start a real run.
fn parse_dry_run(value: Option<&str>) -> Result<bool, CommandFailure> {
    let value = value.unwrap_or_default();
    match value.trim().to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" | "y" | "t" => Ok(true),
        "" | "false" | "0" | "no" | "off" | "n" | "f" => Ok(false),
        _ => Err(CommandFailure::usage(format!(
            "invalid value '{}' for {VARIABLE}\nhint: use true, 1, yes, on, y or t for a dry run; false, 0, no, off, n, f or empty for none",
            mooring_redact::identifier(value)
        ))),
    }
}

/// Returns true if the environment requests a dry run.
pub(crate) fn is_dry_run() -> Result<bool, CommandFailure> {
    // Text that is not UTF-8 is an invalid value, not an unset variable.
    let value = std::env::var_os(VARIABLE);
    parse_dry_run(value.as_ref().map(|value| value.to_string_lossy()).as_deref())
}

/// Tells that nothing will be changed.
pub(crate) fn announce_dry_run(dry_run: bool) {
    if dry_run {
        write("Dry run: nothing will be changed\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn true_values_request_a_dry_run() {
        for value in ["true", "1", "yes", "on", "y", "t", "TRUE", "On", "Y", " Yes ", "T\n"] {
            assert_eq!(parse_dry_run(Some(value)).ok(), Some(true), "{value:?}");
        }
    }

    #[test]
    fn false_values_and_empty_are_a_real_run() {
        assert_eq!(parse_dry_run(None).ok(), Some(false));
        for value in ["", "  ", "false", "0", "no", "off", "n", "f", "FALSE", "Off", "N"] {
            assert_eq!(parse_dry_run(Some(value)).ok(), Some(false), "{value:?}");
        }
    }

    #[test]
    fn other_values_are_usage_errors_that_quote_them() {
        for value in ["2", "enabled", "ja", "tru", "yes please", "-1", "true;false"] {
            let failure = parse_dry_run(Some(value)).unwrap_err();
            assert!(format!("{failure:?}").contains("exit_code: 2"), "{value}");
            assert!(failure.text().contains(value), "{}", failure.text());
        }
        assert!(parse_dry_run(Some("\u{fffd}")).is_err(), "text that is not UTF-8");
    }
}
