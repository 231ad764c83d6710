//! `mutants`: every small change of the repair's guards, journal, stores and sanitiser must be noticed by a test.

use std::process::Command;

use crate::step::{Failed, root, run, say};

/// What is changed. `.cargo/mutants.toml` says what is left out, and why.
const FILES: [&str; 8] = [
    "crates/repair/src/guards/**",
    "crates/repair/src/journal/**",
    "crates/repair/src/machine/second_look.rs",
    "crates/repair/src/shell/store/**",
    "crates/repair/src/replay.rs",
    "crates/repair/src/sanitise.rs",
    "crates/repair/src/stand_in.rs",
    "crates/repair/src/observation/error_codes.rs",
];
/// The tests that must notice: those that take a second or two, since they run once for every change.
const TESTS: [&str; 7] = [
    "--lib",
    "--test=guards",
    "--test=bodies",
    "--test=journal",
    "--test=stores",
    "--test=operations",
    "--test=machine",
];
/// A build for every change: what costs time and is not needed to notice is left out of it.
const CONFIG: [&str; 2] =
    ["profile.dev.debug=false", "profile.dev.package.mooring-repair.opt-level=0"];

/// Runs cargo-mutants, one change after the other and at low priority; fails if one survives.
pub(crate) fn mutants(words: &[&str]) -> Result<(), Failed> {
    if run("cargo", &["mutants", "--version"]).is_err() {
        run("cargo", &["install", "--locked", "cargo-mutants"])?;
    }
    // It makes its own folder, but not the one around it.
    std::fs::create_dir_all(root().join("target"))?;
    let mut command = Command::new("nice");
    command.args(["-n", "19", "cargo", "mutants", "--package", "mooring-repair", "--jobs", "1"]);
    command.args(["--minimum-test-timeout", "60", "--output", "target/mutants"]);
    command.args(FILES.iter().flat_map(|file| ["--file", file]));
    command.args(TESTS.iter().map(|test| format!("--cargo-arg={test}")));
    command.args(CONFIG.iter().map(|line| format!("--cargo-arg=--config={line}")));
    let status = command.args(words).current_dir(root()).status()?;
    if status.success() {
        say("xtask: every change was noticed\n");
        return Ok(());
    }
    Err(Failed("a change survived or a run broke off; target/mutants/mutants.out/missed.txt names them\nhint: `cargo xtask mutants --iterate` tries only what was not noticed".to_owned()))
}
