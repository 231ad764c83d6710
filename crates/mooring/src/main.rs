//! The operator's command line: wiring.

mod cli;
mod codes;
mod documents;
mod explain;
mod failure;
mod show;
mod sim;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser as _;

use cli::{Cli, Command};

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Explain(arguments) => explain::explain(&arguments),
        Command::Codes(arguments) => codes::codes(&arguments),
        Command::Sim(arguments) => sim::sim(&arguments),
        Command::Completions { shell } => documents::completions(shell),
        Command::Man => documents::manual(),
        Command::Agent { words } => return agent(&words),
    };
    done.map_or_else(|failure| failure.report(), |()| ExitCode::SUCCESS)
}

/// The node agent, inside this binary: simulated nodes run it.
fn agent(words: &[OsString]) -> ExitCode {
    ExitCode::from(mooring_agent::run(words, &mut mooring_agent::world::Host::default()))
}
