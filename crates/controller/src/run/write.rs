//! Writes: counts, record, then events, then conditions, and each only by the leader.
//!
//! Waiting batches are written together: 200 failures at once change the record a few times, not 200.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::{StreamExt as _, stream};
use mooring_k8s::{Clock, Gate};
use mooring_nodes::record::counts::{self, CountedNode};
use mooring_nodes::record::{self, FailureRecord, RecordDocument};
use serde_json::Value;
use tokio::sync::mpsc;

use super::api::{Api, ApiError, claim_path, version_of};
use super::controller::{Controller, ControllerMessage, Projector};
use crate::metrics::{Metrics, WriteLabel};
use crate::state::{Action, Input};
use crate::verdict::event::{self, Event, EventForm, Regarding};
use crate::verdict::patch::{self, PatchResult};

/// Writes of one transition of the state, in order.
pub(super) struct Batch {
    pub(super) term: u64,
    pub(super) writes: Vec<Action>,
}

const MAX_BATCHES: usize = 256;
/// More would only wait in the queues of the API server.
const MAX_CONCURRENT: usize = 16;
/// Pauses before a record or an event is retried. After the last, it is counted and logged as failed.
const PAUSES: [Duration; 4] = [
    Duration::from_millis(200),
    Duration::from_millis(600),
    Duration::from_secs(2),
    Duration::from_secs(4),
];

pub(super) struct Writer {
    api: Api,
    gate: Arc<Gate>,
    clock: Clock,
    projector: Arc<Projector>,
    metrics: Arc<Metrics>,
    to_loop: mpsc::Sender<ControllerMessage>,
    namespace: String,
    instance: String,
    kept: usize,
    /// True if the API server rejects events about objects without a namespace unless they name one.
    old_server: AtomicBool,
}

impl Writer {
    pub(super) fn new(
        controller: &Controller,
        api: Api,
        gate: &Arc<Gate>,
        projector: &Arc<Projector>,
        to_loop: mpsc::Sender<ControllerMessage>,
    ) -> Self {
        Self {
            api,
            gate: Arc::clone(gate),
            clock: Arc::clone(&controller.clock),
            projector: Arc::clone(projector),
            metrics: Arc::clone(&controller.metrics),
            to_loop,
            namespace: controller.namespace.clone(),
            instance: controller.settings.instance.clone(),
            kept: controller.settings.failures_kept,
            old_server: AtomicBool::new(false),
        }
    }

    /// Writes until the queue is closed.
    pub(super) async fn run(self, mut batches: mpsc::Receiver<Batch>) {
        let writer = &self;
        let mut waiting = Vec::new();
        while batches.recv_many(&mut waiting, MAX_BATCHES).await > 0 {
            // Writes of an earlier term are dropped; a new term starts from the objects.
            let Some(term) = waiting.last().map(|batch: &Batch| batch.term) else { continue };
            let (mut entries, mut events, mut patches) = (Vec::new(), Vec::new(), Vec::new());
            let mut outcomes: Option<Vec<CountedNode>> = None;
            for action in
                waiting.drain(..).filter(|batch| batch.term == term).flat_map(|batch| batch.writes)
            {
                match action {
                    Action::Record(entry) => entries.push(*entry),
                    Action::Count(more) => outcomes.get_or_insert_default().extend(more),
                    Action::Event(event) => events.push(event),
                    Action::Patch { uid, name, body, kind } => {
                        patches.push((uid, name, body, kind));
                    }
                    _ => {}
                }
            }
            // The record drops old failures, so they are counted first.
            if let Some(outcomes) = outcomes {
                self.counts(term, outcomes).await;
            }
            if !entries.is_empty() {
                self.record(term, &entries).await;
            }
            stream::iter(&events)
                .for_each_concurrent(MAX_CONCURRENT, |event| self.event(term, event))
                .await;
            stream::iter(patches)
                .for_each_concurrent(MAX_CONCURRENT, |(uid, name, body, kind)| async move {
                    writer.patch(term, uid, &name, &body, kind).await;
                })
                .await;
        }
    }

    async fn record(&self, term: u64, entries: &[FailureRecord]) {
        let path = record::path(&self.namespace);
        let merge = |object: Option<&Value>, version: Option<&str>| {
            let document = object
                .map_or_else(|| Ok(RecordDocument::default()), RecordDocument::from_config_map);
            let mut document = document.map_err(|error| error.to_string())?;
            let changed = document.merge(entries, self.kept);
            Ok(changed.then(|| document.config_map(&self.namespace, version)))
        };
        let write = || self.change_config_map(&path, merge);
        if let Err(why) = self.repeat(term, WriteLabel::Record, write).await {
            let failures = entries.len();
            tracing::error!(why, failures, "failed to write the failure record");
        }
    }

