//! `mooring sim`.

use std::net::SocketAddr;

use mooring_simulator::karpenter;
use mooring_simulator::scenario::Scenario;
use mooring_simulator::sim::{self, Settings, Simulation};
use tokio::signal::unix::{SignalKind, signal};

use crate::cli::SimArguments;
use crate::failure::Failure;
use crate::show::print;

pub(crate) fn sim(arguments: &SimArguments) -> Result<(), Failure> {
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

/// Returns a built-in scenario, or reads a file if the name has a `/` or a `.`.
fn load_scenario(wanted: &str) -> Result<Scenario, Failure> {
    let is_file = wanted.contains(['/', '.']);
    let read = if is_file {
        let text = std::fs::read_to_string(wanted)
            .map_err(|error| Failure::io(format!("cannot read {wanted}: {error}")))?;
        Scenario::parse(wanted, &text)
    } else {
        Scenario::named(wanted)
    };
    read.map_err(|error| Failure::usage(error.to_string()))
}

async fn serve(settings: Settings) -> Result<(), Failure> {
    let mut interrupted = signal(SignalKind::interrupt())?;
    let mut terminated = signal(SignalKind::terminate())?;
    let simulation: Simulation =
        sim::start(settings).await.map_err(|error| Failure::io(error.to_string()))?;
    print(format!("ready {}\n", simulation.url()).as_bytes())?;
    tokio::select! {
        _ = interrupted.recv() => {}
        _ = terminated.recv() => {}
    }
    simulation.stop().await;
    Ok(())
}
