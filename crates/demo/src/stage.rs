//! Everything that a story needs to happen: the simulated clouds, the machine room, the controller, and an observer.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use mooring_simulator::azure::Cse;
use mooring_simulator::karpenter;
use mooring_simulator::random::Random;
use mooring_simulator::scenario::Bootstrap;
use mooring_simulator::sim::{self, Simulation};
use tokio::process::Child;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::commands::{Mooring, exported};
use crate::kubectl::Kubectl;
use crate::observer::Observer;
use crate::room::{News, Room};
use crate::scenario::Scenario;
use crate::story::Story;
use crate::trouble::Trouble;
use crate::voice::{Mark, Voice, seconds};

/// How long the controller may take until it leads.
const ELECTION: Duration = Duration::from_mins(1);
/// Between two looks at something that others do.
pub(crate) const LOOK: Duration = Duration::from_millis(30);

pub(crate) struct Stage<'v> {
    pub(crate) voice: &'v mut Voice,
    pub(crate) story: Story,
    pub(crate) simulation: Simulation,
    pub(crate) mooring: Mooring,
    pub(crate) kube: kube::Client,
    /// The real kubectl, where it is installed.
    pub(crate) kubectl: Option<Kubectl>,
    /// Its descriptions of failed NodeClaims, begun while these existed: the name and what was printed.
    pub(crate) descriptions: JoinSet<(String, Result<String, String>)>,
    pub(crate) observer: Observer,
    pub(crate) news: UnboundedReceiver<News>,
    pub(crate) random: Random,
    /// When the pool was struck, for the repair's time-line.
    pub(crate) struck: Option<Instant>,
    pub(crate) registry: Option<String>,
    _room: JoinSet<()>,
    _controller: Child,
}

/// What a stage is set up with.
pub(crate) struct Setting<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) mooring: &'a Path,
    pub(crate) folder: &'a Path,
    pub(crate) speed: f64,
    pub(crate) seed: u64,
}

impl<'v> Stage<'v> {
    /// Starts everything, and says so.
    pub(crate) async fn set(setting: &Setting<'_>, voice: &'v mut Voice) -> Result<Self, Trouble> {
        let began = Instant::now();
        let (scenario, folder) = (setting.scenario, setting.folder);
        let state = folder.join("azure");
        let simulation = sim::start(sim::Settings {
            scenario: scenario.cluster.clone(),
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            state: state.clone(),
            speed: setting.speed,
            seed: setting.seed,
            kube_port: Some(0),
            karpenter: Some(karpenter_options(scenario)),
        })
        .await
        .map_err(|error| Trouble::broken("the simulated Azure", error))?;
        let environment = std::fs::read_to_string(state.join("env.sh"))
            .map_err(|error| Trouble::broken("env.sh", error))?;
        let mooring = Mooring {
            program: setting.mooring.to_owned(),
            environment: exported(&environment),
            logs: folder.join("logs"),
        };
        let kube = mooring_kube::kubeconfig::client_by_file(&state.join("kubeconfig")).await;
        let kube = kube.map_err(|error| Trouble::broken("the kubeconfig", error))?;
        voice.say(
            Mark::Good,
            &format!(
                "Azure ({}), the cluster's Kubernetes API and Karpenter answer over TLS  {}",
                simulation.url(),
                seconds(began.elapsed())
            ),
        );
        let (sender, news) = unbounded_channel();
        let room = Room {
            images: scenario.images.clone(),
            registry: scenario.registry.clone(),
            nodes: folder.join("nodes"),
            mooring: setting.mooring.to_owned(),
            seed: setting.seed,
        };
        let mut machines = JoinSet::new();
        machines.spawn(room.run(simulation.shell().world().clone(), sender));
        let controller = start_controller(&mooring, voice).await?;
        Ok(Self {
            voice,
            story: Story::default(),
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
            random: Random::new(setting.seed).fork("demo"),
            struck: None,
            registry: scenario.registry.clone(),
            _room: machines,
            _controller: controller,
        })
    }

    /// The log of a command, for whoever wants to know more.
    pub(crate) fn log(&self, name: &str) -> PathBuf {
        self.mooring.logs.join(name)
    }

    /// Keeps what a command said.
    pub(crate) fn keep(&self, name: &str, text: &str) {
        use std::io::Write as _;
        // A log that cannot be written is no reason to end the story.
        let _ =
            crate::files::log(&self.log(name)).and_then(|mut log| log.write_all(text.as_bytes()));
    }

    pub(crate) fn speed(&self) -> f64 {
        self.simulation.shell().world().with(|world, _| world.azure().options().speed)
    }

    pub(crate) fn set_speed(&self, speed: f64) {
        self.simulation.shell().world().with(|world, _| world.set_speed(speed));
    }
}

/// Karpenter, as the scenario's images want it: machines that are really booted end when they have.
fn karpenter_options(scenario: &Scenario) -> karpenter::Options {
    let bootstraps = scenario.images.iter().map(|(version, image)| {
        let cse = match &image.modelled {
            None => Cse { seconds: None, ..Cse::default() },
            Some(Bootstrap::Succeeds) => Cse::default(),
            Some(Bootstrap::OrasMissing) => Cse::oras_missing(),
            Some(Bootstrap::Custom(cse)) => cse.clone(),
        };
        (version.clone(), cse)
    });
    karpenter::Options {
        // The story is about an extension that fails, which the default mode does not have.
        mode: karpenter::Mode::Vm,
        bootstraps: bootstraps.collect(),
        linger_seconds: 4,
        ..karpenter::Options::default()
    }
}

/// The controller, as a process of its own: when this returns, it leads.
async fn start_controller(mooring: &Mooring, voice: &mut Voice) -> Result<Child, Trouble> {
    let began = Instant::now();
    let log = mooring.logs.join("controller.log");
    let free = "127.0.0.1:0";
    let words = ["controller", "--metrics-address", free, "--health-address", free];
    let mut child = mooring.start(&words, &log)?;
    loop {
        voice.now("the controller bids for its lease");
        tokio::time::sleep(LOOK).await;
        let said = std::fs::read_to_string(&log).unwrap_or_default();
        if said.contains("\"message\":\"leads\"") {
            break;
        }
        if let Ok(Some(status)) = child.try_wait() {
            return Err(Trouble::broken("mooring controller ended", status));
        }
        if began.elapsed() > ELECTION {
            return Err(Trouble::broken("mooring controller", "it does not lead"));
        }
    }
    let pid = child.id().unwrap_or_default();
    voice.say(
        Mark::Good,
        &format!("mooring controller runs (process {pid}) and leads  {}", seconds(began.elapsed())),
    );
    Ok(child)
}
