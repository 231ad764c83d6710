//! Results of test binaries, from their output, and the summary of all.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use crate::step::Failed;

/// The result of one suite.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SuiteOutcome {
    passed: u64,
    failed: u64,
    /// Names of tests that failed, or the reason for which there are none.
    failures: Vec<String>,
    /// Number of skipped tests by reason.
    skipped: BTreeMap<String, u64>,
}

impl SuiteOutcome {
    /// Reads the output of libtest or libtest-mimic, run with `--show-output`.
    pub(super) fn parse(output: &str, is_success: bool) -> Self {
        let mut outcome = Self::default();
        let mut results = 0;
        for line in output.lines() {
            if let Some(counts) = line.strip_prefix("test result: ") {
                results += 1;
                outcome.passed += count(counts, "passed");
                outcome.failed += count(counts, "failed");
                outcome.skip("ignored", count(counts, "ignored"));
                outcome.skip("left out by --quick", count(counts, "filtered out"));
            } else if let Some(test) = line.strip_suffix(" ... FAILED") {
                let test = test.strip_prefix("test ").unwrap_or(test);
                outcome.failures.push(test.to_owned());
            }
        }
        for reason in skip_reasons(output) {
            outcome.passed = outcome.passed.saturating_sub(1);
            outcome.skip(reason, 1);
        }
        if results == 0 || (!is_success && outcome.failed == 0) {
            outcome.failed += 1;
            outcome.failures.push("ended without a result".to_owned());
        }
        outcome
    }

    pub(super) fn has_failed(&self) -> bool {
        self.failed > 0
    }

    fn skip(&mut self, reason: &str, tests: u64) {
        if tests > 0 {
            *self.skipped.entry(reason.to_owned()).or_default() += tests;
        }
    }
}

impl fmt::Display for SuiteOutcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let skipped: u64 = self.skipped.values().sum();
        write!(formatter, "{} passed, {} failed, {skipped} skipped", self.passed, self.failed)
    }
}

/// Reads a number of a result line: `ok. 12 passed; 0 failed; 1 ignored; …`.
fn count(counts: &str, what: &str) -> u64 {
    let parts = counts.split([';', '.']).map(str::trim);
    let number = |part: &str| part.strip_suffix(what)?.trim().parse().ok();
    parts.into_iter().find_map(number).unwrap_or_default()
}

/// Finds tests that passed without running, since a tool is missing: their output begins a line with `SKIPPED`. Returns one
/// reason per test.
fn skip_reasons(output: &str) -> Vec<&str> {
    let mut reasons = Vec::new();
    // Whether the lines are those of a test that passed, and no reason of it has been found.
    let (mut in_successes, mut in_test) = (false, false);
    for line in output.lines() {
        match line {
            "successes:" => in_successes = true,
            "failures:" => in_successes = false,
            _ if line.starts_with("---- ") && line.ends_with(" ----") => in_test = in_successes,
            _ if in_successes && in_test => {
                if let Some(reason) = line.strip_prefix("SKIPPED") {
                    reasons.push(reason.trim_start_matches(':').trim());
                    in_test = false;
                }
            }
            _ => {}
        }
    }
    reasons
}

/// The results of all suites.
#[derive(Debug, Default)]
pub(super) struct Report {
    suites: BTreeMap<String, SuiteOutcome>,
    notes: Vec<String>,
}

impl Report {
    pub(super) fn add(&mut self, suite: &str, outcome: SuiteOutcome) {
        self.suites.insert(suite.to_owned(), outcome);
    }

    /// Adds a suite that was not run.
    pub(super) fn skip(&mut self, suite: &str, tests: u64, reason: &str) {
        let mut outcome = SuiteOutcome::default();
        outcome.skip(reason, tests);
        self.add(suite, outcome);
    }

    /// Runs a check that is not a test binary, and adds it as one test.
    pub(super) fn check(&mut self, name: &str, check: fn() -> Result<(), Failed>) {
        let outcome = match check() {
            Ok(()) => SuiteOutcome { passed: 1, ..SuiteOutcome::default() },
            Err(Failed(why)) => {
                SuiteOutcome { failed: 1, failures: vec![why], ..SuiteOutcome::default() }
            }
        };
        self.add(name, outcome);
    }

