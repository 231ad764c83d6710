//! Where the kube-apiserver lies.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::StartError;

/// The ecosystem's name for a folder with a kube-apiserver in it.
const ASSETS: &str = "KUBEBUILDER_ASSETS";
/// Set by `cargo xtask test --quick`, which runs no real server.
const QUICK: &str = "MOORING_TEST_QUICK";

/// The kube-apiserver to use, or nothing where none was built. One that is named and is not there is an error:
/// whoever names one wants it used.
pub(crate) fn apiserver() -> Result<Option<PathBuf>, StartError> {
    if std::env::var_os(QUICK).is_some() {
        return Ok(None);
    }
    if let Some(folder) = std::env::var_os(ASSETS).filter(|folder| !folder.is_empty()) {
        let program = Path::new(&folder).join("kube-apiserver");
        return if program.is_file() {
            Ok(Some(program))
        } else {
            Err(StartError::NotThere(program))
        };
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/kube-assets");
    let Ok(told) = Command::new(script).arg("--where").output() else { return Ok(None) };
    let folder = String::from_utf8_lossy(&told.stdout).trim().to_owned();
    let program = Path::new(&folder).join("kube-apiserver");
    Ok(program.is_file().then_some(program))
}
