//! Python environments for the reference clients of tests: Helm, and Microsoft's clients of Azure.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::step::{Failed, fetch, install_package, print, root, run, write};

const ORACLES: &str = "lab/simulator/tests/external/oracles/requirements.txt";

/// Creates an environment with exactly the given requirements, once for each content of that file.
pub(crate) fn python_environment(name: &str, requirements: &Path) -> Result<PathBuf, Failed> {
    let wanted = fs::read(root().join(requirements))?;
    let environment =
        root().canonicalize()?.join(format!("target/python/{name}-{:016x}", hash(&wanted)));
    let ready = environment.join("ready");
    if ready.exists() {
        return Ok(environment);
    }
    if !can_create_environments() {
        return Err(Failed("python3 with venv is missing".to_owned()));
    }
    print(&format!("xtask: installing what {} names\n", requirements.display()));
    if environment.exists() {
        fs::remove_dir_all(&environment)?;
    }
    let text = environment.display().to_string();
    run("python3", &["-m", "venv", &text])?;
    let pip = environment.join("bin/pip").display().to_string();
    let requirements = requirements.display().to_string();
    fetch(&pip, &["install", "--quiet", "--disable-pip-version-check", "-r", &requirements])?;
    write(&ready, "")?;
    Ok(environment)
}

/// Installs Microsoft's Python clients where the tests expect them: `target/oracles/azure`.
pub(crate) fn install_oracles() -> Result<(), Failed> {
    let environment = python_environment("azure", Path::new(ORACLES))?;
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    fs::create_dir_all(target.join("oracles"))?;
    let link = target.join("oracles/azure");
    let _ = fs::remove_file(&link);
    std::os::unix::fs::symlink(environment, &link)?;
    Ok(())
}

/// Returns true if Python can create environments. Debian has a separate package for that.
fn can_create_environments() -> bool {
    let runs = |arguments: &[&str]| {
        Command::new("python3").args(arguments).output().is_ok_and(|output| output.status.success())
    };
    let makes_environments = || runs(&["-c", "import venv, ensurepip"]);
    runs(&["--version"])
        && (makes_environments()
            || (install_package("python3-venv").is_ok() && makes_environments()))
}

/// FNV-1a.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
