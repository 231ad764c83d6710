//! `mooring demo`: wiring.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use mooring_demo::{DemoError, Options, Output, Scenario, Style};
use tokio::signal::unix::{SignalKind, signal};

use crate::failure::Failure;
use crate::show::print;

pub(crate) const DEMO_HELP: &str = "\
Examples:
  mooring demo                             the whole story, in under a minute
  mooring demo --list                      other stories (game days)
  mooring demo --scenario budget-blocks
  mooring demo --show healthy-boot > mine.yaml; mooring demo --scenario ./mine.yaml
  mooring demo --keep                      hold everything open for kubectl and mooring

Needs no Azure, no cluster and no root. Listens on free ports of loopback only; writes a temporary
folder and mooring-demo.html in the current one. Exits with 0 if the story came true, with 1 if
something else happened, and with 3 if something could not be started, read or written, or took
too long.";

#[derive(Debug, Args)]
pub(crate) struct DemoArguments {
    /// A built-in story, or a YAML file (a path with a / or a .)
    #[arg(long, value_name = "NAME|FILE", default_value = "first-five-minutes")]
    scenario: String,
    /// Name the built-in stories
    #[arg(long, conflicts_with_all = ["show", "keep"])]
    list: bool,
    /// Print a built-in story, to start one of your own from
    #[arg(long, value_name = "NAME", conflicts_with = "keep")]
    show: Option<String>,
    /// At the end, hold everything open until Ctrl-C
    #[arg(long)]
    keep: bool,
    /// Keep nodes, logs and the report in this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// How much faster than the story says things happen: 2 is twice as fast
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = crate::speed::speed)]
    speed: f64,
    /// What chance is drawn from: the same seed gives the same names
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

pub(crate) fn demo(arguments: DemoArguments) -> Result<ExitCode, Failure> {
    if arguments.list {
        let lines = Scenario::list().map(|(name, what)| format!("{name:<20} {}\n", what.trim()));
        print(lines.collect::<String>().as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let usage = |error: mooring_demo::ScenarioError| Failure::usage(error.to_string());
    if let Some(name) = &arguments.show {
        print(Scenario::text_of(name).map_err(usage)?.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let options = Options {
        scenario: Scenario::find(&arguments.scenario).map_err(usage)?,
        name: arguments.scenario,
        mooring: std::env::current_exe()?,
        speed: arguments.speed,
        seed: arguments.seed,
        keep: arguments.keep,
        out: arguments.out,
    };
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(run(&options)).map(|()| ExitCode::SUCCESS)
}

async fn run(options: &Options) -> Result<(), Failure> {
    let mut interrupted = signal(SignalKind::interrupt())?;
    let mut terminated = signal(SignalKind::terminate())?;
    let stop = async move {
        tokio::select! {
            _ = interrupted.recv() => {}
            _ = terminated.recv() => {}
        }
    };
    let mut output = Output::new(Box::new(std::io::stdout()), Style::of_stdout());
    let result = Box::pin(mooring_demo::run(options, &mut output, stop)).await;
    result.map_err(|error: DemoError| {
        Failure::unreadable(format!("demo: {error}")).with_code(error.exit_code())
    })
}
