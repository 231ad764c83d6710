//! The models behind one lock, and which of them a request is for.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, MutexGuard};

use futures::future::BoxFuture;
use jiff::Timestamp;
use mooring_contract::Secret;

use super::admin;
use crate::azure::{self, Azure};
use crate::exchange::{Outcome, Request};
use crate::faults::Service as Called;
use crate::imds::Imds;
use crate::live_patching::{self, LivePatching};
use crate::registry::Registry;
use crate::scenario::Scenario;
use crate::secrets;
use crate::serve::Service;
use crate::world::{self, World};

/// The models of one simulation.
pub struct Shell {
    world: world::Shell,
    imds: Imds,
    registry: Registry,
    live_patching: LivePatching,
    seed: u64,
    /// The bearer token of the admin API.
    admin_token: Secret,
}

/// The identity of simulated machines, which may read the simulated registry.
const KUBELET_IDENTITY: &str = "00000000-0000-0000-0000-00000000001d";

impl Shell {
    /// The models, as a scenario begins.
    #[must_use]
    pub fn new(
        scenario: &Scenario,
        seed: u64,
        options: world::Options,
        admin_token: Secret,
    ) -> Self {
        let azure = &options.azure;
        let host = azure.endpoint.trim_start_matches("https://").to_owned();
        let imds = Imds::new(&azure.location, "simulated-node", KUBELET_IDENTITY, &azure.tenant);
        let registry = Registry::new(&host, &[KUBELET_IDENTITY]);
        let world = World::new(scenario, seed, now(), options);
        let world = world::Shell::with_clock(world, Arc::new(now));
        Self { world, imds, registry, live_patching: LivePatching::default(), seed, admin_token }
    }

    /// Azure, with the world locked for as long as this is held.
    #[must_use]
    pub fn azure(&self) -> LockedAzure<'_> {
        LockedAzure { world: self.world.lock(), shell: &self.world }
    }

    /// Returns the live-patching service of the simulation.
    #[must_use]
    pub fn live_patching(&self) -> &LivePatching {
        &self.live_patching
    }

    /// The metadata service of a simulated machine.
    #[must_use]
    pub fn imds(&self) -> &Imds {
        &self.imds
    }

    /// The whole world.
    #[must_use]
    pub fn world(&self) -> &world::Shell {
        &self.world
    }

    /// Starts again with another scenario, under the same names and with the same secrets.
    pub fn load(&self, scenario: &Scenario) {
        self.world.with(|world, now| {
            let mut options = world.options().clone();
            options.azure = azure::Options {
                speed: options.azure.speed,
                endpoint: options.azure.endpoint.clone(),
                kubernetes: world.azure().options().kubernetes.clone(),
                client_secret: options.azure.client_secret.clone(),
                token_key: options.azure.token_key.clone(),
                rights: options.azure.rights,
                ..azure::Options::default()
            };
            *world = World::new(scenario, self.seed, now, options);
        });
    }

    fn may_administer(&self, request: &Request) -> bool {
        let sent = request.headers().get(http::header::AUTHORIZATION);
        let sent = sent.and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        sent.is_some_and(|sent| secrets::matches(&self.admin_token, sent))
    }

    fn answer(&self, request: &Request) -> Outcome {
        let path = request.uri().path();
        let starts = |prefix: &str| path.starts_with(prefix);
        if starts("/admin/") {
            return Outcome::Answer(if self.may_administer(request) {
                admin::answer(self, request, now())
            } else {
                admin::refuse()
            });
        }
        if starts("/metadata/instance")
            || starts("/metadata/identity")
            || starts("/metadata/attested")
        {
            return self
                .azure()
                .with_faults(Called::Imds, request, now(), |now| self.imds.handle(request, now));
        }
        if path == live_patching::METHOD {
            return self.live_patching.handle(request, &self.imds.compute["vmId"]);
        }
        if starts("/v2/") || starts("/oauth2/") {
            return self.azure().with_faults(Called::Registry, request, now(), |now| {
                self.registry.handle(request, now)
            });
        }
        self.world.handle(Called::Arm, request)
    }
}

/// Azure, while nobody else can touch the world.
pub struct LockedAzure<'a> {
    world: MutexGuard<'a, World>,
    shell: &'a world::Shell,
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

impl Service for Shell {
    fn call(&self, request: Request) -> BoxFuture<'static, Outcome> {
        let outcome = self.answer(&request);
        Box::pin(async move { outcome })
    }
}

/// The one place where the simulator reads a clock.
fn now() -> Timestamp {
    Timestamp::now()
}
