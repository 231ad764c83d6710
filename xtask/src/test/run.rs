//! Runs suites of two lanes at the same time.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::report::{Report, SuiteOutcome};
use serde_json::Value;

use crate::step::{Failed, command, print, root};

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

/// The main activity of a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lane {
    Processor,
    /// Suites that start processes and wait for them.
    Waiting,
}

/// Scope of a suite under `--quick`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quick {
    Run,
    Skip,
}

/// Suites that run at the same time: what two of them leave of two cores while they wait is enough for the third.
pub(super) const CONCURRENT: [Lane; 3] = [Lane::Processor, Lane::Waiting, Lane::Waiting];

/// Tests of the lane `waiting` wait for two thirds of their time.
const WAITING_THREADS: [&str; 2] = ["--test-threads", "4"];

/// Tests in modules of this name are skipped by `--quick`.
const SLOW: &str = "slow::";

/// The suites that are not short computations, with the seconds that they take on two cores.
const TABLE: &[(&str, Lane, f64, Quick)] = &[
    ("repair/it", Lane::Processor, 180.0, Quick::Run),
    ("controller/it", Lane::Processor, 120.0, Quick::Run),
    ("arm/it", Lane::Processor, 45.0, Quick::Run),
    ("simulator/conformance", Lane::Processor, 15.0, Quick::Run),
    ("mooring/lib", Lane::Processor, 12.0, Quick::Run),
    ("controller/lib", Lane::Processor, 12.0, Quick::Run),
    ("doc-tests", Lane::Processor, 6.0, Quick::Run),
    ("mooring/e2e", Lane::Waiting, 200.0, Quick::Skip),
    ("mooring-lab/it", Lane::Waiting, 170.0, Quick::Skip),
    ("mooring/it", Lane::Waiting, 160.0, Quick::Run),
    ("page/browser", Lane::Waiting, 100.0, Quick::Skip),
    ("finalizers/it", Lane::Waiting, 100.0, Quick::Run),
    ("agent/it", Lane::Waiting, 65.0, Quick::Run),
    ("simulator/external", Lane::Waiting, 30.0, Quick::Skip),
    ("testbed/it", Lane::Waiting, 5.0, Quick::Skip),
];

fn row(name: &str) -> (Lane, f64, Quick) {
    let found = TABLE.iter().find(|(known, ..)| *known == name);
    found.map_or((Lane::Processor, 1.0, Quick::Run), |(_, lane, seconds, quick)| {
        (*lane, *seconds, *quick)
    })
}

/// Returns the arguments of a test binary.
pub(super) fn arguments(suite: &str, is_quick: bool) -> Vec<&'static str> {
    let (lane, ..) = row(suite);
    let mut arguments = vec!["--show-output"];
    if lane == Lane::Waiting {
        arguments.extend(WAITING_THREADS);
    }
    if is_quick {
        arguments.extend(["--skip", SLOW]);
    }
    arguments
}

/// The suites of a run, longest first.
pub(super) struct LanePlan {
    /// Suites that have not been taken.
    left: Vec<Suite>,
    /// Suites that `--quick` does not run.
    pub(super) skipped: Vec<Suite>,
    /// Of all suites.
    names: BTreeSet<String>,
}

impl LanePlan {
    pub(super) fn new(mut suites: Vec<Suite>, quick: bool) -> Self {
        let names = suites.iter().map(|suite| suite.name.clone()).collect();
        suites.sort_by(|one, other| row(&other.name).1.total_cmp(&row(&one.name).1));
        let is_skipped = |suite: &Suite| quick && row(&suite.name).2 == Quick::Skip;
        let (skipped, left) = suites.into_iter().partition(is_skipped);
        Self { left, skipped, names }
    }

    /// Returns the number of suites that have not been taken.
    pub(super) fn len(&self) -> usize {
        self.left.len()
    }

