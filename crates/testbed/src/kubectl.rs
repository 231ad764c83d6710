//! Finds the real `kubectl`.

use std::path::PathBuf;

use crate::tool::find_program;

/// Directory of the Python environment with `kubectl`; set by `cargo xtask test`.
const ENVIRONMENT: &str = "MOORING_CLIENTS_ENVIRONMENT";

/// Returns the `kubectl` that the tests install, or else the first on `PATH`.
pub fn find_kubectl() -> Option<PathBuf> {
    let place = std::env::var_os(ENVIRONMENT).map(|place| PathBuf::from(place).join("bin/kubectl"));
    place.filter(|program| program.is_file()).or_else(|| find_program("kubectl"))
}
