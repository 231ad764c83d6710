//! Runs suites of two lanes at the same time.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::step::{Failed, command, print, root};

use super::build::Suite;
use super::lanes::{CONCURRENT, LanePlan, arguments};
use super::report::{Report, SuiteOutcome};

/// Output of every suite in the last run, a file each.
const OUTPUT: &str = "target/test-output";

/// Runs every suite of a plan, even if one fails, and prints the output of those that fail.
pub(super) fn run(
    plan: LanePlan,
    variables: &[(String, OsString)],
    quick: bool,
    report: &mut Report,
) -> Result<(), Failed> {
    for name in plan.stale_rows() {
        print(&format!("warning: the table of lanes has `{name}`, which is not a test binary\n"));
    }
    for suite in &plan.skipped {
        report.skip(&suite.name, count_tests(suite), "left out by --quick");
    }
    let output = root().join(OUTPUT);
    let _ = fs::remove_dir_all(&output);
    fs::create_dir_all(&output)?;

    let total = plan.len();
    let plan = Mutex::new(plan);
    let ended = Mutex::new((0, report));
    let work = |lane| {
        let next = || plan.lock().unwrap_or_else(PoisonError::into_inner).next(lane);
        while let Some(suite) = next() {
            let (outcome, text, seconds) = run_suite(&suite, variables, quick, &output);
            let mut ended = ended.lock().unwrap_or_else(PoisonError::into_inner);
            let (number, report) = &mut *ended;
            *number += 1;
            let name = &suite.name;
            if outcome.has_failed() {
                print(&format!("\n{text}\n"));
            }
            print(&format!("{name}: {outcome} in {seconds:.1} s ({number} of {total})\n"));
            report.add(&suite.name, outcome);
        }
    };
    std::thread::scope(|scope| {
        for lane in CONCURRENT {
            let work = &work;
            scope.spawn(move || work(lane));
        }
    });
    Ok(())
}

/// Runs one suite with its output in a file: a process that a test leaves running cannot keep the run from ending.
#[expect(clippy::disallowed_methods, reason = "real processes are measured")]
fn run_suite(
    suite: &Suite,
    variables: &[(String, OsString)],
    quick: bool,
    output: &Path,
) -> (SuiteOutcome, String, f64) {
    let file = output.join(format!("{}.txt", suite.name.replace('/', "-")));
    let start = Instant::now();
    let ended = File::options().create(true).append(true).open(&file).and_then(|out| {
        let mut process = prepare(suite, variables);
        if suite.is_binary() {
            process.args(arguments(&suite.name, quick));
        }
        process.stdin(Stdio::null()).stdout(out.try_clone()?).stderr(out).status()
    });
    let seconds = start.elapsed().as_secs_f64();
    let text = fs::read(&file).unwrap_or_default();
    let mut text = String::from_utf8_lossy(&text).into_owned();
    let is_success = ended.as_ref().is_ok_and(ExitStatus::success);
    if !is_success {
        let status = ended.map_or_else(|error| error.to_string(), |status| status.to_string());
        let _ = writeln!(text, "{}: {status}", suite.program.display());
    }
    (SuiteOutcome::parse(&text, is_success), text, seconds)
}

/// A command with the directory and the variables that `cargo test` would give it.
fn prepare(suite: &Suite, variables: &[(String, OsString)]) -> Command {
    let mut process = command(&suite.program);
    process.args(suite.arguments).current_dir(&suite.directory);
    if suite.is_binary() {
        process.env("CARGO_MANIFEST_DIR", &suite.directory);
        process.env("CARGO_PKG_NAME", &suite.package.0);
        process.env("CARGO_PKG_VERSION", &suite.package.1);
    }
    process.envs(variables.iter().map(|(name, value)| (name, value)));
    process
}

/// Counts the tests of a binary that is not run.
fn count_tests(suite: &Suite) -> u64 {
    let listed = Command::new(&suite.program)
        .arg("--list")
        .current_dir(&suite.directory)
        .stdin(Stdio::null())
        .output();
    let text = listed.map(|listed| listed.stdout).unwrap_or_default();
    let tests = text.split(|byte| *byte == b'\n').filter(|line| line.ends_with(b": test"));
    u64::try_from(tests.count()).unwrap_or_default()
}
