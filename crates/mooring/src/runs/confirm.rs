//! Confirmation of destructive commands by typing a name.

use std::io::{BufRead as _, IsTerminal as _};

use super::progress::write;
use crate::failure::Failure;

/// Prompts for `name` on a terminal; `unattended` is the command for scripts, named in the hint.
///
/// Only a terminal can confirm: text in a pipe was written before the prompt was seen.
pub(crate) fn confirm(name: &str, unattended: &str) -> Result<(), Failure> {
    let stdin = std::io::stdin();
    let blocked = |why: &str| {
        Failure::blocked(format!(
            "{why}; nothing was changed\nhint: in scripts, use `{unattended}`"
        ))
    };
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
