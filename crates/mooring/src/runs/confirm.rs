//! Confirmation of destructive commands by typing a name.

use std::io::BufRead as _;

use super::progress::write;
use crate::failure::Failure;

/// Prompts for `name`; `unattended` is the command for scripts, named in the hint.
pub(crate) fn confirm(name: &str, prompt: &str, unattended: &str) -> Result<(), Failure> {
    write(prompt);
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    if line.trim() == name {
        return Ok(());
    }
    let why = if line.is_empty() { "no name typed" } else { "name does not match" };
    Err(Failure::blocked(format!(
        "{why}; nothing was changed\nhint: in scripts, use `{unattended}`"
    )))
}