    /// Takes the next suite of a lane, or of the other one when that lane is empty.
    pub(super) fn next(&mut self, lane: Lane) -> Option<Suite> {
        let own = self.left.iter().position(|suite| row(&suite.name).0 == lane);
        (!self.left.is_empty()).then(|| self.left.remove(own.unwrap_or_default()))
    }

    /// Returns names in the table without a suite.
    pub(super) fn stale_rows(&self) -> Vec<&'static str> {
        let names = TABLE.iter().map(|(name, ..)| *name);
        names.filter(|name| !self.names.contains(*name)).collect()
    }
}

/// Examples are left to Clippy, which checks them; benchmarks are not tests.
const BUILD: [&str; 6] = [
    "test",
    "--workspace",
    "--locked",
    "--tests",
    "--no-run",
    "--message-format=json-render-diagnostics",
];
const DOC_TESTS: [&str; 4] = ["test", "--workspace", "--locked", "--doc"];

/// A test binary, or the documentation tests of all crates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Suite {
    /// Directory of the crate and name of the target, as `agent/it`; unit tests are `agent/lib` and `agent/bin`.
    pub(super) name: String,
    /// The package's directory, where Cargo starts test binaries.
    pub(super) directory: PathBuf,
    /// The package's name and version; empty for documentation tests.
    pub(super) package: (String, String),
    pub(super) program: PathBuf,
    pub(super) arguments: &'static [&'static str],
}

impl Suite {
    /// Returns true for a test binary, which accepts the arguments of libtest.
    pub(super) fn is_binary(&self) -> bool {
        self.arguments.is_empty()
    }
}

/// Builds, and returns what is to be run, sorted by name.
pub(super) fn build() -> Result<Vec<Suite>, Failed> {
    let built = command("cargo")
        .args(BUILD)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| Failed(format!("cannot start cargo: {error}")))?;
    if !built.status.success() {
        return Err(Failed(format!("`cargo {}` ended with {}", BUILD.join(" "), built.status)));
    }
    let mut suites: Vec<Suite> =
        String::from_utf8_lossy(&built.stdout).lines().filter_map(suite).collect();
    suites.sort_by(|one, other| one.name.cmp(&other.name));
    suites.push(Suite {
        name: "doc-tests".to_owned(),
        directory: root(),
        package: Default::default(),
        program: "cargo".into(),
        arguments: &DOC_TESTS,
    });
    Ok(suites)
}

/// Reads a message of Cargo; none unless it is about a test binary.
fn suite(line: &str) -> Option<Suite> {
    let message: Value = serde_json::from_str(line).ok()?;
    if message["reason"] != "compiler-artifact" || message["profile"]["test"] != true {
        return None;
    }
    let program = PathBuf::from(message["executable"].as_str()?);
    let directory = PathBuf::from(message["manifest_path"].as_str()?).parent()?.to_owned();
    let target = match message["target"]["kind"][0].as_str()? {
        kind @ ("lib" | "bin") => kind,
        _ => message["target"]["name"].as_str()?,
    };
    let name = format!("{}/{target}", directory.file_name()?.to_str()?);
    // path+file:///repository/crates/agent#mooring-agent@0.1.0, or #0.1.0 if the directory has the package's name
    let id = message["package_id"].as_str()?.rsplit('#').next()?;
    let (package, version) = id.split_once('@').unwrap_or((directory.file_name()?.to_str()?, id));
    let package = (package.to_owned(), version.to_owned());
    Some(Suite { name, directory, package, program, arguments: &[] })
}

#[cfg(test)]
mod lanes_tests {
    use crate::test::run::{Lane, LanePlan, Quick, Suite, TABLE, arguments};

    fn suite(name: &str) -> Suite {
        Suite {
            name: name.to_owned(),
            directory: "/r".into(),
            package: Default::default(),
            program: "/r/suite".into(),
            arguments: &[],
        }
    }

