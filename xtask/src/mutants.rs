//! `mutants`: small changes of the code, one at a time, each of which a quick test must notice.

use crate::step::{Failed, command, root, run};

const VERSION: &str = "27.1.0";

/// The crate that is examined if the options of cargo-mutants name none.
const DEFAULT: [&str; 2] = ["--package", "mooring-repair"];

/// Tests that are not run for a change, by parts of their names, because they take longer than the others.
const SLOW: [&str; 9] = [
    "slow::",
    "schedules::",
    "crashes::",
    "forgery::",
    "simulator::",
    "scale::",
    "unread::",
    "on_a_real_server",
    "hostile_megabytes",
];

/// Tests that no change may run: what belongs to the scripts could be other processes of the host.
const SIGNALS: [&str; 6] = [
    "a_signal_reaches",
    "processes_that_ignore",
    "stop_in_the_middle",
    "stop_reaches_every",
    "stopped_scripts_with",
    "when_the_run_is_stopped",
];

/// Runs cargo-mutants at low priority, on a copy of the sources; fails if a change survives. `.cargo/mutants.toml` lists the
/// changes that are not tried.
pub(crate) fn mutants(words: &[&str]) -> Result<(), Failed> {
    if run("cargo", &["mutants", "--version"]).is_err() {
        run("cargo", &["install", "--locked", "cargo-mutants", "--version", VERSION])?;
    }
    let names_crates = words.iter().any(|word| ["-p", "--package", "--workspace"].contains(word));
    let mut command = command("nice");
    command.args(["-n", "19", "cargo", "mutants", "--minimum-test-timeout", "60"]);
    command.args(if names_crates { &[][..] } else { &DEFAULT }).args(words);
    command.args(["--cargo-arg=--tests", "--cargo-test-arg=--"]);
    let skipped = SLOW.iter().chain(&SIGNALS);
    command.args(skipped.map(|name| format!("--cargo-test-arg=--skip={name}")));
    // Third-party crates stay compiled between runs, apart from the builds of the real sources.
    command.env("CARGO_TARGET_DIR", root().canonicalize()?.join("target/mutants"));
    let ended = command.env("MOORING_TEST_QUICK", "1").status()?;
    if ended.success() {
        return Ok(());
    }
    Err(Failed(format!(
        "cargo-mutants ended with {ended}\nhint: `--iterate` tries only changes that were not noticed"
    )))
}
