//! `mooring-lab sim`.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use clap::Args;
use mooring_simulator::karpenter;
use mooring_simulator::scenario::Scenario;
use mooring_simulator::sim::{self, Simulation, SimulationSettings};
use rustix::process::{Pid, test_kill_process};

use crate::failure::{LabFailure, print};
use crate::scenarios::{self, print_scenarios};

pub(crate) const SIM_EXAMPLES: &str = "\
Examples:
  mooring-lab sim --list
  mooring-lab sim --show oras-missing > own.yaml
  mooring-lab sim --scenario wedged-system-pool --state demo &
  until [ -e demo/env.sh ] && . demo/env.sh; do sleep 0.1; done
  mooring-lab sim --scenario oras-missing --kube-port 0 --state demo &
  kubectl --kubeconfig demo/kubeconfig get nodes,nodeclaims

Prints `ready https://127.0.0.1:PORT` when the files are written and all ports
accept connections. Stop it with Ctrl-C or SIGTERM.

env.sh fails, and sets nothing, after its simulator has stopped. A directory is
used by one simulator at a time.

GET /admin/ on the same port lists the faults that can be injected:
  curl --cacert demo/ca.pem -H \"Authorization: Bearer $MOORING_SIM_TOKEN\" \\
    \"$AZURE_RESOURCE_MANAGER_ENDPOINT/admin/\"

Secrets are random for every run. Only env.sh and kubeconfig (mode 0600) have
them.";

#[derive(Debug, Args)]
pub(crate) struct SimArguments {
    /// List the built-in scenarios
    #[arg(long, conflicts_with = "show")]
    pub(crate) list: bool,
    /// Print the YAML of a built-in scenario, as a start for your own
    #[arg(long, value_name = "NAME")]
    pub(crate) show: Option<String>,
    /// Built-in scenario, or a YAML file (a path with a / or a .)
    #[arg(long, value_name = "NAME|FILE", default_value = "healthy")]
    pub(crate) scenario: String,
    /// Port to listen on; 0 picks a free port
    #[arg(long, default_value_t = 0)]
    pub(crate) port: u16,
    /// Address to listen on
    #[arg(long, default_value = "127.0.0.1")]
    pub(crate) address: IpAddr,
    /// Speed-up factor (60 = one minute per second)
    #[arg(long, default_value_t = 60.0, value_parser = parse_speed)]
    pub(crate) speed: f64,
    /// Port of the Kubernetes API; 0 picks a free port [default: not served]
    #[arg(long, value_name = "PORT")]
    pub(crate) kube_port: Option<u16>,
    /// Run the Karpenter simulator in the cluster
    #[arg(long)]
    pub(crate) karpenter: bool,
    /// Directory for ca.pem, env.sh and, with --kube-port, kubeconfig
    #[arg(long, value_name = "DIR", default_value = "mooring-sim")]
    pub(crate) state: PathBuf,
    /// Random seed, for reproducible runs
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

pub(crate) fn sim(arguments: &SimArguments) -> Result<(), LabFailure> {
    if arguments.list {
        return list();
    }
    if let Some(name) = &arguments.show {
        return print(Scenario::text_of(name).map_err(|error| unknown(name, &error))?);
    }
    ensure_unused(&arguments.state)?;
    let settings = SimulationSettings {
        scenario: load_scenario(&arguments.scenario)?,
        address: SocketAddr::new(arguments.address, arguments.port),
        state: arguments.state.clone(),
        speed: arguments.speed,
        seed: arguments.seed,
        kube_port: arguments.kube_port,
        karpenter: arguments.karpenter.then(karpenter::KarpenterOptions::default),
    };
    mooring::build_server_runtime()?.block_on(serve(settings))
}

fn list() -> Result<(), LabFailure> {
    let description = |name| Scenario::named(name).map(|scenario| (name, scenario.description));
    let scenarios: Result<Vec<_>, _> = Scenario::names().map(description).collect();
    print_scenarios(scenarios.map_err(|error| LabFailure::io(&error))?)
}

fn unknown(name: &str, error: &impl std::fmt::Display) -> LabFailure {
    scenarios::unknown(name, Scenario::names(), "sim", error)
}

/// Returns an error if another simulator uses the directory: its clients would trust the wrong certificate.
fn ensure_unused(state: &Path) -> Result<(), LabFailure> {
    let other = sim::owner(state).filter(|pid| *pid != std::process::id());
    let pid = other.and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
    match pid.filter(|pid| test_kill_process(*pid).is_ok()) {
        Some(pid) => Err(LabFailure::io(&format!(
            "directory {} is in use by another simulator (pid {})\nhint: stop it, or set --state DIR",
            state.display(),
            pid.as_raw_nonzero()
        ))),
        None => Ok(()),
    }
}

/// Returns a built-in scenario, or reads a file if the name has a `/` or a `.`.
fn load_scenario(wanted: &str) -> Result<Scenario, LabFailure> {
    let is_file = wanted.contains(['/', '.']);
    if !is_file {
        return Scenario::named(wanted).map_err(|error| unknown(wanted, &error));
    }
    let text = std::fs::read_to_string(wanted)
        .map_err(|error| LabFailure::io(&format!("cannot read {wanted}: {error}")))?;
    Scenario::parse(wanted, &text).map_err(|error| LabFailure::usage(&error))
}

async fn serve(settings: SimulationSettings) -> Result<(), LabFailure> {
    let state = settings.state.clone();
    let stop = mooring::stop_signal()?;
    let simulation: Simulation =
        sim::start(settings).await.map_err(|error| LabFailure::io(&error))?;
    print(&format!("ready {}\n", simulation.url()))?;
    stop.await;
    sim::remove_environment(&state);
    simulation.stop().await;
    Ok(())
}

pub(crate) fn parse_speed(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(speed) if speed.is_finite() && speed > 0.0 => Ok(speed),
        _ => Err("must be a number above 0, such as 1 or 60".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::parse_speed;

    #[test]
    fn speed_is_a_finite_number_above_zero() {
        assert_eq!([parse_speed("60"), parse_speed("0.5")], [Ok(60.0), Ok(0.5)]);
        for text in ["0", "-1", "nan", "inf", "fast", ""] {
            assert!(parse_speed(text).is_err_and(|error| error.contains("above 0")), "{text}");
        }
    }
}
