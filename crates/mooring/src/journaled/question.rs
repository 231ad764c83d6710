//! Destructive steps need a name, typed.

use std::io::BufRead as _;

use super::progress::write;
use crate::failure::Failure;

/// Asks for a name; `unattended` is what a script types instead.
pub(crate) fn confirm(name: &str, question: &str, unattended: &str) -> Result<(), Failure> {
    write(question);
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    if line.trim() == name {
        return Ok(());
    }
    let typed = if line.is_empty() { "nothing was typed" } else { "that is not its name" };
    Err(Failure::refused(format!(
        "{typed}; nothing was changed\nhint: unattended, use `{unattended}`"
    )))
}
