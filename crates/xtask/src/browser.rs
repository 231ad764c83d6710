//! Browser for the tests that open HTML pages.

use std::process::Command;

use crate::step::{Failed, need};

const PROGRAMS: [&str; 2] = ["chromium", "chromium-browser"];

/// Installs Debian's Chromium if it is missing and can be installed.
pub(crate) fn install() -> Result<(), Failed> {
    if PROGRAMS.into_iter().any(is_there) { Ok(()) } else { need("chromium", "chromium") }
}

fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}
