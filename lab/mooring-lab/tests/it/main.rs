//! Tests with the built binary.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::format_push_string,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod demo;
mod documents;
mod programs;
mod sim;
mod sim_cluster;
mod site;

use std::path::Path;
use std::process::Command;

const LAB: &str = env!("CARGO_BIN_EXE_mooring-lab");

fn lab() -> Command {
    Command::new(LAB)
}

/// Creates links with the names of the programs that the binary contains.
fn link_programs(directory: &Path) {
    for name in ["mooring", "mooring-lab", "aks-node-controller"] {
        std::os::unix::fs::symlink(LAB, directory.join(name)).unwrap();
    }
}
