//! Boots every VM of the simulated Azure in a directory, and sets the extension's status in Azure to the output of its
//! command.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use mooring_contract::CseStatus;
use mooring_contract::custom_data::{Boundary, CustomData, CustomDataForm, Features};
use mooring_simulator::azure::{Cse, CseOutput, Vm};
use mooring_simulator::cluster::Shell;
use mooring_simulator::random::Random;
use serde_json::json;
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::node::DemoNode;
use crate::host::processes::EndedProcess;
use crate::scenario::{ImageDefinition, NodeStarter, image};

const POLL_INTERVAL: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(crate) enum VmEvent {
    Boots(Vm),
    Ended(FinishedVm),
    /// No result, and the reason.
    Broken {
        vm: String,
        why: String,
    },
}

/// Time after its bootstrap, in the time of the clouds, until a node is overdue: others register within seconds.
const OVERDUE: Duration = Duration::from_mins(1);

/// A VM whose bootstrap is finished.
#[derive(Debug, Clone)]
pub(crate) struct FinishedVm {
    pub(crate) vm: Vm,
    pub(crate) root: PathBuf,
    pub(crate) code: i32,
    /// What the node reported: error, cause or output.
    pub(crate) cause: String,
    /// Time after which its node is overdue, if none is expected.
    pub(crate) overdue: Option<Instant>,
    pub(crate) took: Duration,
}

#[derive(Debug, Clone)]
pub(crate) struct VmHost {
    pub(crate) images: BTreeMap<String, ImageDefinition>,
    pub(crate) registry: Option<String>,
    /// Directory of all VMs.
    pub(crate) nodes: PathBuf,
    pub(crate) agent: PathBuf,
    pub(crate) seed: u64,
}

impl VmHost {
    /// Boots new VMs until it is dropped.
    pub(crate) async fn run(self, world: Shell, news: UnboundedSender<VmEvent>) {
        let mut started: BTreeSet<String> = BTreeSet::new();
        let mut boots = JoinSet::new();
        loop {
            let (waiting, speed) = world.with(|world, _| {
                (world.azure().waiting_bootstraps(), world.azure().options().speed)
            });
            for vm in waiting {
                if started.insert(vm.name.clone()) {
                    let _ = news.send(VmEvent::Boots(vm.clone()));
                    boots.spawn(self.clone().boot(vm, speed, world.clone(), news.clone()));
                }
            }
            while boots.try_join_next().is_some() {}
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    async fn boot(self, vm: Vm, speed: f64, world: Shell, news: UnboundedSender<VmEvent>) {
        let image = self.images.get(&vm.image_version).cloned().unwrap_or_default();
        let node = DemoNode { root: self.nodes.join(&vm.name), agent: self.agent.clone() };
        let files = image::files(&vm.image_version, &image, speed);
        let custom_data = match self.custom_data(&vm.name) {
            Ok(custom_data) => custom_data,
            Err(why) => return drop(news.send(VmEvent::Broken { vm: vm.name, why })),
        };
        let registry = self.registry.as_deref().unwrap_or_default();
        let ended = match (node.install(&files, &vm.name, world.now()), image.starter) {
            (Ok(()), NodeStarter::Agent) => node.boot(&custom_data.expose_base64()).await,
            (Ok(()), NodeStarter::Scripts) => node.boot_scripts(registry).await,
            (Err(error), _) => Err(error),
        };
        let ended = match ended {
            Ok(ended) => ended,
            Err(error) => {
                let why = error.to_string();
                return drop(news.send(VmEvent::Broken { vm: vm.name, why }));
            }
        };
        let cse = extension(&ended, speed, &image);
        let code = cse.exit_code;
        world.with(|world, now| world.azure_mut().end_bootstrap(&vm.name, cse, now));
        let report = CseStatus::read(ended.stdout.trim_end().as_bytes()).unwrap_or_default();
        let texts = [report.error, report.diagnosis, report.output];
        let cause = texts.into_iter().find(|text| !text.is_empty()).unwrap_or_default();
        let _ = news.send(VmEvent::Ended(FinishedVm {
            vm,
            root: node.root,
            code,
            cause,
            overdue: image.silent.then(|| Instant::now() + OVERDUE.div_f64(speed)),
            took: ended.took,
        }));
    }

    /// Custom data that the control plane passes to a new VM.
    fn custom_data(&self, vm: &str) -> Result<CustomData, String> {
        let mut random = Random::new(self.seed).fork(vm);
        let mut bytes = [0; 30];
        bytes.fill_with(|| random.draw().to_le_bytes()[0]);
        let config = node_config(self.registry.as_deref()).to_string();
        let boundary = Boundary::from_random(bytes);
        CustomData::render(
            CustomDataForm::Boothook,
            config.as_bytes(),
            &Features::default(),
            &boundary,
        )
        .map_err(|error| error.to_string())
    }
}

/// The smallest node config that boots a node.
fn node_config(registry: Option<&str>) -> serde_json::Value {
    json!({
        "version": "v1",
        "kubernetes_version": "1.33.6",
        "cluster_config": {"location": "westeurope", "resource_group": "MC_rg-demo_demo_westeurope"},
        "api_server_config": {"api_server_name": "demo-abcd1234.hcp.westeurope.azmk8s.io"},
        "bootstrap_profile_container_registry_server": registry.unwrap_or_default(),
    })
}

/// Extension status as its handler reports it to Azure.
fn extension(ended: &EndedProcess, speed: f64, image: &ImageDefinition) -> Cse {
    Cse {
        exit_code: ended.code.unwrap_or(-1),
        seconds: Some(ended.took.mul_f64(speed).as_secs()),
        registers: !image.silent,
        printed: Some(CseOutput { stdout: ended.stdout.clone(), stderr: ended.stderr.clone() }),
        ..Cse::default()
    }
}
