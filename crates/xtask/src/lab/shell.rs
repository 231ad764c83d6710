//! Runs a shell's text.

use std::process::Command;

use crate::step::{Failed, output};

/// Runs a shell's text with variables, and returns what it printed.
pub(super) fn shell(text: &str, variables: &[(&str, &str)]) -> Result<String, Failed> {
    output(Command::new("/bin/bash").args(["-euc", text]).envs(variables.iter().copied()))
}
