//! `mooring-lab demo`.

use std::path::PathBuf;

use clap::Args;
use mooring_demo::{DemoOptions, DemoStyle, Output, Scenario, ScenarioError};

use crate::failure::{LabFailure, print, style_of};
use crate::scenarios::{self, print_scenarios};
use crate::sim::parse_speed;

pub(crate) const DEMO_HELP: &str = "\
Examples:
  mooring-lab demo            run the default scenario, in under a minute
  mooring-lab demo --list     list the built-in scenarios
  mooring-lab demo --scenario budget-blocks
  mooring-lab demo --show healthy-boot > my.yaml
  mooring-lab demo --scenario ./my.yaml
  mooring-lab demo --keep     keep everything running for kubectl and mooring

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
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = parse_speed)]
    speed: f64,
    /// Random seed, for reproducible names
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

pub(crate) fn demo(arguments: DemoArguments) -> Result<(), LabFailure> {
    if arguments.list {
        return print_scenarios(Scenario::list());
    }
    let usage = |error: ScenarioError| match &error {
        ScenarioError::Unknown(name) => {
            scenarios::unknown(name, Scenario::list().map(|(known, _)| known), "demo", &error)
        }
        _ => LabFailure::usage(&error),
    };
    if let Some(name) = &arguments.show {
        return print(Scenario::text_of(name).map_err(usage)?);
    }
    let options = DemoOptions {
        scenario: Scenario::find(&arguments.scenario).map_err(usage)?,
        name: arguments.scenario,
        programs: std::env::current_exe()?,
        speed: arguments.speed,
        seed: arguments.seed,
        keep: arguments.keep,
        out: arguments.out,
    };
    mooring::build_server_runtime()?.block_on(run(&options))
}

async fn run(options: &DemoOptions) -> Result<(), LabFailure> {
    let stop = mooring::stop_signal()?;
    let style = style_of(&std::io::stdout());
    let style = DemoStyle::new(style.width, style.color);
    let mut output = Output::new(Box::new(std::io::stdout()), style);
    Ok(Box::pin(mooring_demo::run(options, &mut output, stop)).await?)
}
