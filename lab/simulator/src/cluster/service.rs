//! The cluster shared by many clients.

use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use jiff::Timestamp;

use super::model::SimulatedCluster;
use crate::clock::{Clock, Model, Shared};
use crate::exchange::{Request, ServerReply};
use crate::faults::ServiceName;
use crate::kubernetes::InProcess;

/// The cluster with one clock and one lock.
pub type Shell = Shared<SimulatedCluster>;

impl Model for SimulatedCluster {
    fn settle(&mut self, now: Timestamp) {
        self.settle(now);
    }

    fn next_change(&self) -> Option<Timestamp> {
        self.next_change()
    }
}

impl Shell {
    /// Returns a cluster whose time follows the runtime's, so a paused runtime pauses it as well.
    pub fn new(world: SimulatedCluster) -> Self {
        let clock = Clock::starting_at(world.now);
        Self::with_clock(world, Arc::new(move || clock.now()))
    }

    pub fn handle(&self, service: ServiceName, request: &Request) -> ServerReply {
        let now = self.now();
        let outcome = self.lock().handle(service, request, now);
        self.touched();
        outcome
    }

    /// Returns the outcome of one request, for a transport in the same process. A timeout fault
    /// never returns: the caller needs a timeout.
    pub async fn call(&self, service: ServiceName, request: Request) -> ServerReply {
        match self.handle(service, &request) {
            ServerReply::Silence => std::future::pending().await,
            outcome => outcome,
        }
    }

    /// Returns the cluster's API for a client in the same process with this token.
    pub fn kube_service(&self, token: &str) -> InProcess {
        let shell = self.clone();
        InProcess::with_handler(
            move |request| shell.handle(ServiceName::Kubernetes, request),
            token,
        )
    }
}

/// The cluster's API on a socket.
pub(crate) struct KubernetesApi(pub(crate) Shell);

impl crate::serve::Service for KubernetesApi {
    fn call(&self, request: Request) -> BoxFuture<'static, ServerReply> {
        std::future::ready(self.0.handle(ServiceName::Kubernetes, &request)).boxed()
    }
}
