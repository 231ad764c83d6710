//! The model itself: what it holds, and how it answers.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, StatusCode};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::admission::Denial;
use super::inside::Write;
use super::rbac::User;
use super::request::{Call, Query, ResourceTarget, Target};
use super::resources::Catalogue;
use super::settle::Timers;
use super::status_error::StatusError;
use super::store::Store;
use super::watch::Watches;
use super::{discovery, openapi};
use crate::exchange::{Body, Outcome, Request, Response};
use crate::faults::{Faults, Rule};
use crate::random::Random;
use crate::trace::Trace;

/// What a model is made of.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "options are separate switches")]
pub struct Options {
    /// All chance comes from here: uids, generated names, faults.
    pub seed: u64,
    /// The time at which it begins.
    pub start: Timestamp,
    /// Whether there is a cluster behind the API: scheduler, kubelets, workloads, garbage collector,
    /// namespaces that terminate. Without it the model is an API server alone.
    pub controllers: bool,
    /// A server of version 1.20: no `policy/v1`, and the rules for events of before 1.23.
    pub old_server: bool,
    /// AKS Automatic: writes in `kube-system` and the other namespaces of AKS are refused.
    pub managed_namespaces: bool,
    /// Whether a request without a token is let in, as an administrator.
    pub open: bool,
    /// Whether the server keeps account of who wrote which field. Server-side apply needs it.
    pub managed_fields: bool,
    /// How many changes each resource remembers for watches that resume and lists that go on.
    pub history: usize,
    /// How long the cluster takes for things.
    pub delays: Delays,
    /// What goes wrong.
    pub faults: Vec<Rule>,
    /// How many lines the trace keeps.
    pub trace: usize,
}

/// How long the cluster behind the API takes for things.
#[derive(Debug, Clone, Copy)]
pub struct Delays {
    /// From a pod's place on a node until it runs.
    pub start: Duration,
    /// From a pod's end until it is gone, if its grace period is not shorter.
    pub stop: Duration,
    /// Between two bookmarks of a watch that wants them.
    pub bookmark: Duration,
}

impl Default for Delays {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(2),
            stop: Duration::from_secs(1),
            bookmark: Duration::from_mins(1),
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            seed: 1,
            start: Timestamp::UNIX_EPOCH,
            controllers: false,
            old_server: false,
            managed_namespaces: false,
            open: true,
            managed_fields: true,
            history: 20_000,
            delays: Delays::default(),
            faults: Vec::new(),
            trace: 10_000,
        }
    }
}

/// A model of the Kubernetes API and, if asked for, of the cluster behind it.
pub struct Kubernetes {
    pub(crate) options: Options,
    pub(crate) store: Store,
    pub(crate) catalogue: Catalogue,
    pub(crate) watches: Watches,
    pub(crate) uids: Random,
    pub(crate) names: Random,
    pub(crate) faults: Faults,
    pub(crate) trace: Trace,
    pub(crate) writes: VecDeque<Write>,
    pub(crate) timers: Timers,
    pub(crate) denials: Vec<Denial>,
    pub(crate) tokens: BTreeMap<String, User>,
}

impl Kubernetes {
    /// A new cluster with its first namespaces and nothing else.
    #[must_use]
    pub fn new(options: Options) -> Self {
        let random = Random::new(options.seed);
        let start = options.start;
        let mut model = Self {
            store: Store::new(options.history),
            catalogue: Catalogue::built_in(options.old_server),
            watches: Watches::default(),
            uids: random.fork("uids"),
            names: random.fork("names"),
            faults: Faults::new(options.faults.clone(), &random, start),
            trace: Trace::keeping(options.trace),
            writes: VecDeque::new(),
            timers: Timers::default(),
            denials: Vec::new(),
            tokens: BTreeMap::new(),
            options,
        };
        for name in ["default", "kube-node-lease", "kube-public", "kube-system"] {
            let namespace =
                json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
            // A new store has no such namespace, and nothing else can refuse one.
            let _ = model.create(namespace, start);
        }
        // What was before the first client is not told.
        model.store.forget();
        model
    }

