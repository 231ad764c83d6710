//! `mooring sim`.

use std::net::SocketAddr;
use std::path::Path;

use mooring_simulator::karpenter;
use mooring_simulator::scenario::Scenario;
use mooring_simulator::sim::{self, Settings, Simulation};
use mooring_terminal::{Column, Screen, Table, Text};
use rustix::process::{Pid, test_kill_process};
use tokio::signal::unix::{SignalKind, signal};

use crate::cli::SimArguments;
use crate::failure::Failure;
use crate::output::print_screen;
use crate::show::print;
use crate::suggest;

pub(crate) fn sim(arguments: &SimArguments) -> Result<(), Failure> {
    if arguments.list {
        return list();
    }
    if let Some(name) = &arguments.show {
        return print(Scenario::text_of(name).map_err(|error| unknown(name, &error))?.as_bytes());
    }
    ensure_unused(&arguments.state)?;
    let settings = Settings {
        scenario: load_scenario(&arguments.scenario)?,
        address: SocketAddr::new(arguments.address, arguments.port),
        state: arguments.state.clone(),
        speed: arguments.speed,
        seed: arguments.seed,
        kube_port: arguments.kube_port,
        karpenter: arguments.karpenter.then(karpenter::Options::default),
    };
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(serve(settings))
}

fn list() -> Result<(), Failure> {
    let mut table = Table::new([Column::left("NAME"), Column::left("DESCRIPTION").shortened(20)]);
    for name in Scenario::names() {
        let scenario = Scenario::named(name).map_err(|error| Failure::io(error.to_string()))?;
        table.row([Text::new(name), Text::new(scenario.description)]);
    }
    let mut screen = Screen::default();
    screen.table(table);
    print_screen(&screen)
}

fn unknown(name: &str, error: &impl std::fmt::Display) -> Failure {
    let hint = suggest::hint(name, Scenario::names(), "mooring sim --scenario");
    Failure::unknown_name(match hint {
        Some(hint) => format!("{error}\n{hint}"),
        None => error.to_string(),
    })
}

/// Returns an error if another simulator uses the directory: its clients would trust the wrong certificate.
fn ensure_unused(state: &Path) -> Result<(), Failure> {
    let other = sim::owner(state).filter(|pid| *pid != std::process::id());
    let pid = other.and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
    match pid.filter(|pid| test_kill_process(*pid).is_ok()) {
        Some(pid) => Err(Failure::io(format!(
            "directory {} is in use by another simulator (pid {})\nhint: stop it, or set --state DIR",
            state.display(),
            pid.as_raw_nonzero()
        ))),
        None => Ok(()),
    }
}

/// Returns a built-in scenario, or reads a file if the name has a `/` or a `.`.
fn load_scenario(wanted: &str) -> Result<Scenario, Failure> {
    let is_file = wanted.contains(['/', '.']);
    if !is_file {
        return Scenario::named(wanted).map_err(|error| unknown(wanted, &error));
    }
    let text = std::fs::read_to_string(wanted)
        .map_err(|error| Failure::io(format!("cannot read {wanted}: {error}")))?;
    Scenario::parse(wanted, &text).map_err(|error| Failure::usage(error.to_string()))
}

async fn serve(settings: Settings) -> Result<(), Failure> {
    let state = settings.state.clone();
    let mut interrupted = signal(SignalKind::interrupt())?;
    let mut terminated = signal(SignalKind::terminate())?;
    let simulation: Simulation =
        sim::start(settings).await.map_err(|error| Failure::io(error.to_string()))?;
    print(format!("ready {}\n", simulation.url()).as_bytes())?;
    tokio::select! {
        _ = interrupted.recv() => {}
        _ = terminated.recv() => {}
    }
    sim::remove_environment(&state);
    simulation.stop().await;
    Ok(())
}
