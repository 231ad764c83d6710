//! The operator's command line: wiring.

mod cli;
mod codes;
mod explain;
mod failure;
mod show;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

use cli::{Cli, Command};
use failure::Failure;

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Explain(arguments) => explain::explain(&arguments),
        Command::Codes(arguments) => codes::codes(&arguments),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "mooring", &mut script);
            show::print(&script)
        }
        Command::Man => manual().and_then(|page| show::print(&page)),
        Command::Agent { words } => return agent(&words),
    };
    done.map_or_else(|failure| failure.report(), |()| ExitCode::SUCCESS)
}

fn manual() -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    clap_mangen::Man::new(Cli::command()).render(&mut page)?;
    Ok(page)
}

/// The node agent, inside this binary: simulated nodes run it.
fn agent(words: &[OsString]) -> ExitCode {
    ExitCode::from(mooring_agent::run(words, &mut mooring_agent::world::Host::default()))
}
