//! Leader election.

use std::sync::Arc;

use mooring_kube::{Client, Gate, Holder, LeaseAttempt, RequestError, read_lease};
use tokio::sync::{mpsc, oneshot};

use super::api::{Api, ApiError, RESPONSE_TIMEOUT, version_of};
use super::controller::{Controller, ControllerMessage};
use crate::hash::fraction;
use crate::metrics::WriteLabel;
use crate::record::counts::{self, StoredCounts};
use crate::record::legacy::{self, OldLease};
use crate::record::{self, RecordDocument};

const LEASE: &str = "mooring";

pub(super) struct Leader {
    api: Api,
    client: Client,
    holder: Holder,
    gate: Arc<Gate>,
    to_loop: mpsc::Sender<ControllerMessage>,
    controller: Controller,
    /// Lease of version 0.1.0, until it is known not to exist.
    old_lease: Option<OldLease>,
    is_waiting: bool,
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
        let holder =
            Holder::new(client.clone(), namespace, LEASE, instance, *times, Arc::clone(clock));
        Self {
            api,
            client,
            holder,
            gate,
            to_loop,
            old_lease: (namespace != legacy::NAMESPACE).then(|| OldLease::new(instance, *times)),
            controller: controller.clone(),
            is_waiting: false,
            leads: false,
        }
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

    /// Returns true if a controller of version 0.1.0 still holds its Lease in the other namespace.
    async fn earlier_version_leads(&mut self) -> Result<bool, RequestError> {
        if self.leads || self.old_lease.is_none() {
            return Ok(false);
        }
        let lease = match read_lease(&self.client, legacy::NAMESPACE, LEASE).await {
            Err(error) if error.status == Some(403) => {
                tracing::warn!(
                    why = %error,
                    "failed to get the Lease of an earlier version in {}; continuing without it",
                    legacy::NAMESPACE
                );
                None
            }
            read => read?,
        };
        let now = (self.controller.clock)();
        let held = self.old_lease.as_mut().is_some_and(|old| old.is_held(lease.as_ref(), now));
        if lease.is_none() {
            self.old_lease = None;
        }
        if held && !std::mem::replace(&mut self.is_waiting, held) {
            tracing::info!(
                holder = lease.map(|lease| crate::text::safe(&lease.holder, 128)),
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

    /// Reads the record. An unreadable one counts as empty here and is never overwritten. The record of
    /// version 0.1.0 is merged once.
    async fn record(&self) -> Result<RecordDocument, ApiError> {
        let Some((mut document, version)) = self.read_record(&self.controller.namespace).await?
        else {
            return Ok(RecordDocument::default());
        };
        if self.controller.namespace == legacy::NAMESPACE || document.taken_from.is_some() {
            return Ok(document);
        }
        if let Some((old, Some(_))) = self.read_record(legacy::NAMESPACE).await? {
            document.take_over(&old, legacy::NAMESPACE, self.controller.settings.failures_kept);
            let object = document.config_map(&self.controller.namespace, version.as_deref());
            match self.api.write(&record::path(&self.controller.namespace), &object).await {
                Ok(_) => {
                    self.controller.metrics.wrote(WriteLabel::Record);
                    let failures = old.entries().count();
                    tracing::info!(
                        failures,
                        "merged the failure record of namespace {}",
                        legacy::NAMESPACE
                    );
                }
                // Not marked as taken over, so the next leader retries.
                Err(error) => {
                    self.controller.metrics.write_failed(WriteLabel::Record);
                    tracing::error!(
                        why = error.what,
                        "failed to merge the failure record of an earlier version"
                    );
                }
            }
        }
        Ok(document)
    }

    /// Returns the record of a namespace, and its version if it exists. None if it is unreadable.
    async fn read_record(
        &self,
        namespace: &str,
    ) -> Result<Option<(RecordDocument, Option<String>)>, ApiError> {
        let object = self.api.permitted_object(&record::path(namespace)).await?;
        let Some(object) = object else { return Ok(Some((RecordDocument::default(), None))) };
        Ok(match RecordDocument::from_config_map(&object) {
            Ok(document) => Some((document, Some(version_of(&object)))),
            Err(error) => {
                tracing::error!(%error, namespace, "failed to parse the failure record; it is not changed");
                None
            }
        })
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
