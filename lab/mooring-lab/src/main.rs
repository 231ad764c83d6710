//! Lab of Mooring: the demo, and a simulator of Azure, Kubernetes and Karpenter.
//!
//! The nodes and operators of the demo run this binary by links with the names of the programs that are shipped:
//! `mooring` and `aks-node-controller`.

mod demo;
mod failure;
mod scenarios;
mod sim;

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use mooring_agent::world::Host;
use mooring_demo::{AGENT, MOORING};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};

use crate::failure::LabFailure;

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

fn build_runtime() -> Result<Runtime, LabFailure> {
    Ok(Builder::new_multi_thread().worker_threads(2).enable_all().build()?)
}

/// Returns the end of a command: Ctrl-C or SIGTERM, which are received from now on.
fn stop_signal() -> io::Result<impl Future<Output = ()>> {
    let mut interrupted = signal(SignalKind::interrupt())?;
    let mut terminated = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupted.recv() => {}
            _ = terminated.recv() => {}
        }
    })
}

fn parse_speed(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(speed) if speed.is_finite() && speed > 0.0 => Ok(speed),
        _ => Err("must be a number above 0, such as 1 or 60".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::{Cli, parse_speed};

    #[test]
    fn command_definition_is_valid() {
        Cli::command().debug_assert();
    }

    #[test]
    fn speed_is_a_finite_number_above_zero() {
        assert_eq!([parse_speed("60"), parse_speed("0.5")], [Ok(60.0), Ok(0.5)]);
        for text in ["0", "-1", "nan", "inf", "fast", ""] {
            assert!(parse_speed(text).is_err_and(|error| error.contains("above 0")), "{text}");
        }
    }
}
