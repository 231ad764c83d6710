//! Everything that a scenario needs: the simulated clouds, the VMs, the controller, and an observer.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use mooring_simulator::azure::Cse;
use mooring_simulator::karpenter;
use mooring_simulator::random::Random;
use mooring_simulator::sim::{self, Simulation};
use tokio::process::Child;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::commands::{Mooring, Programs, exported};
use crate::error::DemoError;
use crate::kubectl::Kubectl;
use crate::observer::Observer;
use crate::present::output::{DemoMark, Output, seconds};
use crate::present::result::ScenarioResult;
use crate::scenario::{ImageDefinition, Scenario};
use crate::vm::vms::{VmEvent, VmHost};

/// Timeout for the controller to acquire its Lease.
const ELECTION_TIMEOUT: Duration = Duration::from_mins(1);
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(30);

pub(crate) struct DemoEnvironment<'v> {
    pub(crate) output: &'v mut Output,
    pub(crate) result: ScenarioResult,
    pub(crate) simulation: Simulation,
    pub(crate) mooring: Mooring,
    pub(crate) kube: kube::Client,
    /// The real kubectl, if it is installed.
    pub(crate) kubectl: Option<Kubectl>,
    /// Its descriptions of failed NodeClaims, started while these existed: the name and the output.
    pub(crate) descriptions: JoinSet<(String, Result<String, String>)>,
    pub(crate) observer: Observer,
    pub(crate) news: UnboundedReceiver<VmEvent>,
    pub(crate) random: Random,
    /// Time of the wedge, for the timeline of the repair.
    pub(crate) struck: Option<Instant>,
    pub(crate) registry: Option<String>,
    pub(crate) images: BTreeMap<String, ImageDefinition>,
    /// Address of the controller's page.
    pub(crate) page: Option<String>,
    _room: JoinSet<()>,
    _controller: Child,
}

#[derive(Debug)]
pub struct DemoOptions {
    pub scenario: Scenario,
    pub name: String,
    /// Binary that is `mooring` or the agent, depending on the name of the link that starts it.
    pub programs: PathBuf,
    pub speed: f64,
    pub seed: u64,
    /// Keeps everything open at the end, until interrupted.
    pub keep: bool,
    /// Directory for nodes, logs and the report; without it, all but the report is temporary.
    pub out: Option<PathBuf>,
}

impl<'v> DemoEnvironment<'v> {
    /// Starts everything, with progress output.
    pub(crate) async fn set(
        options: &DemoOptions,
        directory: &Path,
        output: &'v mut Output,
    ) -> Result<Self, DemoError> {
        let began = Instant::now();
        let scenario = &options.scenario;
        let state = directory.join("azure");
        let simulation = sim::start(sim::SimulationSettings {
            scenario: scenario.cluster.clone(),
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            state: state.clone(),
            speed: scenario.speed * options.speed,
            seed: options.seed,
            kube_port: Some(0),
            karpenter: Some(karpenter_options(scenario)),
        })
        .await
        .map_err(|error| DemoError::broken("the simulated Azure", error))?;
        let environment = std::fs::read_to_string(state.join("env.sh"))
            .map_err(|error| DemoError::broken("env.sh", error))?;
        let programs = Programs::link(&options.programs, &directory.join("bin"))?;
        let mooring = Mooring {
            program: programs.mooring,
            environment: exported(&environment),
            logs: directory.join("logs"),
        };
        let kube = mooring_k8s::kubeconfig::client_by_file(&state.join("kubeconfig")).await;
        let kube = kube.map_err(|error| DemoError::broken("the kubeconfig", error))?;
        output.print(
            DemoMark::Good,
            &format!(
                "Azure ({}), the cluster's Kubernetes API and Karpenter answer over TLS  {}",
                simulation.url(),
                seconds(began.elapsed())
            ),
        );
        let (sender, news) = unbounded_channel();
        let room = VmHost {
            images: scenario.images.clone(),
            registry: scenario.registry.clone(),
            nodes: directory.join("nodes"),
            agent: programs.agent,
            seed: options.seed,
        };
        let mut machines = JoinSet::new();
        machines.spawn(room.run(simulation.shell().world().clone(), sender));
        let controller = start_controller(&mooring, output).await?;
        let page = page_address(&mooring);
        if let Some(page) = page.as_ref().filter(|_| options.keep) {
            output.print(DemoMark::Good, &format!("live page, until Ctrl-C: {page}"));
        }
        Ok(Self {
            output,
            result: ScenarioResult::default(),
            observer: Observer::start(kube.clone()),
            simulation,
            mooring,
            kube,
            kubectl: Kubectl::find(
                &std::env::var_os("PATH").unwrap_or_default(),
                &state.join("kubeconfig"),
                &state,
            ),
            descriptions: JoinSet::new(),
            news,
            random: Random::new(options.seed).fork("demo"),
            struck: None,
            registry: scenario.registry.clone(),
            images: scenario.images.clone(),
            page,
            _room: machines,
            _controller: controller,
        })
    }

