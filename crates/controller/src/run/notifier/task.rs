use std::sync::Arc;
use std::time::Duration;

use mooring_kube::Gate;
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::delivery::{Delivery, DeliveryResult};
use crate::metrics::WriteLabel;
use crate::notify::ledger::{self, Ledger, StoredAlert};
use crate::notify::payload::Notification;
use crate::notify::{Alert, AlertEvent};
use crate::run::api::{Api, ApiError, version_of};
use crate::run::controller::Controller;

/// Pause before the stored notifications are read again.
const LOAD_PAUSE: Duration = Duration::from_secs(5);

/// All open alerts of a term.
#[derive(Clone, Debug)]
pub(in crate::run) struct OpenAlerts {
    pub(in crate::run) term: u64,
    pub(in crate::run) alerts: Arc<Vec<Alert>>,
}

/// State of a term.
struct Term {
    number: u64,
    ledger: Ledger,
    /// Ledger as last read or written.
    stored: Ledger,
    version: Option<String>,
    /// False if the `ConfigMap` is unreadable: it is not changed.
    is_writable: bool,
}

pub(in crate::run) struct Notifier {
    api: Api,
    gate: Arc<Gate>,
    controller: Controller,
    leader: Alert,
    alerts: watch::Receiver<Option<OpenAlerts>>,
    deliveries: JoinSet<(usize, StoredAlert, DeliveryResult)>,
    /// Hooks with a delivery in progress; one at a time keeps the order.
    busy: Vec<bool>,
    current: Option<Term>,
}

impl Notifier {
    /// Returns none without hooks.
    pub(in crate::run) fn new(
        controller: &Controller,
        api: Api,
        gate: &Arc<Gate>,
        alerts: watch::Receiver<Option<OpenAlerts>>,
    ) -> Option<Self> {
        let Controller { notifications, metrics, settings, .. } = controller;
        notifications.transport.as_ref().filter(|_| !notifications.hooks.is_empty())?;
        for hook in &notifications.hooks {
            metrics.add_hook(&hook.name);
        }
        Some(Self {
            api,
            gate: Arc::clone(gate),
            busy: vec![false; notifications.hooks.len()],
            leader: Alert::of_leader(&settings.instance),
            controller: controller.clone(),
            alerts,
            deliveries: JoinSet::new(),
            current: None,
        })
    }

    /// Runs until the sender of alerts is dropped.
    pub(in crate::run) async fn run(mut self) {
        loop {
            let open = self.alerts.borrow_and_update().clone();
            let loaded = if let Some(open) = open {
                self.follow(open).await
            } else {
                self.stop();
                true
            };
            tokio::select! {
                changed = self.alerts.changed() => if changed.is_err() { return },
                Some(done) = self.deliveries.join_next(), if self.busy.contains(&true) => {
                    if let Ok((hook, sent, result)) = done {
                        self.settle(hook, &sent, result);
                    }
                }
                () = tokio::time::sleep(LOAD_PAUSE), if !loaded => {}
            }
        }
    }

    /// Drops the state of a term; a new one starts from the API server.
    fn stop(&mut self) {
        self.deliveries = JoinSet::new();
        self.busy.fill(false);
        self.current = None;
    }

    /// Compares the open alerts with the stored ones, stores changes, and sends. Returns false if the stored ones cannot
    /// be read yet.
    async fn follow(&mut self, open: OpenAlerts) -> bool {
        let OpenAlerts { term, alerts } = open;
        if self.current.as_ref().is_none_or(|current| current.number != term) {
            self.stop();
            match self.load(term).await {
                Ok(loaded) => self.current = Some(loaded),
                Err(error) => {
                    tracing::warn!(why = error.what, "failed to read the notifications; retrying");
                    return false;
                }
            }
        }
        let now = (self.controller.clock)();
        let Some(mut current) = self.current.take() else { return true };
        let dropped = current.ledger.update(&alerts, &self.controller.notifications.hooks, now);
        for _ in 0..dropped {
            for hook in &self.controller.notifications.hooks {
                self.controller.metrics.notified(&hook.name, "dropped");
            }
        }
        self.store(&mut current).await;
        self.send(&current, &alerts);
        self.current = Some(current);
        true
    }

