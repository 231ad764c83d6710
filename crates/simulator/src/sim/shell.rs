//! The models behind one lock, and which of them a request is for.

use std::sync::{Mutex, MutexGuard, PoisonError};

use futures::future::BoxFuture;
use jiff::Timestamp;

use super::admin;
use crate::azure::{Azure, Options};
use crate::exchange::{Outcome, Request};
use crate::faults::Service as Called;
use crate::imds::Imds;
use crate::registry::Registry;
use crate::scenario::Scenario;
use crate::serve::Service;

/// The models of one simulation.
pub struct Shell {
    azure: Mutex<Azure>,
    imds: Imds,
    registry: Registry,
    seed: u64,
}

/// The identity of simulated machines, which may read the simulated registry.
const KUBELET_IDENTITY: &str = "00000000-0000-0000-0000-00000000001d";

impl Shell {
    /// The models, as a scenario begins.
    #[must_use]
    pub fn new(scenario: &Scenario, seed: u64, options: Options) -> Self {
        let host = options.endpoint.trim_start_matches("https://").to_owned();
        let imds =
            Imds::new(&options.location, "simulated-node", KUBELET_IDENTITY, &options.tenant);
        let registry = Registry::new(&host, &[KUBELET_IDENTITY]);
        let azure = scenario.build(seed, now(), options);
        Self { azure: Mutex::new(azure), imds, registry, seed }
    }

    /// Azure, for whoever shares its world.
    pub fn azure(&self) -> MutexGuard<'_, Azure> {
        // A panic in the model must not take the whole simulation with it.
        self.azure.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins anew with another scenario, under the same names.
    pub fn load(&self, scenario: &Scenario) {
        let mut azure = self.azure();
        let options = Options {
            speed: azure.options().speed,
            endpoint: azure.options().endpoint.clone(),
            kubernetes: azure.options().kubernetes.clone(),
            ..Options::default()
        };
        *azure = scenario.build(self.seed, now(), options);
    }

    /// Lets everything happen that is due.
    pub fn settle(&self) {
        self.azure().settle(now());
    }

    fn answer(&self, request: &Request) -> Outcome {
        let path = request.uri().path();
        let starts = |prefix: &str| path.starts_with(prefix);
        if starts("/admin/") {
            return Outcome::Answer(admin::answer(self, request, now()));
        }
        if starts("/metadata/instance")
            || starts("/metadata/identity")
            || starts("/metadata/attested")
        {
            return self
                .azure()
                .with_faults(Called::Imds, request, now(), |now| self.imds.handle(request, now));
        }
        if starts("/v2/") || starts("/oauth2/") {
            return self.azure().with_faults(Called::Registry, request, now(), |now| {
                self.registry.handle(request, now)
            });
        }
        self.azure().handle(request, now())
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