    async fn counts(&self, term: u64, outcomes: Vec<CountedNode>) {
        let path = counts::path(&self.namespace);
        let merge = |object: Option<&Value>, version: Option<&str>| {
            let now = (self.clock)();
            // Deleted since: what was counted before is unknown.
            let start = outcomes.iter().map(|outcome| outcome.at).min().unwrap_or(now).min(now);
            let document = object.map(counts::CountsDocument::from_config_map).transpose();
            let document = document.map_err(|error| error.to_string())?;
            let mut document = document.unwrap_or_else(|| counts::CountsDocument::new(start));
            let changed = document.merge(&outcomes, now) || object.is_none();
            Ok(changed.then(|| document.config_map(&self.namespace, version)))
        };
        let write = || self.change_config_map(&path, merge);
        if let Err(why) = self.repeat(term, WriteLabel::Counts, write).await {
            tracing::error!(why, outcomes = outcomes.len(), "failed to write the counts");
            let _ =
                self.to_loop.send(ControllerMessage::Input(Input::CountsFailed(outcomes))).await;
        }
    }

    async fn event(&self, term: u64, event: &Event) {
        if let Err(why) = self.repeat(term, WriteLabel::Event, || self.create_event(event)).await {
            tracing::error!(
                why,
                reason = event.reason,
                about = event.regarding.name,
                "failed to create event"
            );
        }
    }

    /// Tries a write until it succeeds, fails permanently, or the term ends. `write` returns true if there was
    /// anything to write.
    async fn repeat<F>(
        &self,
        term: u64,
        kind: WriteLabel,
        write: impl Fn() -> F,
    ) -> Result<(), String>
    where
        F: Future<Output = Result<bool, WriteError>>,
    {
        let mut why = String::new();
        for pause in PAUSES.iter().map(Some).chain([None]) {
            if !self.gate.allows_write(term).await {
                return Ok(());
            }
            match write().await {
                Ok(written) => {
                    if written {
                        self.metrics.wrote(kind);
                    }
                    return Ok(());
                }
                Err(WriteError::Permanent(what)) => {
                    why = what;
                    break;
                }
                Err(WriteError::Later(what)) => why = what,
            }
            if let Some(pause) = pause {
                tokio::time::sleep(*pause).await;
            }
        }
        self.metrics.write_failed(kind);
        Err(why)
    }

    /// Tries once to change a `ConfigMap`. `change` receives the object, if it exists, and its version, and returns
    /// the new object, none if nothing changes.
    async fn change_config_map(
        &self,
        path: &str,
        change: impl Fn(Option<&Value>, Option<&str>) -> Result<Option<Value>, String>,
    ) -> Result<bool, WriteError> {
        let object = self.api.object(path).await?;
        let version = object.as_ref().map(version_of);
        let changed = change(object.as_ref(), version.as_deref());
        let Some(changed) = changed.map_err(WriteError::Permanent)? else { return Ok(false) };
        self.api.write(path, &changed).await?;
        Ok(true)
    }

    /// Tries once to create an event. Returns true if there was anything to create.
    async fn create_event(&self, event: &Event) -> Result<bool, WriteError> {
        let Some(uid) = self.uid(&event.regarding).await? else {
            let Regarding { kind, name, .. } = &event.regarding;
            tracing::info!(kind = kind.as_str(), name, "event skipped: its object does not exist");
            return Ok(false);
        };
        let path = format!("/apis/events.k8s.io/v1/namespaces/{}/events", event::NAMESPACE);
        let send =
            async |form| self.api.create(&path, &event.body(&uid, &self.instance, form)).await;
        let old = self.old_server.load(Ordering::Relaxed);
        let mut response = send(if old { EventForm::Namespaced } else { EventForm::Plain }).await;
        if let Err(error) = &response
            && !old
            && event::requires_namespace(error.status, &error.what)
        {
            if !self.old_server.swap(true, Ordering::Relaxed) {
                tracing::warn!(
                    "the API server is older than Kubernetes 1.23: `kubectl describe` does not show Mooring's \
                     events; `kubectl get events -n default` does"
                );
            }
            response = send(EventForm::Namespaced).await;
        }
        match response {
            Ok(_) => Ok(true),
            Err(error) => match event::EventResult::of(error.status) {
                event::EventResult::Created => Ok(false),
                event::EventResult::Rejected => Err(WriteError::Permanent(error.what)),
                event::EventResult::Retry => Err(WriteError::Later(error.what)),
            },
        }
    }

