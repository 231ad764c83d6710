//! Confirmation of destructive commands by typing a name.

use std::io::{BufRead as _, IsTerminal as _};

use super::messages::write;
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