    /// Adds a line to the summary.
    pub(super) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    pub(super) fn has_failed(&self) -> bool {
        self.suites.values().any(SuiteOutcome::has_failed)
    }

    /// Lists what failed and what was skipped; the last line has the totals.
    pub(super) fn summary(&self) -> String {
        let mut text = String::new();
        for (suite, outcome) in &self.suites {
            for failure in &outcome.failures {
                let _ = writeln!(text, "failed: {suite}: {failure}");
            }
        }
        for (suite, outcome) in &self.suites {
            for (reason, tests) in &outcome.skipped {
                let _ = writeln!(text, "skipped: {suite}: {tests} ({reason})");
            }
        }
        for note in &self.notes {
            let _ = writeln!(text, "note: {note}");
        }
        let sum = |number: fn(&SuiteOutcome) -> u64| self.suites.values().map(number).sum::<u64>();
        let (passed, failed) = (sum(|outcome| outcome.passed), sum(|outcome| outcome.failed));
        let skipped = sum(|outcome| outcome.skipped.values().sum());
        let _ = writeln!(text, "{passed} passed, {failed} failed, {skipped} skipped");
        text
    }
}

#[cfg(test)]
mod tests {
    use super::{Report, SuiteOutcome};
    use crate::step::Failed;

    const PASSED: &str = "
running 4 tests
test one ... ok
test two ... ok
test three ... ignored
test four ... ok

successes:

---- one stdout ----
50,628 pairs
a line with SKIPPED: in the middle

---- two stdout ----
SKIPPED: there is no Helm
SKIPPED: there is no Helm

successes:
    one
    two

test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.01s
";
    const FAILED: &str = "
test [model] one ... ok
test [model] two ... FAILED

failures:

---- two stdout ----
SKIPPED: and failed later

failures:
    two

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.20s
";

    fn summary(output: &str, is_success: bool) -> (String, bool) {
        let mut report = Report::default();
        report.add("agent/it", SuiteOutcome::parse(output, is_success));
        (report.summary(), report.has_failed())
    }

    #[test]
    fn ignored_filtered_and_skipped_tests_are_not_passed() {
        let (summary, has_failed) = summary(PASSED, true);
        assert!(!has_failed);
        for line in [
            "skipped: agent/it: 1 (ignored)\n",
            "skipped: agent/it: 2 (left out by --quick)\n",
            "skipped: agent/it: 1 (there is no Helm)\n",
            "2 passed, 0 failed, 4 skipped\n",
        ] {
            assert!(summary.contains(line), "{line}{summary}");
        }
    }

    #[test]
    fn failed_tests_are_named_in_the_summary() {
        let (summary, has_failed) = summary(FAILED, false);
        assert!(has_failed);
        assert!(summary.contains("failed: agent/it: [model] two\n"), "{summary}");
        assert!(summary.ends_with("1 passed, 1 failed, 0 skipped\n"), "{summary}");
    }

    #[test]
    fn binary_without_result_has_failed() {
        for (output, is_success) in [("", true), ("signal: 6 (SIGABRT)", false), (PASSED, false)] {
            let (summary, has_failed) = summary(output, is_success);
            assert!(has_failed, "{output}");
            assert!(summary.contains("failed: agent/it: ended without a result"), "{summary}");
        }
    }

    #[test]
    fn results_of_several_crates_are_added() {
        let output = PASSED.repeat(2);
        let (summary, _) = summary(&output, true);
        assert!(summary.contains("skipped: agent/it: 2 (ignored)"), "{summary}");
    }

    #[test]
    fn failed_check_fails_the_run() {
        let mut report = Report::default();
        report.check("packaging/systemd", || Err(Failed("bad unit".to_owned())));
        assert!(report.has_failed());
        assert!(report.summary().contains("failed: packaging/systemd: bad unit\n"));
    }
}
