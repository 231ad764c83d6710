//! `mooring demo`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use mooring_demo::{DemoError, DemoOptions, DemoStyle, Output, Scenario, ScenarioError};

use crate::output::failure::CommandFailure;
use crate::output::show::print;
use crate::process::{build_server_runtime, stop_signal};
use crate::simulate::scenarios::{self, print_scenarios};

pub(crate) const DEMO_HELP: &str = "\
Examples:
  mooring demo                 run the default scenario, in under a minute
  mooring demo --list          list the built-in scenarios
  mooring demo --scenario budget-blocks
  mooring demo --show healthy-boot > my.yaml
  mooring demo --scenario ./my.yaml
  mooring demo --keep          keep everything running for kubectl and mooring

Requires no Azure, no cluster and no root access. Listens on free ports of the
loopback interface. Writes a temporary directory, and mooring-demo.html to the
current directory.

Exits with 0 if the scenario passed, with 1 if it failed, and with 3 on I/O
errors and timeouts.";

#[derive(Debug, Args)]
pub(crate) struct DemoArguments {
    /// Built-in scenario, or a YAML file (a path with a / or a .)
    #[arg(long, value_name = "NAME|FILE", default_value = "first-five-minutes")]
    scenario: String,
    /// List the built-in scenarios
    #[arg(long, conflicts_with_all = ["show", "keep"])]
    list: bool,
    /// Print a built-in scenario, as a template for your own
    #[arg(long, value_name = "NAME", conflicts_with = "keep")]
    show: Option<String>,
    /// Keep everything running at the end, until Ctrl-C
    #[arg(long)]
    keep: bool,
    /// Directory for nodes, logs and the report
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Speed-up factor (2 = twice as fast as the scenario)
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = crate::simulate::speed::parse_speed)]
    speed: f64,
    /// Random seed, for reproducible names
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

pub(crate) fn demo(arguments: DemoArguments) -> Result<ExitCode, CommandFailure> {
    if arguments.list {
        print_scenarios(Scenario::list())?;
        return Ok(ExitCode::SUCCESS);
    }
    let usage = |error: ScenarioError| match &error {
        ScenarioError::Unknown(name) => {
            scenarios::unknown(name, Scenario::list().map(|(known, _)| known), "demo", &error)
        }
        _ => CommandFailure::usage(error.to_string()),
    };
    if let Some(name) = &arguments.show {
        print(Scenario::text_of(name).map_err(usage)?.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let options = DemoOptions {
        scenario: Scenario::find(&arguments.scenario).map_err(usage)?,
        name: arguments.scenario,
        mooring: std::env::current_exe()?,
        speed: arguments.speed,
        seed: arguments.seed,
        keep: arguments.keep,
        out: arguments.out,
    };
    build_server_runtime()?.block_on(run(&options)).map(|()| ExitCode::SUCCESS)
}

async fn run(options: &DemoOptions) -> Result<(), CommandFailure> {
    let stop = stop_signal()?;
    let mut output = Output::new(Box::new(std::io::stdout()), DemoStyle::of_stdout());
    let result = Box::pin(mooring_demo::run(options, &mut output, stop)).await;
    result.map_err(|error: DemoError| {
        CommandFailure::io(format!("demo: {error}")).with_code(error.exit_code())
    })
}
