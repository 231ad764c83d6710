//! `audit`: licenses, sources and banned crates.

use crate::step::{Failed, run};

/// Checks `deny.toml`, except advisories, which need a downloaded database.
pub(crate) fn audit() -> Result<(), Failed> {
    if run("cargo", &["deny", "--version"]).is_err() {
        run("cargo", &["install", "--locked", "cargo-deny"])?;
    }
    run("cargo", &["deny", "check", "licenses", "bans", "sources"])
}
