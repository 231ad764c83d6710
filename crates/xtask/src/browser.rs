//! A browser for the tests that open our pages.

use std::process::Command;

use crate::step::{need, say};

/// The names that the tests look for.
const PROGRAMS: [&str; 2] = ["chromium", "chromium-browser"];

/// Installs Debian's Chromium where it is missing and may be installed. Without one the tests go on, and the last lines
/// say so.
pub(crate) fn install(notes: &mut Vec<String>) {
    if PROGRAMS.into_iter().any(is_there) {
        return;
    }
    if need("chromium", "chromium").is_err() {
        say("xtask: WARNING: there is no Chromium: no page will be opened in a browser\n");
        notes.push(
            "NOT RUN: pages in a browser, since there is no Chromium (`apt-get install chromium` as root, then again)"
                .to_owned(),
        );
    }
}

fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}