    /// Returns the uid of an event's object, read if unknown. None if the object does not exist.
    async fn uid(&self, regarding: &Regarding) -> Result<Option<String>, WriteError> {
        if let Some(uid) = &regarding.uid {
            return Ok(Some(uid.clone()));
        }
        let Some(path) = regarding.kind.path(&regarding.name) else { return Ok(None) };
        let object = self.api.object(&path).await?;
        Ok(object.and_then(|object| object["metadata"]["uid"].as_str().map(str::to_owned)))
    }

    async fn patch(
        &self,
        term: u64,
        uid: Arc<str>,
        name: &str,
        body: &Value,
        kind: patch::StatusPatchKind,
    ) {
        if !self.gate.allows_write(term).await {
            return;
        }
        let response = self.api.json_patch(&format!("{}/status", claim_path(name)), body).await;
        let status = response.as_ref().map_or_else(|error| error.status, |_| Some(200));
        let mut inputs = Vec::new();
        match response {
            Ok(text) => {
                self.metrics.wrote(WriteLabel::Patch(kind));
                inputs.extend(self.projector.text(&text).ok().map(|c| Input::Claim(Box::new(c))));
            }
            Err(error) if matches!(error.status, Some(401 | 403)) => {
                self.metrics.write_failed(WriteLabel::Patch(kind));
                tracing::error!(
                    NodeClaim = name,
                    why = error.what,
                    "failed to patch NodeClaim status"
                );
            }
            Err(_) => {}
        }
        // After the object: a condition missing from its newest version was dropped since.
        inputs.push(Input::Patched { uid, result: PatchResult::of(status) });
        for input in inputs {
            let _ = self.to_loop.send(ControllerMessage::Input(input)).await;
        }
    }
}

enum WriteError {
    Permanent(String),
    Later(String),
}

impl From<ApiError> for WriteError {
    fn from(ApiError { status, what, .. }: ApiError) -> Self {
        match status {
            Some(400 | 401 | 403 | 413 | 422) => Self::Permanent(what),
            _ => Self::Later(what),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use jiff::Timestamp;

    use super::*;
    use crate::verdict::event::RegardingKind;

    fn event(name: &str) -> Action {
        Action::Event(Event {
            regarding: Regarding {
                kind: RegardingKind::NodePool,
                name: name.to_owned(),
                uid: Some("u".to_owned()),
            },
            reason: "CSEFailed",
            note: "n".to_owned(),
            key: "k".to_owned(),
            at: Timestamp::UNIX_EPOCH,
        })
    }

    /// A new term starts from the objects, and would repeat the writes of an earlier one.
    #[tokio::test]
    async fn writes_of_an_earlier_term_are_dropped() {
        let bodies: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = Arc::clone(&bodies);
        let service = tower::service_fn(move |request: http::Request<kube::client::Body>| {
            let seen = Arc::clone(&seen);
            async move {
                let body = request.into_body().collect_bytes().await.unwrap();
                seen.lock().unwrap().push(String::from_utf8_lossy(&body).into_owned());
                let body = kube::client::Body::from(b"{}".to_vec());
                Ok::<_, std::convert::Infallible>(http::Response::new(body))
            }
        });
        let gate = Arc::new(Gate::new(Arc::new(|| Timestamp::UNIX_EPOCH)));
        gate.open(Timestamp::MAX);
        gate.close();
        assert_eq!(gate.open(Timestamp::MAX), 2);
        let (to_loop, _from_writer) = mpsc::channel(4);
        let writer = Writer {
            api: Api::new(kube::Client::new(service, "default")),
            gate,
            clock: Arc::new(|| Timestamp::UNIX_EPOCH),
            projector: Arc::new(Projector::new("CSEProvisioned")),
            metrics: Arc::new(Metrics::new()),
            to_loop,
            namespace: "mooring-system".to_owned(),
            instance: "a".to_owned(),
            kept: 50,
            old_server: AtomicBool::new(false),
        };
        let (to_writer, batches) = mpsc::channel(4);
        for (term, name) in [(1, "of-an-earlier-term"), (2, "of-this-term")] {
            assert!(to_writer.try_send(Batch { term, writes: vec![event(name)] }).is_ok());
        }
        drop(to_writer);
        writer.run(batches).await;
        let bodies = bodies.lock().unwrap();
        assert_eq!(bodies.len(), 1, "{bodies:?}");
        assert!(bodies[0].contains("of-this-term"), "{bodies:?}");
    }
}
