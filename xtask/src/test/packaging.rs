//! Checks the files in `packaging/`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::python;
use crate::step::{Failed, output, place, print, root};

const CSE: &str = "packaging/cse";

/// Stages the unit as on an image and verifies it with systemd. Any output is a failure.
pub(crate) fn verify_unit() -> Result<(), Failed> {
    const UNIT: &str = "aks-node-controller.service";
    let stage = root().join("target/staged-image");
    if stage.exists() {
        fs::remove_dir_all(&stage)?;
    }
    let packaging = root().join("packaging");
    place(&packaging.join(UNIT), &stage.join("etc/systemd/system").join(UNIT), 0o644)?;
    let launcher = "aks-node-controller-launcher.sh";
    place(&packaging.join(launcher), &stage.join("opt/azure/containers").join(launcher), 0o755)?;
    let mut verify = Command::new("systemd-analyze");
    let verdict = verify.args(["verify", "--root"]).arg(&stage).arg(UNIT).output()?;
    let printed = [verdict.stdout, verdict.stderr].concat();
    if !verdict.status.success() || !printed.is_empty() {
        let printed = String::from_utf8_lossy(&printed).into_owned();
        return Err(Failed(format!("systemd does not like packaging/{UNIT}:\n{printed}")));
    }
    print(&format!("packaging/{UNIT}: systemd-analyze verify: ok\n"));
    Ok(())
}

/// Tests what the scripts of an image source, with the shell of this host.
pub(crate) fn test_scripts() -> Result<(), Failed> {
    print(&output(Command::new("/bin/bash").arg(root().join(CSE).join("oras_preflight_test.sh")))?);
    Ok(())
}

/// Any remark of `shellcheck` is a failure.
pub(crate) fn check_scripts() -> Result<(), Failed> {
    let scripts =
        ["oras_preflight.sh", "oras_preflight_test.sh"].map(|name| root().join(CSE).join(name));
    let verdict = Command::new("shellcheck").args(scripts).output()?;
    if verdict.status.success() {
        return Ok(());
    }
    Err(Failed(String::from_utf8_lossy(&verdict.stdout).into_owned()))
}

/// Tells the run that zizmor is installed.
pub(crate) const ZIZMOR: &str = "MOORING_ZIZMOR_ENVIRONMENT";

/// Creates an environment with zizmor, once.
pub(crate) fn zizmor() -> Result<PathBuf, Failed> {
    python::python_environment("workflows", Path::new(".github/requirements.txt"))
}

/// Parses the Bicep and Terraform modules of the identity, and compares them.
pub(crate) fn check_identity() -> Result<(), Failed> {
    let mut check = Command::new(zizmor()?.join("bin/python"));
    output(check.arg("packaging/identity/check.py").current_dir(root())).map(|_| ())
}

/// Looks for injections, excess permissions and unpinned actions in workflows.
pub(crate) fn audit_workflows() -> Result<(), Failed> {
    let mut audit = Command::new(zizmor()?.join("bin/zizmor"));
    audit.args(["--offline", "--no-progress", "--quiet", "--no-config"]).current_dir(root());
    output(audit.args([".github/workflows", "packaging/pipelines/github-actions.yaml"])).map(|_| ())
}
