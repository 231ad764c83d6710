//! Holds the Lease, or waits for it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use super::api::{Api, Refusal};
use super::gate::Gate;
use super::{Clock, Controller, Health, Message};
use crate::hash::fraction;
use crate::lease::{self, Candidate, Lease, Step, Times};
use crate::metrics::{Metrics, Write};
use crate::record::{self, Document};

/// One replica's bid for the lease.
pub(super) struct Leader {
    api: Api,
    gate: Arc<Gate>,
    to_loop: mpsc::Sender<Message>,
    clock: Clock,
    health: Arc<Health>,
    metrics: Arc<Metrics>,
    namespace: String,
    instance: String,
    times: Times,
    candidate: Candidate,
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
        let Controller { clock, health, metrics, namespace, settings, times, .. } = controller;
        Self {
            api,
            gate,
            to_loop,
            clock: Arc::clone(clock),
            health: Arc::clone(health),
            metrics: Arc::clone(metrics),
            namespace: namespace.clone(),
            instance: settings.instance.clone(),
            times: *times,
            candidate: Candidate::new(&settings.instance, *times),
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
                self.api.get(&self.path()).await.map(|_| ())
            };
            let now = (self.clock)();
            let reached = tried.as_ref().err().is_none_or(|refusal| refusal.status.is_some());
            self.health.lease_beat(now, reached);
            if let Err(refusal) = tried
                && !matches!(refusal.status, Some(404 | 409))
            {
                tracing::warn!(why = refusal.what, "the lease could not be looked at or written");
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

    fn path(&self) -> String {
        format!("{}/{}", self.list(), lease::NAME)
    }

    fn list(&self) -> String {
        format!("/apis/coordination.k8s.io/v1/namespaces/{}/leases", self.namespace)
    }

    async fn read(&self) -> Result<Option<Lease>, Refusal> {
        match self.api.get(&self.path()).await {
            Ok(text) => {
                let object = serde_json::from_str(&text).unwrap_or_default();
                Ok(Some(Lease::from_value(&object)))
            }
            Err(refusal) if refusal.status == Some(404) => Ok(None),
            Err(refusal) => Err(refusal),
        }
    }

    async fn attempt(&mut self) -> Result<(), Refusal> {
        let lease = self.read().await?;
        let sent = (self.clock)();
        let step = self.candidate.decide(lease.as_ref(), sent);
        let object = self.candidate.object(lease.as_ref(), &self.namespace, sent);
        match step {
            Step::Wait => return Ok(()),
            Step::StepDown => {
                self.gate.close();
                return Ok(());
            }
            Step::Create => self.api.create(&self.list(), &object).await?,
            Step::Acquire | Step::Renew => self.api.replace(&self.path(), &object).await?,
        };
        self.candidate.confirmed(sent);
        self.metrics.wrote(Write::Lease);
        Ok(())
    }

    /// Opens or closes the gate, and tells the loop when that changes.
    async fn follow(&mut self) {
        let until = self.candidate.may_write_until().filter(|until| (self.clock)() < *until);
        match (self.leads, until) {
            (true, Some(until)) => self.gate.open(self.term, until),
            (false, Some(_)) => match self.record().await {
                Ok(record) => {
                    // Reading took time; what counts is what is left now.
                    let Some(until) = self.candidate.may_write_until() else { return };
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
                self.candidate.lost();
                self.leads = false;
                self.metrics.leads(false);
                tracing::warn!(instance = self.instance, "no longer leads");
                let _ = self.to_loop.send(Message::Deposed).await;
            }
            (false, None) => {}
        }
    }

    /// The record as it is; one that cannot be understood counts as empty here and is never overwritten.
    async fn record(&self) -> Result<Document, Refusal> {
        let namespace = &self.namespace;
        let path = format!("/api/v1/namespaces/{namespace}/configmaps/{}", record::NAME);
        match self.api.get(&path).await {
            Ok(text) => {
                let object = serde_json::from_str(&text).unwrap_or_default();
                Ok(Document::from_config_map(&object).unwrap_or_else(|error| {
                    tracing::error!(%error, "the record is left as it is");
                    Document::default()
                }))
            }
            Err(refusal) if matches!(refusal.status, Some(403 | 404)) => Ok(Document::default()),
            Err(refusal) => Err(refusal),
        }
    }

    /// Nobody's, so that the next replica need not wait for it to run out.
    async fn give_back(&mut self) {
        self.gate.close();
        if !std::mem::take(&mut self.leads) {
            return;
        }
        let patience = Duration::from_secs(8);
        let _ = tokio::time::timeout(patience, async {
            let Ok(Some(lease)) = self.read().await else { return };
            let now = (self.clock)();
            if let Some(object) = self.candidate.released(&lease, &self.namespace, now)
                && self.api.replace(&self.path(), &object).await.is_ok()
            {
                tracing::info!("gave the lease back");
            }
        })
        .await;
    }
}
