//! Finds the real `kubectl`.

use std::path::PathBuf;

/// Directory of the Python environment with `kubectl`; set by `cargo xtask test`.
const ENVIRONMENT: &str = "MOORING_CLIENTS_ENVIRONMENT";

/// Returns the `kubectl` that the tests install, or else the first on `PATH`.
pub fn find_kubectl() -> Option<PathBuf> {
    let installed = std::env::var_os(ENVIRONMENT).map(|place| PathBuf::from(place).join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = installed.into_iter().chain(std::env::split_paths(&path));
    places.map(|place| place.join("kubectl")).find(|program| program.is_file())
}