    async fn load(&self, number: u64) -> Result<Term, ApiError> {
        let path = ledger::path(&self.controller.namespace);
        let object = self.api.permitted_object(&path).await?;
        let version = object.as_ref().map(version_of);
        let parsed = object.as_ref().map(Ledger::from_config_map).transpose();
        let is_writable = parsed.is_ok();
        let stored = parsed.unwrap_or_else(|error| {
            tracing::error!(%error, "failed to parse the notifications; they are not changed");
            self.controller.metrics.write_failed(WriteLabel::Notifications);
            None
        });
        let stored = stored.unwrap_or_default();
        let mut current = Term { number, ledger: stored.clone(), stored, version, is_writable };
        current.ledger.announce(
            &self.leader,
            &self.controller.notifications.hooks,
            (self.controller.clock)(),
        );
        Ok(current)
    }

    /// Stores changes before they are sent. If that fails they are sent anyway: a repeated notification is better
    /// than a lost one.
    async fn store(&self, current: &mut Term) {
        let is_changed = current.ledger != current.stored;
        if !current.is_writable || !is_changed || !self.gate.allows_write(current.number).await {
            return;
        }
        let Controller { namespace, metrics, .. } = &self.controller;
        let path = ledger::path(namespace);
        let object = current.ledger.config_map(namespace, current.version.as_deref());
        match self.api.write(&path, &object).await {
            Ok(text) => {
                metrics.wrote(WriteLabel::Notifications);
                let object: Value = serde_json::from_str(&text).unwrap_or_default();
                current.version = Some(version_of(&object));
                current.stored = current.ledger.clone();
            }
            Err(error) => {
                metrics.write_failed(WriteLabel::Notifications);
                tracing::error!(why = error.what, "failed to store the notifications");
                // Another writer changed or created the object: only its version is taken.
                if error.status == Some(409)
                    && let Ok(Some(object)) = self.api.object(&path).await
                {
                    current.version = Some(version_of(&object));
                }
            }
        }
    }

    /// Starts the next delivery of every idle hook.
    fn send(&mut self, current: &Term, alerts: &[Alert]) {
        let Controller { notifications, settings, clock, .. } = &self.controller;
        let Some(transport) = &notifications.transport else { return };
        for (number, hook) in notifications.hooks.iter().enumerate() {
            let Some(stored) = current.ledger.next_for(&hook.name).filter(|_| !self.busy[number])
            else {
                continue;
            };
            let live = match stored.event {
                AlertEvent::Controller => Some(self.leader.clone()),
                _ if stored.over_at.is_some() => None,
                _ => alerts.iter().find(|alert| alert.id() == stored.id).cloned(),
            };
            let stored = stored.clone();
            let notification = Notification {
                stored: stored.clone(),
                live,
                cluster: settings.scope.cluster.clone(),
            };
            let delivery = Delivery {
                transport: Arc::clone(transport),
                hook: hook.clone(),
                notification,
                statuses: Arc::clone(&notifications.statuses),
                clock: Arc::clone(clock),
                gate: Arc::clone(&self.gate),
                term: current.number,
            };
            self.busy[number] = true;
            self.deliveries.spawn(async move { (number, stored, delivery.run().await) });
        }
    }

    fn settle(&mut self, number: usize, sent: &StoredAlert, result: DeliveryResult) {
        // The next leader sends it.
        if matches!(result, DeliveryResult::TermEnded) {
            return;
        }
        self.busy[number] = false;
        let Some(current) = &mut self.current else { return };
        let Some(hook) = self.controller.notifications.hooks.get(number) else { return };
        match result {
            DeliveryResult::Delivered => self.controller.metrics.notified(&hook.name, "delivered"),
            DeliveryResult::Undelivered(why) => {
                self.controller.metrics.notified(&hook.name, "undelivered");
                tracing::error!(hook = hook.name, why, "notification not delivered");
            }
            DeliveryResult::TermEnded => {}
        }
        current.ledger.settle(sent, &hook.name);
    }
}
