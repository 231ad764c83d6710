use std::sync::Arc;
use std::time::Duration;

use mooring_kube::{Clock, Gate};
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::delivery::{Delivery, DeliveryResult};
use super::term::{OpenAlerts, Term};
use crate::metrics::{Metrics, WriteLabel};
use crate::notify::ledger::{self, Ledger, StoredAlert};
use crate::notify::payload::Notification;
use crate::notify::{Alert, AlertEvent, Notifications};
use crate::record;
use crate::run::api::{Api, ApiError};
use crate::run::controller::Controller;

/// Pause before the stored notifications are read again.
const LOAD_PAUSE: Duration = Duration::from_secs(5);

pub(in crate::run) struct Notifier {
    api: Api,
    gate: Arc<Gate>,
    clock: Clock,
    metrics: Arc<Metrics>,
    notifications: Notifications,
    namespace: String,
    cluster: Option<String>,
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
        let notifications = controller.notifications.clone();
        notifications.transport.as_ref().filter(|_| !notifications.hooks.is_empty())?;
        for hook in &notifications.hooks {
            controller.metrics.add_hook(&hook.name);
        }
        Some(Self {
            api,
            gate: Arc::clone(gate),
            clock: Arc::clone(&controller.clock),
            metrics: Arc::clone(&controller.metrics),
            busy: vec![false; notifications.hooks.len()],
            notifications,
            namespace: controller.namespace.clone(),
            cluster: controller.settings.scope.cluster.clone(),
            leader: Alert::of_leader(&controller.settings.instance),
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
        let now = (self.clock)();
        let Some(mut current) = self.current.take() else { return true };
        let dropped = current.ledger.update(&alerts, &self.notifications.hooks, now);
        for _ in 0..dropped {
            for hook in &self.notifications.hooks {
                self.metrics.notified(&hook.name, "dropped");
            }
        }
        self.store(&mut current).await;
        self.send(&current, &alerts);
        self.current = Some(current);
        true
    }

    async fn load(&self, number: u64) -> Result<Term, ApiError> {
        let object: Option<Value> = match self.api.get(&ledger::path(&self.namespace)).await {
            Ok(text) => Some(serde_json::from_str(&text).unwrap_or_default()),
            Err(error) if matches!(error.status, Some(403 | 404)) => None,
            Err(error) => return Err(error),
        };
        let version = object.as_ref().map(version_of);
        let parsed = object.as_ref().map(Ledger::from_config_map).transpose();
        let is_writable = parsed.is_ok();
        let stored = parsed.unwrap_or_else(|error| {
            tracing::error!(%error, "failed to parse the notifications; they are not changed");
            self.metrics.write_failed(WriteLabel::Notifications);
            None
        });
        let stored = stored.unwrap_or_default();
        let mut current = Term { number, ledger: stored.clone(), stored, version, is_writable };
        current.ledger.announce(&self.leader, &self.notifications.hooks, (self.clock)());
        Ok(current)
    }

    /// Stores changes before they are sent. If that fails they are sent anyway: a repeated notification is better
    /// than a lost one.
    async fn store(&self, current: &mut Term) {
        let is_changed = current.ledger != current.stored;
        if !current.is_writable || !is_changed || !self.gate.allows_write(current.number).await {
            return;
        }
        let object = current.ledger.config_map(&self.namespace, current.version.as_deref());
        let written = match &current.version {
            Some(_) => self.api.replace(&ledger::path(&self.namespace), &object).await,
            None => self.api.create(&record::list_path(&self.namespace), &object).await,
        };
        match written {
            Ok(text) => {
                self.metrics.wrote(WriteLabel::Notifications);
                let object: Value = serde_json::from_str(&text).unwrap_or_default();
                current.version = Some(version_of(&object));
                current.stored = current.ledger.clone();
            }
            Err(error) => {
                self.metrics.write_failed(WriteLabel::Notifications);
                tracing::error!(why = error.what, "failed to store the notifications");
                // Another writer changed or created the object: only its version is taken.
                if error.status == Some(409)
                    && let Ok(text) = self.api.get(&ledger::path(&self.namespace)).await
                {
                    let object: Value = serde_json::from_str(&text).unwrap_or_default();
                    current.version = Some(version_of(&object));
                }
            }
        }
    }

    /// Starts the next delivery of every idle hook.
    fn send(&mut self, current: &Term, alerts: &[Alert]) {
        let Some(transport) = &self.notifications.transport else { return };
        for (number, hook) in self.notifications.hooks.iter().enumerate() {
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
            let notification =
                Notification { stored: stored.clone(), live, cluster: self.cluster.clone() };
            let delivery = Delivery {
                transport: Arc::clone(transport),
                hook: hook.clone(),
                notification,
                statuses: Arc::clone(&self.notifications.statuses),
                clock: Arc::clone(&self.clock),
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
        let Some(hook) = self.notifications.hooks.get(number) else { return };
        match result {
            DeliveryResult::Delivered => self.metrics.notified(&hook.name, "delivered"),
            DeliveryResult::Undelivered(why) => {
                self.metrics.notified(&hook.name, "undelivered");
                tracing::error!(hook = hook.name, why, "notification not delivered");
            }
            DeliveryResult::TermEnded => {}
        }
        current.ledger.settle(sent, &hook.name);
    }
}

fn version_of(object: &Value) -> String {
    object["metadata"]["resourceVersion"].as_str().unwrap_or_default().to_owned()
}
