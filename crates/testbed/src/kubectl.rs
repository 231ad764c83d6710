//! The real `kubectl`.

use std::path::PathBuf;

/// Names the Python environment that has `kubectl`; `cargo xtask test` sets it.
const ENVIRONMENT: &str = "MOORING_CLIENTS_ENVIRONMENT";

/// Finds `kubectl`: the one that the tests install, or else the first on `PATH`.
pub fn find_kubectl() -> Option<PathBuf> {
    let installed = std::env::var_os(ENVIRONMENT).map(|place| PathBuf::from(place).join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = installed.into_iter().chain(std::env::split_paths(&path));
    places.map(|place| place.join("kubectl")).find(|program| program.is_file())
}
