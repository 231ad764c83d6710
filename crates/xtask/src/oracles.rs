//! Reference clients: Microsoft's Python clients, in a separate environment under `target/`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::python;
use crate::step::{Failed, root};

const REQUIREMENTS: &str = "crates/simulator/tests/oracles/requirements.txt";

/// Installs the clients where the tests expect them: `target/oracles/azure`.
pub(crate) fn install() -> Result<(), Failed> {
    let environment = python::python_environment("azure", Path::new(REQUIREMENTS))?;
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    fs::create_dir_all(target.join("oracles"))?;
    let link = target.join("oracles/azure");
    let _ = fs::remove_file(&link);
    std::os::unix::fs::symlink(environment, &link)?;
    Ok(())
}