    pub(crate) fn log(&self, name: &str) -> PathBuf {
        self.mooring.logs.join(name)
    }

    /// Appends the output of a command to its log.
    pub(crate) fn keep(&self, name: &str, text: &str) {
        use std::io::Write as _;
        // A failed write of a log does not fail the scenario.
        let _ = crate::host::files::log(&self.log(name))
            .and_then(|mut log| log.write_all(text.as_bytes()));
    }

    pub(crate) fn speed(&self) -> f64 {
        self.simulation.shell().world().with(|world, _| world.azure().options().speed)
    }

    pub(crate) fn set_speed(&self, speed: f64) {
        self.simulation.shell().world().with(|world, _| world.set_speed(speed));
    }
}

/// Options of Karpenter for the images: VMs that are actually booted finish by themselves.
fn karpenter_options(scenario: &Scenario) -> karpenter::KarpenterOptions {
    let unfinished = Cse { seconds: None, ..Cse::default() };
    let bootstraps = scenario.images.keys().map(|version| (version.clone(), unfinished.clone()));
    karpenter::KarpenterOptions {
        // The scenario needs a failing extension, which the default mode does not have.
        mode: karpenter::ProvisionMode::Vm,
        bootstraps: bootstraps.collect(),
        linger_seconds: 3,
        ..karpenter::KarpenterOptions::default()
    }
}

/// Returns the address of the controller's page, from its log.
fn page_address(mooring: &Mooring) -> Option<String> {
    let log = std::fs::read_to_string(mooring.logs.join("controller.log")).ok()?;
    let line = log.lines().find(|line| line.contains("\"message\":\"starting controller\""))?;
    let line: serde_json::Value = serde_json::from_str(line).ok()?;
    line["page"].as_str().map(|address| format!("http://{address}/"))
}

/// Starts the controller as a separate process and waits until it has acquired its Lease.
async fn start_controller(mooring: &Mooring, output: &mut Output) -> Result<Child, DemoError> {
    let began = Instant::now();
    let log = mooring.logs.join("controller.log");
    let free = "127.0.0.1:0";
    let addresses = ["--metrics-address", free, "--health-address", free, "--page-address", free];
    let words = [&["controller"], addresses.as_slice()].concat();
    let mut child = mooring.start(&words, &log)?;
    loop {
        output.now("the controller bids for its lease");
        tokio::time::sleep(POLL_INTERVAL).await;
        let said = std::fs::read_to_string(&log).unwrap_or_default();
        if said.contains("\"message\":\"acquired lease\"") {
            break;
        }
        if let Ok(Some(status)) = child.try_wait() {
            return Err(DemoError::broken("mooring controller ended", status));
        }
        if began.elapsed() > ELECTION_TIMEOUT {
            return Err(DemoError::broken("mooring controller", "it does not lead"));
        }
    }
    let pid = child.id().unwrap_or_default();
    output.print(
        DemoMark::Good,
        &format!("mooring controller runs (process {pid}) and leads  {}", seconds(began.elapsed())),
    );
    Ok(child)
}
