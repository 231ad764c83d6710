//! The models of a simulation with one lock.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, MutexGuard};

use jiff::Timestamp;
use mooring_contract::Secret;

use crate::azure::{self, Azure};
use crate::cluster::{self, SimulatedCluster};
use crate::imds::Imds;
use crate::live_patching::LivePatching;
use crate::registry::Registry;
use crate::scenario::Scenario;

pub struct Shell {
    pub(super) world: cluster::Shell,
    pub(super) imds: Imds,
    pub(super) registry: Registry,
    pub(super) live_patching: LivePatching,
    seed: u64,
    /// Bearer token of the admin API.
    pub(super) admin_token: Secret,
}

/// Identity of simulated VMs, which may read the simulated registry.
const KUBELET_IDENTITY: &str = "00000000-0000-0000-0000-00000000001d";

impl Shell {
    /// Returns the models in the initial state of a scenario.
    pub fn new(
        scenario: &Scenario,
        seed: u64,
        options: cluster::ClusterOptions,
        admin_token: Secret,
    ) -> Self {
        let azure = &options.azure;
        let host = azure.endpoint.trim_start_matches("https://").to_owned();
        let imds = Imds::new(&azure.location, "simulated-node", KUBELET_IDENTITY, &azure.tenant);
        let registry = Registry::new(&host, &[KUBELET_IDENTITY]);
        let world = SimulatedCluster::new(scenario, seed, now(), options);
        let world = cluster::Shell::with_clock(world, Arc::new(now));
        Self { world, imds, registry, live_patching: LivePatching::default(), seed, admin_token }
    }

    pub fn azure(&self) -> LockedAzure<'_> {
        LockedAzure { world: self.world.lock(), shell: &self.world }
    }

    pub fn live_patching(&self) -> &LivePatching {
        &self.live_patching
    }

    /// Metadata service of a simulated VM.
    pub fn imds(&self) -> &Imds {
        &self.imds
    }

    pub fn world(&self) -> &cluster::Shell {
        &self.world
    }

    /// Loads another scenario, with the same names and secrets.
    pub fn load(&self, scenario: &Scenario) {
        self.world.with(|world, now| {
            let mut options = world.options().clone();
            options.azure = azure::AzureOptions {
                speed: options.azure.speed,
                endpoint: options.azure.endpoint.clone(),
                kubernetes: world.azure().options().kubernetes.clone(),
                client_secret: options.azure.client_secret.clone(),
                token_key: options.azure.token_key.clone(),
                rights: options.azure.rights,
                ..azure::AzureOptions::default()
            };
            *world = SimulatedCluster::new(scenario, self.seed, now, options);
        });
    }
}

/// Azure with the lock of the simulation.
pub struct LockedAzure<'a> {
    world: MutexGuard<'a, SimulatedCluster>,
    shell: &'a cluster::Shell,
}

impl Deref for LockedAzure<'_> {
    type Target = Azure;

    fn deref(&self) -> &Azure {
        self.world.azure()
    }
}

impl DerefMut for LockedAzure<'_> {
    fn deref_mut(&mut self) -> &mut Azure {
        self.world.azure_mut()
    }
}

impl Drop for LockedAzure<'_> {
    fn drop(&mut self) {
        self.shell.touched();
    }
}

/// The only place where the simulator reads a clock.
pub(super) fn now() -> Timestamp {
    Timestamp::now()
}
