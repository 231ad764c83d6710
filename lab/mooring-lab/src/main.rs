//! Lab of Mooring: the demo, and a simulator of Azure, Kubernetes and Karpenter.
//!
//! The nodes and operators of the demo run this binary by links with the names of the programs that are shipped:
//! `mooring` and `aks-node-controller`.

mod demo;
mod failure;
mod scenarios;
mod sim;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use mooring_agent::world::Host;
use mooring_demo::{AGENT, MOORING};

/// Run the demo of Mooring, or a simulator of Azure, Kubernetes and Karpenter
#[derive(Debug, Parser)]
#[command(name = "mooring-lab", version, max_term_width = 100, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run an end-to-end demo on this machine
    #[command(after_help = demo::DEMO_HELP)]
    Demo(demo::DemoArguments),
    /// Run a local simulator of the Azure and Kubernetes APIs
    #[command(after_help = sim::SIM_EXAMPLES)]
    Sim(sim::SimArguments),
}

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    let program = words.first().and_then(|path| Path::new(path).file_name()?.to_str());
    match program {
        Some(MOORING) => mooring::main(),
        Some(AGENT) => ExitCode::from(mooring_agent::run(&words[1..], &mut Host::of_own_process())),
        _ => run(),
    }
}

fn run() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Demo(arguments) => demo::demo(arguments),
        Command::Sim(arguments) => sim::sim(&arguments),
    };
    done.map_or_else(|failure| failure.report(), |()| ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::Cli;

    #[test]
    fn command_definition_is_valid() {
        Cli::command().debug_assert();
    }
}
