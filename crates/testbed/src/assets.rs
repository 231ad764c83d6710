//! Finds the kube-apiserver.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::ServerStartError;

/// Conventional variable for the directory of a kube-apiserver.
const ASSETS: &str = "KUBEBUILDER_ASSETS";
/// Set by `cargo xtask test --quick`, which runs no real server.
const QUICK: &str = "MOORING_TEST_QUICK";

/// Returns the kube-apiserver to use, or `None` if none was built. A missing file in a given directory is an error.
pub(crate) fn apiserver() -> Result<Option<PathBuf>, ServerStartError> {
    if std::env::var_os(QUICK).is_some() {
        return Ok(None);
    }
    if let Some(folder) = std::env::var_os(ASSETS).filter(|folder| !folder.is_empty()) {
        let program = Path::new(&folder).join("kube-apiserver");
        return if program.is_file() {
            Ok(Some(program))
        } else {
            Err(ServerStartError::NotThere(program))
        };
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/kube-assets");
    let Ok(output) = Command::new(script).arg("--where").output() else { return Ok(None) };
    let folder = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let program = Path::new(&folder).join("kube-apiserver");
    Ok(program.is_file().then_some(program))
}
