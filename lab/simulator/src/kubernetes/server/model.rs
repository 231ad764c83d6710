use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use jiff::Timestamp;
use serde_json::json;

use crate::clock::{Clock, Model, Shared};
use crate::exchange::{Request, ServerReply};
use crate::kubernetes::api::state::{ApiServer, KubernetesOptions};
use crate::kubernetes::controllers::{self, PodTimes};
use crate::trace::Trace;

pub type Shell = Shared<Kubernetes>;

/// A model of the Kubernetes API and optionally of the cluster. Functions of the API server in
/// process, such as [`ApiServer::get`], are reached through it.
pub struct Kubernetes {
    api: ApiServer,
    pods: PodTimes,
    pub(crate) trace: Trace,
}

impl Deref for Kubernetes {
    type Target = ApiServer;

    fn deref(&self) -> &ApiServer {
        &self.api
    }
}

impl DerefMut for Kubernetes {
    fn deref_mut(&mut self) -> &mut ApiServer {
        &mut self.api
    }
}

impl Kubernetes {
    pub fn new(options: KubernetesOptions) -> Self {
        let start = options.start;
        let trace = Trace::keeping(options.trace);
        let mut api = ApiServer::new(options);
        for name in ["default", "kube-node-lease", "kube-public", "kube-system"] {
            let namespace =
                json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
            // A new store has no such namespace, and nothing else can reject one.
            let _ = api.create(namespace, start);
        }
        // Clients cannot see the time before the first request.
        api.store.forget();
        Self { api, pods: PodTimes::default(), trace }
    }

    pub fn handle(&mut self, request: &Request, now: Timestamp) -> ServerReply {
        let outcome = self.handle_with_faults(request, now);
        let (method, path) = (request.method(), request.uri());
        let end = match &outcome {
            ServerReply::Answer(response) => response.status().as_str().to_owned(),
            ServerReply::CutShort(response, length) => {
                format!("{} cut at {length}", response.status().as_str())
            }
            ServerReply::Dropped => "dropped".to_owned(),
            ServerReply::Silence => "silence".to_owned(),
        };
        let path = path.path_and_query().map_or("", |path| path.as_str());
        self.trace.record(now, format_args!("{method} {path} {end} @{}", self.store.revision()));
        outcome
    }

    /// Runs the controllers on everything that is due.
    pub fn settle(&mut self, now: Timestamp) {
        controllers::settle(&mut self.api, &mut self.pods, now);
    }

    /// Returns the time of the next change without a request.
    pub fn next_change(&self) -> Option<Timestamp> {
        controllers::next_change(&self.api, &self.pods)
    }

    pub fn trace(&self) -> String {
        self.trace.text()
    }
}

impl Model for Kubernetes {
    fn settle(&mut self, now: Timestamp) {
        self.settle(now);
    }

    fn next_change(&self) -> Option<Timestamp> {
        self.next_change()
    }
}

impl Shell {
    pub fn new(model: Kubernetes, clock: Clock) -> Self {
        Self::with_clock(model, Arc::new(move || clock.now()))
    }

    pub fn handle(&self, request: &Request) -> ServerReply {
        self.with(|model, now| model.handle(request, now))
    }
}

impl crate::serve::Service for Shell {
    fn call(&self, request: Request) -> BoxFuture<'static, ServerReply> {
        std::future::ready(self.handle(&request)).boxed()
    }
}
