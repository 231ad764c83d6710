//! The chart, judged and rendered by the real Helm.

use std::path::{Path, PathBuf};

use crate::python;
use crate::step::{Failed, command, say};

/// What tells the tests where Helm is.
pub(crate) const VARIABLE: &str = "MOORING_HELM_ENVIRONMENT";

/// An environment with the Helm that the tests name.
pub(crate) fn helm() -> Result<PathBuf, Failed> {
    python::python_environment("helm", Path::new("crates/mooring/tests/e2e/chart/requirements.txt"))
}

/// Writes anew what the chart rendered looks like.
pub(crate) fn write() -> Result<(), Failed> {
    let status = command("cargo")
        .args(["test", "--locked", "-p", "mooring", "--test", "chart", "rendered"])
        .env("MOORING_WRITE_GOLDEN", "1")
        .env(VARIABLE, helm()?)
        .status()?;
    if !status.success() {
        return Err(Failed(format!("the tests of the chart ended with {status}")));
    }
    say("crates/mooring/tests/e2e/chart/golden is written; `git diff` shows what changed\n");
    Ok(())
}
