//! What lies under `packaging/` keeps its promises.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::step::{Failed, need, root, say};

/// Stages the unit as an image has it, and lets systemd judge it. Any word of it is a failure.
pub(crate) fn verify_unit() -> Result<(), Failed> {
    const UNIT: &str = "aks-node-controller.service";
    need("systemd-analyze", "systemd")?;
    let stage = root().join("target/staged-image");
    if stage.exists() {
        fs::remove_dir_all(&stage)?;
    }
    let packaging = root().join("packaging");
    let place = |from: &Path, to: &str| -> Result<(), Failed> {
        let to = stage.join(to);
        fs::create_dir_all(to.parent().unwrap_or(&stage))?;
        fs::copy(from, to)?;
        Ok(())
    };
    place(&packaging.join(UNIT), &format!("etc/systemd/system/{UNIT}"))?;
    let launcher = "aks-node-controller-launcher.sh";
    place(&packaging.join(launcher), &format!("opt/azure/containers/{launcher}"))?;
    let verdict = Command::new("systemd-analyze")
        .arg("verify")
        .arg("--root")
        .arg(&stage)
        .arg(UNIT)
        .output()?;
    let said = [verdict.stdout, verdict.stderr].concat();
    if !verdict.status.success() || !said.is_empty() {
        let said = String::from_utf8_lossy(&said).into_owned();
        return Err(Failed(format!("systemd does not like packaging/{UNIT}:\n{said}")));
    }
    say(&format!("packaging/{UNIT}: systemd has nothing to say against it\n"));
    Ok(())
}
