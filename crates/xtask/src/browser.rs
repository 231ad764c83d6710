//! A browser for the tests that open our pages.

use std::process::Command;

use crate::step::{Failed, need};

/// The names that the tests look for.
const PROGRAMS: [&str; 2] = ["chromium", "chromium-browser"];

/// Installs Debian's Chromium where it is missing and may be installed.
pub(crate) fn install() -> Result<(), Failed> {
    if PROGRAMS.into_iter().any(is_there) { Ok(()) } else { need("chromium", "chromium") }
}

fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}
