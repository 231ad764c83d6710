//! Judges that are not ours: Microsoft's Python clients, in an environment of their own under `target/`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::step::{Failed, fetch, root, run, say};

const REQUIREMENTS: &str = "crates/simulator/tests/oracles/requirements.txt";

/// Installs the clients once per list of them. Without Python the tests say loudly what they skip.
pub(crate) fn install() -> Result<(), Failed> {
    let folder = environment()?;
    if folder.join("complete").exists() {
        return show(&folder);
    }
    let has_python = Command::new("python3").args(["-c", "import venv, ensurepip"]).output();
    if !has_python.is_ok_and(|output| output.status.success()) {
        say(
            "xtask: WARNING: no Python 3 with venv: Microsoft's clients will not judge the simulator\n",
        );
        return Ok(());
    }
    say("xtask: installing Microsoft's Python clients, which judge the simulator\n");
    let path = folder.to_string_lossy().into_owned();
    run("python3", &["-m", "venv", "--clear", &path])?;
    let pip = folder.join("bin/pip").to_string_lossy().into_owned();
    fetch(
        &pip,
        &["install", "--quiet", "--disable-pip-version-check", "--requirement", REQUIREMENTS],
    )?;
    // Last, so that an installation that broke off is made again.
    std::fs::create_dir(folder.join("complete"))?;
    show(&folder)
}

/// Puts the environment where the tests look for it: `target/oracles/azure`.
fn show(folder: &Path) -> Result<(), Failed> {
    let link = folder.with_file_name("azure");
    let _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink(folder, &link)?;
    Ok(())
}

/// Where the clients of this list are.
fn environment() -> Result<PathBuf, Failed> {
    let requirements = std::fs::read(root().join(REQUIREMENTS))?;
    // FNV-1a: another set of clients is another environment.
    let hash = requirements.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    Ok(target.join(format!("oracles/{hash:016x}")))
}