    fn known(lane: Lane) -> &'static str {
        TABLE.iter().find(|(_, of, ..)| *of == lane).unwrap().0
    }

    fn order(plan: &mut LanePlan, lane: Lane) -> Vec<String> {
        std::iter::from_fn(|| plan.next(lane)).map(|suite| suite.name).collect()
    }

    #[test]
    fn longest_suite_runs_first() {
        let (long, ..) = TABLE.iter().max_by(|one, other| one.2.total_cmp(&other.2)).unwrap();
        let mut plan = LanePlan::new(["a/new", long].map(suite).to_vec(), false);
        let lane = TABLE.iter().find(|(name, ..)| name == long).unwrap().1;
        assert_eq!(order(&mut plan, lane), [*long, "a/new"]);
    }

    #[test]
    fn empty_lane_takes_from_the_other() {
        let (waits, computes) = (known(Lane::Waiting), known(Lane::Processor));
        let make = || LanePlan::new([computes, waits].map(suite).to_vec(), false);
        assert_eq!(order(&mut make(), Lane::Waiting), [waits, computes]);
        assert_eq!(order(&mut make(), Lane::Processor), [computes, waits]);
    }

    #[test]
    fn quick_run_skips_suites_that_need_tools() {
        let slow = TABLE.iter().find(|(.., quick)| *quick == Quick::Skip).unwrap().0;
        let make = |quick| LanePlan::new(vec![suite(slow)], quick);
        assert_eq!((make(false).len(), make(false).skipped.len()), (1, 0));
        assert_eq!((make(true).len(), make(true).skipped.len()), (0, 1));
    }

    #[test]
    fn quick_run_skips_slow_modules() {
        assert_eq!(arguments("a/new", false), ["--show-output"]);
        assert_eq!(arguments("a/new", true), ["--show-output", "--skip", "slow::"]);
    }

    #[test]
    fn suite_that_waits_has_more_threads() {
        let threads = |lane| arguments(known(lane), false).contains(&"--test-threads");
        assert!(threads(Lane::Waiting) && !threads(Lane::Processor));
    }

    #[test]
    fn table_row_without_suite_is_reported() {
        let plan = LanePlan::new(vec![suite(TABLE[0].0)], false);
        assert_eq!(plan.stale_rows().len(), TABLE.len() - 1);
        assert!(!plan.stale_rows().contains(&TABLE[0].0));
    }
}

#[cfg(test)]
mod build_tests {
    use crate::test::run::suite;

    fn message(reason: &str, kind: &str, test: bool, executable: &str) -> String {
        format!(
            r#"{{"reason":"{reason}","package_id":"path+file:///r/crates/agent#mooring-agent@0.1.0",
            "manifest_path":"/r/crates/agent/Cargo.toml","target":{{"kind":["{kind}"],"name":"it"}},
            "profile":{{"test":{test}}},"executable":{executable}}}"#
        )
        .replace('\n', "")
    }

    #[test]
    fn test_binaries_are_named_by_crate_and_target() {
        let program = "\"/r/target/debug/deps/it-0a\"";
        let found = suite(&message("compiler-artifact", "test", true, program)).unwrap();
        assert_eq!(found.name, "agent/it");
        assert_eq!(found.directory.to_str().unwrap(), "/r/crates/agent");
        assert_eq!(found.package, ("mooring-agent".to_owned(), "0.1.0".to_owned()));
        for kind in ["lib", "bin"] {
            let found = suite(&message("compiler-artifact", kind, true, program)).unwrap();
            assert_eq!(found.name, format!("agent/{kind}"));
        }
    }

    #[test]
    fn other_messages_are_not_test_binaries() {
        let program = "\"/r/target/debug/mooring\"";
        for line in [
            message("compiler-artifact", "bin", false, program),
            message("compiler-artifact", "lib", true, "null"),
            message("build-finished", "test", true, program),
            "text that a build script printed".to_owned(),
        ] {
            assert_eq!(suite(&line), None, "{line}");
        }
    }
}
