//! From a command to what it does, and to an exit code.

use std::process::ExitCode;

use crate::cli::Command;
use crate::{
    bundle, codes, controller, demo, documents, explain, finalizers, repair, sim, trace, why,
};

pub(crate) fn run(command: Command) -> ExitCode {
    let done = match command {
        Command::Explain(arguments) => explain::explain(&arguments),
        Command::Codes(arguments) => codes::codes(&arguments),
        Command::Fleet(arguments) => why::fleet(&arguments),
        Command::Controller(arguments) => controller::controller(&arguments),
        Command::Trace(arguments) => trace::trace(&arguments),
        Command::Bundle(arguments) => bundle::bundle(&arguments),
        Command::Sim(arguments) => sim::sim(&arguments),
        Command::Completions { shell } => documents::completions(shell),
        Command::Man(arguments) => documents::manual(&arguments),
        // These have more to say than that they are done.
        Command::Repair(arguments) => return repair::repair(&arguments),
        Command::Demo(arguments) => {
            return demo::demo(arguments).unwrap_or_else(|failure| failure.report());
        }
        Command::Finalizers(arguments) => return finalizers::finalizers(&arguments),
        Command::Why(arguments) => {
            return why::why(&arguments).unwrap_or_else(|failure| failure.report());
        }
        Command::Agent { words } => {
            // The node agent, inside this binary: simulated nodes run it.
            let mut host = mooring_agent::world::Host::of_own_process();
            return ExitCode::from(mooring_agent::run(&words, &mut host));
        }
    };
    done.map_or_else(|failure| failure.report(), |()| ExitCode::SUCCESS)
}
