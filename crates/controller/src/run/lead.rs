//! Holds the Lease, or waits for it.

use std::sync::Arc;

use mooring_kube::{Attempt, Client, Clock, Gate, Holder, RequestError, Times, read_lease};
use tokio::sync::{mpsc, oneshot};

use super::api::{ANSWERED_WITHIN, Api, Refusal};
use super::controller::{Controller, Message};
use super::health::Health;
use crate::hash::fraction;
use crate::metrics::{Metrics, Write};
use crate::record::legacy::{self, OldLease};
use crate::record::{self, Document};

/// The name of the Lease.
const LEASE: &str = "mooring";

/// One replica's bid for the lease.
pub(super) struct Leader {
    api: Api,
    client: Client,
    holder: Holder,
    gate: Arc<Gate>,
    to_loop: mpsc::Sender<Message>,
    clock: Clock,
    health: Arc<Health>,
    metrics: Arc<Metrics>,
    namespace: String,
    instance: String,
    times: Times,
    /// The Lease of an earlier version, until it is known that there is none.
    old_lease: Option<OldLease>,
    /// It was held when it was read last.
    is_waiting: bool,
    failures_kept: usize,
    term: u64,
    leads: bool,
}

impl Leader {
    pub(super) fn new(
        controller: &Controller,
        api: Api,
        gate: Arc<Gate>,
        to_loop: mpsc::Sender<Message>,
    ) -> Self {
        let Controller { kube, clock, health, metrics, namespace, settings, times, .. } =
            controller;
        let client = Client::new(kube.clone()).with_timeout(ANSWERED_WITHIN);
        let instance = &settings.instance;
        let holder =
            Holder::new(client.clone(), namespace, LEASE, instance, *times, Arc::clone(clock));
        Self {
            api,
            client,
            holder,
            gate,
            to_loop,
            clock: Arc::clone(clock),
            health: Arc::clone(health),
            metrics: Arc::clone(metrics),
            namespace: namespace.clone(),
            instance: instance.clone(),
            times: *times,
            old_lease: (namespace != legacy::NAMESPACE).then(|| OldLease::new(instance, *times)),
            is_waiting: false,
            failures_kept: settings.failures_kept,
            term: 0,
            leads: false,
        }
    }

    /// Tries again and again, until told to leave; then gives the lease back.
    pub(super) async fn run(mut self, mut leave: oneshot::Receiver<()>) {
        for round in 0_u64.. {
            // One that has not seen the cluster yet would only keep others from leading.
            let tried = if self.leads || self.health.is_synced() {
                self.attempt().await
            } else {
                self.holder.read().await.map(|_| ())
            };
            let now = (self.clock)();
            let reached = tried.as_ref().err().is_none_or(|error| error.status.is_some());
            self.health.lease_beat(now, reached);
            if let Err(error) = tried
                && error.status != Some(409)
            {
                tracing::warn!(why = %error, "the lease could not be read or written");
            }
            self.follow().await;
            let jitter = fraction(&[&self.instance, &round.to_string()]);
            let pause = self.times.retry.mul_f64(0.8 + 0.4 * jitter);
            if tokio::time::timeout(pause, &mut leave).await.is_ok() {
                break;
            }
        }
        self.give_back().await;
    }

    /// Whether a controller of an earlier version still leads, by its Lease in another namespace.
    async fn earlier_version_leads(&mut self) -> Result<bool, RequestError> {
        if self.leads || self.old_lease.is_none() {
            return Ok(false);
        }
        let lease = match read_lease(&self.client, legacy::NAMESPACE, LEASE).await {
            Err(error) if error.status == Some(403) => {
                tracing::warn!(
                    why = %error,
                    "the Lease of an earlier version in {} cannot be read; continuing without it",
                    legacy::NAMESPACE
                );
                None
            }
            read => read?,
        };
        let now = (self.clock)();
        let held = self.old_lease.as_mut().is_some_and(|old| old.is_held(lease.as_ref(), now));
        if lease.is_none() {
            self.old_lease = None;
        }
        if held && !std::mem::replace(&mut self.is_waiting, held) {
            tracing::info!(
                holder = lease.map(|lease| crate::verdict::text::safe(&lease.holder, 128)),
                "waiting: a controller of an earlier version holds the Lease in {}",
                legacy::NAMESPACE
            );
        }
        self.is_waiting = held;
        Ok(held)
    }

