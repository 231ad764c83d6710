//! Leader election.

use std::sync::Arc;

use mooring_k8s::{Client, Gate, Holder, LeaseAttempt, RequestError};
use mooring_nodes::record::counts::{self, StoredCounts};
use mooring_nodes::record::{self, RecordDocument};
use mooring_nodes::text::fraction;
use tokio::sync::{mpsc, oneshot};

use super::api::{Api, ApiError, RESPONSE_TIMEOUT};
use super::controller::{Controller, ControllerMessage};
use crate::metrics::WriteLabel;

const LEASE: &str = "mooring";

pub(super) struct Leader {
    api: Api,
    holder: Holder,
    gate: Arc<Gate>,
    to_loop: mpsc::Sender<ControllerMessage>,
    controller: Controller,
    leads: bool,
}

impl Leader {
    pub(super) fn new(
        controller: &Controller,
        api: Api,
        gate: Arc<Gate>,
        to_loop: mpsc::Sender<ControllerMessage>,
    ) -> Self {
        let Controller { kube, clock, namespace, settings, times, .. } = controller;
        let client = Client::new(kube.clone()).with_timeout(RESPONSE_TIMEOUT);
        let instance = &settings.instance;
        let holder = Holder::new(client, namespace, LEASE, instance, *times, Arc::clone(clock));
        Self { api, holder, gate, to_loop, controller: controller.clone(), leads: false }
    }

    /// Tries to acquire or renew the Lease until stopped; then releases it.
    pub(super) async fn run(mut self, mut leave: oneshot::Receiver<()>) {
        for round in 0_u64.. {
            // A replica without synced caches would only keep others from leading.
            let tried = if self.leads || self.controller.health.is_synced() {
                self.attempt().await
            } else {
                self.holder.read().await.map(|_| ())
            };
            let now = (self.controller.clock)();
            let reached = tried.as_ref().err().is_none_or(|error| error.status.is_some());
            self.controller.health.record_lease(now, reached);
            if let Err(error) = tried
                && error.status != Some(409)
            {
                tracing::warn!(why = %error, "failed to get or update lease");
            }
            self.update_gate().await;
            let jitter = fraction(&[&self.controller.settings.instance, &round.to_string()]);
            let pause = self.controller.times.retry.mul_f64(0.8 + 0.4 * jitter);
            if tokio::time::timeout(pause, &mut leave).await.is_ok() {
                break;
            }
        }
        self.release().await;
    }

    async fn attempt(&mut self) -> Result<(), RequestError> {
        match self.holder.attempt().await? {
            LeaseAttempt::Held => self.controller.metrics.wrote(WriteLabel::Lease),
            LeaseAttempt::Waiting(_) => {}
            LeaseAttempt::Lost(_) => self.gate.close(),
        }
        Ok(())
    }

    /// Opens or closes the gate, and notifies the loop of changes.
    async fn update_gate(&mut self) {
        let until =
            self.holder.may_write_until().filter(|until| (self.controller.clock)() < *until);
        match (self.leads, until) {
            (true, Some(until)) => {
                self.gate.open(until);
            }
            (false, Some(_)) => match self.documents().await {
                Ok((record, counts)) => {
                    // Reading took time; the remaining time counts.
                    let Some(until) = self.holder.may_write_until() else { return };
                    let term = self.gate.open(until);
                    self.leads = true;
                    self.controller.metrics.leads(true);
                    tracing::info!(
                        term,
                        instance = self.controller.settings.instance,
                        "acquired lease"
                    );
                    let message = ControllerMessage::Elected { term, record, counts };
                    let _ = self.to_loop.send(message).await;
                }
                Err(error) => {
                    tracing::warn!(
                        why = error.what,
                        "not leading yet: failed to read the failure record or the counts"
                    );
                }
            },
            (true, None) => {
                self.gate.close();
                self.holder.lose();
                self.leads = false;
                self.controller.metrics.leads(false);
                tracing::warn!(instance = self.controller.settings.instance, "lost lease");
                let _ = self.to_loop.send(ControllerMessage::Deposed).await;
            }
            (false, None) => {}
        }
    }

    async fn documents(&self) -> Result<(RecordDocument, StoredCounts), ApiError> {
        Ok((self.record().await?, self.counts().await?))
    }

    async fn counts(&self) -> Result<StoredCounts, ApiError> {
        let object = self.api.permitted_object(&counts::path(&self.controller.namespace)).await?;
        let Some(object) = object else { return Ok(StoredCounts::Missing) };
        Ok(match counts::CountsDocument::from_config_map(&object) {
            Ok(document) => StoredCounts::Counted(document.counted().clone()),
            Err(error) => {
                self.controller.metrics.write_failed(WriteLabel::Counts);
                tracing::error!(%error, "failed to parse the counts; they are not changed");
                StoredCounts::Unreadable
            }
        })
    }

    /// Reads the record. An unreadable one counts as empty here and is never overwritten.
    async fn record(&self) -> Result<RecordDocument, ApiError> {
        let object = self.api.permitted_object(&record::path(&self.controller.namespace)).await?;
        let Some(object) = object else { return Ok(RecordDocument::default()) };
        Ok(RecordDocument::from_config_map(&object).unwrap_or_else(|error| {
            tracing::error!(%error, "failed to parse the failure record; it is not changed");
            RecordDocument::default()
        }))
    }

    /// Releases the Lease, so that the next replica need not wait for its end.
    async fn release(&mut self) {
        self.gate.close();
        if !std::mem::take(&mut self.leads) {
            return;
        }
        if self.holder.release().await {
            tracing::info!("released lease");
        }
    }
}
