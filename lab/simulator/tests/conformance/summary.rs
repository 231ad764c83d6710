//! Summary: the number of cases for each server, and those skipped.

use std::fmt::Write as _;
use std::io::Write as _;

use libtest_mimic::{Arguments, Conclusion};

use crate::case::Case;
use crate::target::Target;

/// Names a file to which the last lines are appended, for the caller of many test binaries.
const FILE: &str = "MOORING_TEST_SUMMARY";

pub(crate) struct Summary {
    lines: Vec<String>,
}

impl Summary {
    pub(crate) fn new(targets: &[&Target], cases: &[Case], arguments: &Arguments) -> Self {
        let mut lines = Vec::new();
        for target in targets {
            let skipped: Vec<_> =
                cases.iter().filter_map(|case| Some((case, target.skips(case)?))).collect();
            let ran = cases.len() - skipped.len();
            let mut line = format!("conformance: {ran} cases on {}", target.name);
            for (case, why) in &skipped {
                let _ = write!(line, "\n  skipped: {} ({why})", case.full_name());
            }
            lines.push(line);
        }
        if !targets.iter().any(|target| target.name.starts_with("kube-apiserver")) {
            lines.push(
                "conformance: NOT CHECKED AGAINST A REAL KUBE-APISERVER: there is none on this machine \
                 (scripts/kube-assets builds one, or name one in KUBEBUILDER_ASSETS)"
                    .to_owned(),
            );
        }
        if arguments.filter.is_some() || !arguments.skip.is_empty() || arguments.list {
            lines.clear();
        }
        Self { lines }
    }

    pub(crate) fn print(&self, conclusion: &Conclusion) {
        let verdict = if conclusion.has_failed() { "conformance: FAILED" } else { "" };
        let lines = self.lines.iter().map(String::as_str).chain([verdict]);
        let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
        for line in &lines {
            eprintln!("{line}");
        }
        if let Some(path) = std::env::var_os(FILE) {
            let mut file = std::fs::File::options().create(true).append(true).open(path).unwrap();
            for line in lines {
                writeln!(file, "{line}").unwrap();
            }
        }
    }
}
