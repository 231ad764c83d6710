//! From a command to what it does, and to an exit code.

use std::process::ExitCode;

use crate::cli::Command;
use crate::{codes, controller, documents, explain, finalizers, repair, sim, why};

/// Runs a command.
pub(crate) fn run(command: Command) -> ExitCode {
    let done = match command {
        Command::Explain(arguments) => explain::explain(&arguments),
        Command::Codes(arguments) => codes::codes(&arguments),
        Command::Fleet(arguments) => why::fleet(&arguments),
        Command::Controller(arguments) => controller::controller(&arguments),
        Command::Sim(arguments) => sim::sim(&arguments),
        Command::Completions { shell } => documents::completions(shell),
        Command::Man => documents::manual(),
        // These have more to say than that they are done.
        Command::Repair(arguments) => return repair::repair(&arguments),
        Command::Finalizers(arguments) => return finalizers::finalizers(&arguments),
        Command::Why(arguments) => {
            return why::why(&arguments).unwrap_or_else(|failure| failure.report());
        }
        Command::Agent { words } => {
            // The node agent, inside this binary: simulated nodes run it.
            let mut host = mooring_agent::world::Host::default();
            return ExitCode::from(mooring_agent::run(&words, &mut host));
        }
    };
    done.map_or_else(|failure| failure.report(), |()| ExitCode::SUCCESS)
}
