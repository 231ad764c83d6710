//! `audit`: licenses, sources, banned and duplicate crates, and advisories.

use crate::step::{Failed, print, run};

/// Checks `deny.toml`. Advisories need a database from the network; `--offline` leaves them out and says so.
pub(crate) fn audit(arguments: &[&str]) -> Result<(), Failed> {
    let offline = match arguments {
        [] => false,
        ["--offline"] => true,
        _ => return Err(Failed("audit [--offline]".to_owned())),
    };
    if run("cargo", &["deny", "--version"]).is_err() {
        run("cargo", &["install", "--locked", "cargo-deny"])?;
    }
    if offline {
        print("advisories: not checked (--offline)\n");
        return run("cargo", &["deny", "--offline", "check", "licenses", "bans", "sources"]);
    }
    run("cargo", &["deny", "check", "advisories", "licenses", "bans", "sources"])
}
