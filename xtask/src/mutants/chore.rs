//! The chore: cargo-mutants, crate by crate.

use std::path::Path;
use std::process::Command;

use super::arguments::Arguments;
use super::crates::{self, Tested};
use super::outcome::{self, MutantOutcome};
use super::{sample, tree};
use crate::step::{Failed, command, output, print, root, run, write};

const VERSION: &str = "27.1.0";
/// Exit codes of cargo-mutants after a complete run: all caught, some missed, some timed out.
const COMPLETE: [i32; 3] = [0, 2, 3];

/// The argument by which cargo-mutants leaves out what it caught before.
const ITERATE: &str = "--iterate";

/// Runs cargo-mutants on a copy of the sources, one change after the other and at low priority; fails if a change survives.
pub(crate) fn mutants(words: &[&str]) -> Result<(), Failed> {
    let arguments = Arguments::parse(words)?;
    let tested = crates::select(&arguments.crates)?;
    if run("cargo", &["mutants", "--version"]).is_err() {
        run("cargo", &["install", "--locked", "cargo-mutants", "--version", VERSION])?;
    }
    let folder = root().canonicalize()?.join("target/mutants");
    tree::copy(&root(), &folder.join("tree"))?;
    let mut outcomes = Vec::new();
    for tested in tested {
        let outcome = examine(tested, &arguments, &folder)?;
        print(&outcome::table(std::slice::from_ref(&outcome)));
        outcomes.push(outcome);
    }
    if outcomes.len() > 1 {
        print(&outcome::table(&outcomes));
    }
    let survived: Vec<&str> =
        outcomes.iter().flat_map(|outcome| &outcome.survived).map(String::as_str).collect();
    if survived.is_empty() {
        print("xtask: every change was noticed\n");
        return Ok(());
    }
    Err(Failed(format!(
        "{} changes survived:\n  {}\nhint: `--iterate --full` tries only these, with slow tests as well; add tests that notice them",
        survived.len(),
        survived.join("\n  ")
    )))
}

/// Runs cargo-mutants on one crate.
fn examine(tested: &Tested, arguments: &Arguments, folder: &Path) -> Result<MutantOutcome, Failed> {
    let results = folder.join(tested.name);
    std::fs::create_dir_all(&results)?;
    let mut command = cargo_mutants(tested, arguments, folder);
    let is_repeated = arguments.rest.contains(&ITERATE);
    if arguments.sample.is_some() || is_repeated {
        command.arg(ITERATE);
    }
    if let Some((count, seed)) = arguments.sample {
        let list = output(cargo_mutants(tested, arguments, folder).arg("--list"))?;
        let names: Vec<&str> = list.lines().collect();
        let chosen = sample::choose(&names, count, seed);
        let (chosen_count, all) = (chosen.len(), names.len());
        print(&format!("xtask: {}: {chosen_count} of {all} mutants, seed {seed}\n", tested.name));
        leave_out(&results, &names, &chosen, is_repeated)?;
    }
    command.args(["--in-place", "--minimum-test-timeout", "60"]);
    command.arg("--output").arg(&results);
    let status = command.status()?;
    if status.code().is_some_and(|code| COMPLETE.contains(&code)) {
        return MutantOutcome::read(tested.name, &results.join("mutants.out"));
    }
    Err(Failed(format!(
        "cargo-mutants ended with {status} on {}\nhint: {} has its logs",
        tested.name,
        results.join("mutants.out/log").display()
    )))
}

/// Names the mutants that are not chosen in the list that `--iterate` leaves out. (Deleted members of structs ignore `--re`.)
fn leave_out(
    results: &Path,
    all: &[&str],
    chosen: &[&str],
    is_repeated: bool,
) -> Result<(), Failed> {
    let folder = results.join("mutants.out");
    if !is_repeated && folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    std::fs::create_dir_all(&folder)?;
    let others: Vec<&str> = all.iter().copied().filter(|name| !chosen.contains(name)).collect();
    write(&folder.join("previously_caught.txt"), &(others.join("\n") + "\n"))
}

/// Returns the command for one crate. Its builds leave out what costs time and does not help to notice a change.
fn cargo_mutants(tested: &Tested, arguments: &Arguments, folder: &Path) -> Command {
    let package = format!("mooring-{}", tested.name).replace("mooring-mooring", "mooring");
    let unoptimized = format!("profile.dev.package.{package}.opt-level=0");
    let mut command = command("nice");
    command.args(["-n", "19", "cargo", "mutants"]);
    command.arg("--dir").arg(folder.join("tree")).args(["--package", &package]);
    command.args(tested.files.iter().flat_map(|file| ["--file", file]));
    let slow = if arguments.is_full { tested.slow } else { &[] };
    let targets = tested.tests.iter().chain(slow);
    command.args(targets.map(|test| format!("--cargo-arg={test}")));
    for line in ["profile.dev.debug=false", &unoptimized] {
        command.arg(format!("--cargo-arg=--config={line}"));
    }
    command.args(arguments.rest.iter().filter(|word| **word != ITERATE));
    let skipped = if arguments.is_full { &[] } else { tested.skipped };
    let skips: Vec<_> = tested.never.iter().chain(skipped).collect();
    if !skips.is_empty() {
        command.arg("--cargo-test-arg=--");
        command.args(skips.into_iter().map(|name| format!("--cargo-test-arg=--skip={name}")));
    }
    // Kept between runs, and apart from the builds of the real sources.
    command.env("CARGO_TARGET_DIR", folder.join("build"));
    command.env("MOORING_TEST_QUICK", "1");
    command
}
