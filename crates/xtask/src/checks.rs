//! Chores that judge the whole project.

use crate::step::{Failed, run};
use crate::{oracles, packaging};

/// What `deny.toml` says. (Advisories need a database that is fetched, so they are left to others.)
pub(crate) fn audit() -> Result<(), Failed> {
    if run("cargo", &["deny", "--version"]).is_err() {
        run("cargo", &["install", "--locked", "cargo-deny"])?;
    }
    run("cargo", &["deny", "check", "licenses", "bans", "sources"])
}

/// Everything that the README calls the test command.
pub(crate) fn test() -> Result<(), Failed> {
    oracles::install()?;
    run("cargo", &["test", "--workspace", "--locked"])?;
    packaging::verify_unit()
}
