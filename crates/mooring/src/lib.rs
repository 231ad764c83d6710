//! Command line of Mooring.
//!
//! `cli` parses the command line and runs a command. Commands import `cluster`, `arguments`, `process` and `output`, and
//! never `cli`.

mod about;
mod answers;
mod arguments;
mod cli;
mod cluster;
mod controller;
mod doctor;
mod evidence;
mod explain;
#[cfg(test)]
#[path = "../tests/common/fixtures.rs"]
mod fixtures;
mod output;
mod process;
mod ui;
mod workflows;

use std::process::ExitCode;

pub use process::{build_server_runtime, stop_signal};

/// Runs the command of this process.
#[must_use]
pub fn main() -> ExitCode {
    // The message of a panic may contain a secret; its location cannot.
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map_or_else(String::new, ToString::to_string);
        let text = format!(
            "internal error at {place}\nhint: please report this, with the command that you ran"
        );
        let _ = output::failure::CommandFailure::io(text).report();
    }));
    let cli = match cli::parser::parse() {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    output::init(cli.output);
    // The controller has its own log.
    if cli.output.verbose && !matches!(cli.command, Some(cli::parser::Command::Controller(_))) {
        let lines = mooring_controller::metrics::log::request_lines(std::io::stderr);
        let _ = tracing::subscriber::set_global_default(lines);
    }
    match cli.command {
        Some(command) => cli::run(command),
        None => cli::run_without_command(cli.early),
    }
}
