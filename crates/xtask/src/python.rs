//! Python environments for the clients that tests are judged by.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::step::{Failed, fetch, install_package, root, run, say, write};

/// An environment with exactly what a requirements file names, made once for each content of that file.
pub(crate) fn python_environment(name: &str, requirements: &Path) -> Result<PathBuf, Failed> {
    let wanted = fs::read(root().join(requirements))?;
    let environment =
        root().canonicalize()?.join(format!("target/python/{name}-{:016x}", hash(&wanted)));
    let ready = environment.join("ready");
    if ready.exists() {
        return Ok(environment);
    }
    if !is_there() {
        return Err(Failed("python3 with venv is missing".to_owned()));
    }
    say(&format!("xtask: installing what {} names\n", requirements.display()));
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

/// Whether there is a Python that makes environments. Debian keeps what it needs for that in a package of its own.
fn is_there() -> bool {
    let runs = |arguments: &[&str]| {
        Command::new("python3").args(arguments).output().is_ok_and(|told| told.status.success())
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
