//! One clock and one lock around the world, and somebody who wakes it when something is due.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use jiff::Timestamp;
use tokio::sync::Notify;

use super::World;
use crate::exchange::{Outcome, Request};
use crate::faults::Service;
use crate::kubernetes::{Clock, InProcess};

/// Says what time it is.
pub type Now = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// The world where many can reach it. Cheap to clone.
#[derive(Clone)]
pub struct Shell {
    world: Arc<Mutex<World>>,
    now: Now,
    /// Something happened that may have changed when the next thing is due.
    changed: Arc<Notify>,
}

/// Keeps things happening by themselves for as long as it is held.
pub struct Running(tokio::task::JoinHandle<()>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Shell {
    /// A world whose time passes as the runtime's does, so that a paused runtime turns it, too.
    #[must_use]
    pub fn new(world: World) -> Self {
        let clock = Clock::starting_at(world.now);
        Self::with_clock(world, Arc::new(move || clock.now()))
    }

    /// A world with a clock of its own.
    #[must_use]
    pub fn with_clock(world: World, now: Now) -> Self {
        Self { world: Arc::new(Mutex::new(world)), now, changed: Arc::new(Notify::new()) }
    }

    /// The time of the world.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        (self.now)()
    }

    /// Does something to the world, after what was due before and before what follows from it.
    pub fn with<T>(&self, act: impl FnOnce(&mut World, Timestamp) -> T) -> T {
        let now = self.now();
        let mut world = self.lock();
        world.settle(now);
        let result = act(&mut world, now);
        world.settle(now);
        drop(world);
        self.changed.notify_one();
        result
    }

    /// What comes back for one request.
    pub fn handle(&self, service: Service, request: &Request) -> Outcome {
        let now = self.now();
        let outcome = self.lock().handle(service, request, now);
        self.changed.notify_one();
        outcome
    }

    /// What comes back for one request, for a transport in the same process. A silence lasts for ever: whoever
    /// asks must be able to give up.
    pub async fn call(&self, service: Service, request: Request) -> Outcome {
        match self.handle(service, &request) {
            Outcome::Silence => std::future::pending().await,
            outcome => outcome,
        }
    }

    /// The cluster's API for a client in the same process, as whoever has this token.
    #[must_use]
    pub fn kube_service(&self, token: &str) -> InProcess {
        let shell = self.clone();
        InProcess::over(move |request| shell.handle(Service::Kubernetes, request), token)
    }

    /// The same as the cluster's administrator.
    #[must_use]
    pub fn admin_service(&self) -> InProcess {
        let token = self.lock().options().token.clone();
        self.kube_service(token.expose())
    }

    /// Starts whatever happens by itself, on the current runtime, until the returned value is dropped.
    #[must_use]
    pub fn start(&self) -> Running {
        Running(tokio::spawn(self.clone().run()))
    }

    /// Waits for what is due next, lets it happen, and so on for ever.
    pub async fn run(self) {
        loop {
            let next = self.lock().next_change();
            let changed = self.changed.notified();
            let Some(next) = next else {
                changed.await;
                continue;
            };
            let wait = Duration::try_from(next.duration_since(self.now())).unwrap_or_default();
            // At least a moment: what cannot be done now must not be tried without a pause.
            let wait = wait.max(Duration::from_millis(1));
            if tokio::time::timeout(wait, changed).await.is_err() {
                let now = self.now();
                self.lock().settle(now);
            }
        }
    }

    /// The world itself, for as long as the guard is held. Nobody else gets at it meanwhile.
    pub(crate) fn lock(&self) -> MutexGuard<'_, World> {
        // A panic of one caller leaves a world that the others can still read.
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Somebody changed the world behind the shell's back.
    pub(crate) fn touched(&self) {
        self.changed.notify_one();
    }
}

/// The cluster's API on a socket.
pub(crate) struct KubernetesApi(pub(crate) Shell);

impl crate::serve::Service for KubernetesApi {
    fn call(&self, request: Request) -> BoxFuture<'static, Outcome> {
        std::future::ready(self.0.handle(Service::Kubernetes, &request)).boxed()
    }
}
