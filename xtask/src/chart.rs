//! Validates and renders the chart with the real Helm.

use std::path::{Path, PathBuf};

use crate::python;
use crate::step::{Failed, command, print};

/// Directory of Helm, for the tests.
pub(crate) const VARIABLE: &str = "MOORING_HELM_ENVIRONMENT";

/// Creates an environment with the Helm version of the tests.
pub(crate) fn helm() -> Result<PathBuf, Failed> {
    python::python_environment("helm", Path::new("crates/mooring/tests/e2e/chart/requirements.txt"))
}

/// Rewrites the golden files of the rendered chart.
pub(crate) fn write() -> Result<(), Failed> {
    let status = command("cargo")
        .args(["test", "--locked", "-p", "mooring", "--test", "e2e", "chart::rendered"])
        .env("MOORING_WRITE_GOLDEN", "1")
        .env(VARIABLE, helm()?)
        .status()?;
    if !status.success() {
        return Err(Failed(format!("the tests of the chart ended with {status}")));
    }
    print("crates/mooring/tests/e2e/chart/golden is written; `git diff` shows what changed\n");
    Ok(())
}