    /// What comes back for one request.
    pub fn handle(&mut self, request: &Request, now: Timestamp) -> Outcome {
        let outcome = self.handle_with_faults(request, now);
        let (method, path) = (request.method(), request.uri());
        let end = match &outcome {
            Outcome::Answer(response) => response.status().as_str().to_owned(),
            Outcome::CutShort(response, length) => {
                format!("{} cut at {length}", response.status().as_str())
            }
            Outcome::Dropped => "dropped".to_owned(),
            Outcome::Silence => "silence".to_owned(),
        };
        let path = path.path_and_query().map_or("", |path| path.as_str());
        self.trace.record(now, format_args!("{method} {path} {end} @{}", self.store.revision()));
        outcome
    }

    /// The answer when nothing goes wrong.
    pub(crate) fn answer(&mut self, request: &Request, now: Timestamp) -> Response {
        match self.route(request, now) {
            Ok(response) if *request.method() == Method::HEAD => {
                response.map(|_| Body::Full(Bytes::new()))
            }
            Ok(response) => response,
            Err(error) => error_answer(&error),
        }
    }

    fn route(&mut self, request: &Request, now: Timestamp) -> Result<Response, StatusError> {
        let user = self.who(request)?;
        let call = Call { request, query: Query::parse(request.uri().query()), user };
        let path = request.uri().path();
        match Target::parse(&self.catalogue, path) {
            Ok(Target::Resource(target)) => {
                self.authorize(&call, &target)?;
                self.check_managed(&call, &target)?;
                call.check_options()?;
                let mut response = self.serve(&call, &target, now)?;
                if let Some(warning) =
                    target.resource.custom().and_then(|custom| custom.warning.as_ref())
                    && let Ok(warning) = HeaderValue::try_from(format!("299 - {warning:?}"))
                {
                    response.headers_mut().insert(http::header::WARNING, warning);
                }
                Ok(response)
            }
            Ok(Target::Path) => {
                self.authorize_path(&call, path)?;
                if let Some(answer) = openapi::answer(self, path) {
                    return Ok(answer);
                }
                discovery::answer(self, &call, path).ok_or_else(StatusError::page_not_found)
            }
            Err(error) => Err(error),
        }
    }

    fn serve(
        &mut self,
        call: &Call<'_>,
        target: &ResourceTarget,
        now: Timestamp,
    ) -> Result<Response, StatusError> {
        if target.resource.is_review() {
            return self.review(call, target);
        }
        match target.subresource.as_deref() {
            None | Some("status") => {}
            Some("eviction") => return self.evict(call, target, now),
            Some("scale") => return self.serve_scale(call, target, now),
            Some("finalize") => return self.finalize_namespace(call, target, now),
            Some("binding") => return self.bind(call, target, now),
            Some(_) => return Err(StatusError::no_such_resource()),
        }
        match (call.verb(target), target.name.as_deref()) {
            ("get", Some(name)) => self.serve_get(call, target, name),
            ("list", _) => self.serve_list(call, target, now),
            ("watch", _) => self.serve_watch(call, target, now),
            ("create", None) => self.serve_create(call, target, now),
            ("update", Some(name)) => self.serve_update(call, target, name, now),
            ("patch", Some(name)) => self.serve_patch(call, target, name, now),
            ("delete", Some(name)) if target.subresource.is_none() => {
                self.serve_delete(call, target, name, now)
            }
            ("deletecollection", None) => self.serve_delete_collection(call, target, now),
            _ => Err(StatusError::method_not_allowed()),
        }
    }
}

/// An error as an answer.
pub(crate) fn error_answer(error: &StatusError) -> Response {
    if error.is_page() {
        let text = Bytes::from(error.message.clone());
        return with_type(error.status(), "text/plain; charset=utf-8", Body::Full(text));
    }
    let mut response = json_answer(error.status(), &error.object());
    if let Some(seconds) = error.retry_after() {
        response.headers_mut().insert(http::header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// An answer of JSON.
pub(crate) fn json_answer(status: StatusCode, value: &Value) -> Response {
    bytes_answer(status, Bytes::from(value.to_string()))
}

/// An answer of JSON that is bytes already.
pub(crate) fn bytes_answer(status: StatusCode, bytes: Bytes) -> Response {
    with_type(status, "application/json", Body::Full(bytes))
}

/// An answer of any type.
pub(crate) fn with_type(status: StatusCode, kind: &'static str, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(http::header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