    async fn attempt(&mut self) -> Result<(), RequestError> {
        if self.earlier_version_leads().await? {
            return Ok(());
        }
        match self.holder.attempt().await? {
            Attempt::Held => self.metrics.wrote(Write::Lease),
            Attempt::Waiting(_) => {}
            Attempt::Lost(_) => self.gate.close(),
        }
        Ok(())
    }

    /// Opens or closes the gate, and tells the loop when that changes.
    async fn follow(&mut self) {
        let until = self.holder.may_write_until().filter(|until| (self.clock)() < *until);
        match (self.leads, until) {
            (true, Some(until)) => self.gate.open(self.term, until),
            (false, Some(_)) => match self.record().await {
                Ok(record) => {
                    // Reading took time; what counts is what is left now.
                    let Some(until) = self.holder.may_write_until() else { return };
                    self.term += 1;
                    self.gate.open(self.term, until);
                    self.leads = true;
                    self.metrics.leads(true);
                    tracing::info!(term = self.term, instance = self.instance, "leads");
                    let message = Message::Elected { term: self.term, record };
                    let _ = self.to_loop.send(message).await;
                }
                Err(refusal) => {
                    tracing::warn!(why = refusal.what, "leads not yet: the record cannot be read");
                }
            },
            (true, None) => {
                self.gate.close();
                self.holder.lose();
                self.leads = false;
                self.metrics.leads(false);
                tracing::warn!(instance = self.instance, "no longer leads");
                let _ = self.to_loop.send(Message::Deposed).await;
            }
            (false, None) => {}
        }
    }

    /// The record as it is; one that cannot be understood counts as empty here and is never overwritten. That of an
    /// earlier version is merged into it once.
    async fn record(&self) -> Result<Document, Refusal> {
        let (mut document, version) = match self.read_record(&self.namespace).await? {
            Found::Nothing => (Document::default(), None),
            Found::Unreadable => return Ok(Document::default()),
            Found::Record(document, version) => (document, Some(version)),
        };
        if self.namespace == legacy::NAMESPACE || document.taken_from.is_some() {
            return Ok(document);
        }
        if let Found::Record(old, _) = self.read_record(legacy::NAMESPACE).await? {
            document.take_over(&old, legacy::NAMESPACE, self.failures_kept);
            let object = document.config_map(&self.namespace, version.as_deref());
            let list = record::list_path(&self.namespace);
            let written = match version {
                Some(_) => self.api.replace(&record::path(&self.namespace), &object).await,
                None => self.api.create(&list, &object).await,
            };
            match written {
                Ok(_) => {
                    self.metrics.wrote(Write::Record);
                    let failures = old.entries().count();
                    tracing::info!(failures, "took over the record in {}", legacy::NAMESPACE);
                }
                // Nothing is marked as taken over, so the next leader does it.
                Err(refusal) => {
                    self.metrics.write_failed(Write::Record);
                    tracing::error!(why = refusal.what, "the old record is not taken over yet");
                }
            }
        }
        Ok(document)
    }

    async fn read_record(&self, namespace: &str) -> Result<Found, Refusal> {
        match self.api.get(&record::path(namespace)).await {
            Ok(text) => {
                let object: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
                let version = object["metadata"]["resourceVersion"].as_str().unwrap_or_default();
                Ok(match Document::from_config_map(&object) {
                    Ok(document) => Found::Record(document, version.to_owned()),
                    Err(error) => {
                        tracing::error!(%error, namespace, "the record is left as it is");
                        Found::Unreadable
                    }
                })
            }
            Err(refusal) if matches!(refusal.status, Some(403 | 404)) => Ok(Found::Nothing),
            Err(refusal) => Err(refusal),
        }
    }

    /// Nobody's, so that the next replica need not wait for it to run out.
    async fn give_back(&mut self) {
        self.gate.close();
        if !std::mem::take(&mut self.leads) {
            return;
        }
        if self.holder.release().await {
            tracing::info!("gave the lease back");
        }
    }
}

/// A record as it was found.
enum Found {
    /// None is there, or it may not be read.
    Nothing,
    /// It cannot be understood.
    Unreadable,
    /// A record and its version.
    Record(Document, String),
}
