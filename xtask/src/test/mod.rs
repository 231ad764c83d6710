//! `test`: builds the workspace once and runs its test binaries in two lanes.

mod packaging;
mod report;
mod run;
mod tools;

use std::ffi::OsString;
use std::fs;

use crate::step::{Failed, is_installed, print, root};
use crate::test::report::Report;
use crate::test::run::LanePlan;

/// Set for every test binary while `--quick` is given. Tests then start no kube-apiserver.
const QUICK_VARIABLE: &str = "MOORING_TEST_QUICK";
/// `1` for every test binary while a test may be skipped for a missing tool. `0` for this chore, as in `.ci/run`, makes it strict.
const ALLOW_SKIPS_VARIABLE: &str = "MOORING_ALLOW_SKIPS";
/// Names the file to which suites append lines for the summary.
const SUMMARY_VARIABLE: &str = "MOORING_TEST_SUMMARY";
const SUMMARY_FILE: &str = "target/test-summary.txt";

/// Runs the tests.
pub(crate) fn test(arguments: &[&str]) -> Result<(), Failed> {
    let quick = match arguments {
        [] => false,
        ["--quick"] => true,
        _ => {
            return Err(Failed(format!(
                "unknown arguments `{}`\nhint: cargo xtask test [--quick]",
                arguments.join(" ")
            )));
        }
    };
    let mut report = Report::default();
    let mut variables = if quick {
        vec![(QUICK_VARIABLE.to_owned(), "1".into())]
    } else {
        tools::install(is_strict(), &mut report)?
    };
    if quick || !is_strict() {
        variables.push((ALLOW_SKIPS_VARIABLE.to_owned(), "1".into()));
    }
    report.check("packaging/cse", packaging::test_scripts);
    for (name, tool, check) in [
        ("packaging/systemd", "systemd-analyze", packaging::verify_unit as fn() -> _),
        ("packaging/shellcheck", "shellcheck", packaging::check_scripts),
    ] {
        if is_installed(tool) {
            report.check(name, check);
        } else {
            report.skip(name, 1, &format!("{tool} is not installed"));
        }
    }
    if variables.iter().any(|(name, _)| name == packaging::ZIZMOR) {
        report.check("workflows/zizmor", packaging::audit_workflows);
        report.check("packaging/identity", packaging::check_identity);
    } else {
        report.skip("workflows/zizmor", 1, "zizmor is not installed");
        report.skip("packaging/identity", 1, "parsers of Bicep and Terraform are not installed");
    }
    let suites = run::build()?;
    variables.extend(no_proxy());
    let summary = root().canonicalize()?.join(SUMMARY_FILE);
    let _ = fs::remove_file(&summary);
    variables.push((SUMMARY_VARIABLE.to_owned(), summary.clone().into()));

    run::run(LanePlan::new(suites, quick), &variables, quick, &mut report)?;
    print(&fs::read_to_string(&summary).unwrap_or_default());
    print(&report.summary());
    if report.has_failed() {
        let hint = "hint: target/test-output has the output of every suite";
        return Err(Failed(format!("tests failed\n{hint}")));
    }
    Ok(())
}

/// Returns true if nothing may be skipped.
fn is_strict() -> bool {
    std::env::var_os(ALLOW_SKIPS_VARIABLE).is_some_and(|value| value == "0")
}

/// Requests to servers on this host must not go through a proxy.
fn no_proxy() -> impl Iterator<Item = (String, OsString)> {
    ["NO_PROXY", "no_proxy"].into_iter().map(|name| {
        let others = std::env::var(name).map(|others| format!(",{others}")).unwrap_or_default();
        (name.to_owned(), format!("127.0.0.1,localhost,::1{others}").into())
    })
}
