//! Alerts and their pending notifications, in a `ConfigMap`.
//!
//! Only names are stored. Another writer of the `ConfigMap` can cause or prevent the message that an alert ended and
//! choose the names in it; texts of open alerts, hosts and keys come from the live state and the configuration.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::alert::{Alert, AlertEvent, AlertSubject};
use super::hook::Hook;
use crate::record::{self, StoredText};
use crate::text::safe;

pub const NAME: &str = "mooring-notifications";
pub const KEY: &str = "notifications.json";
pub const SCHEMA: &str = "mooring.notifications/v1";
/// With names of up to 600 bytes and 16 hooks of 63 bytes each, at most 230 KiB.
const MAX_ALERTS: usize = 128;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredAlert {
    pub id: String,
    pub event: AlertEvent,
    #[serde(flatten)]
    pub subject: AlertSubject,
    pub started_at: Timestamp,
    pub over_at: Option<Timestamp>,
    /// Names of hooks that wait for the current state.
    #[serde(default)]
    pub pending: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    pub schema: String,
    #[serde(default)]
    pub alerts: Vec<StoredAlert>,
}

#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    #[error("cannot read the notifications: {0}")]
    NoDocument(#[from] serde_json::Error),
    #[error("the notifications have schema {0:?}; this version supports {SCHEMA}")]
    OtherSchema(String),
}

pub(crate) fn path(namespace: &str) -> String {
    format!("{}/{NAME}", record::list_path(namespace))
}

impl Default for Ledger {
    fn default() -> Self {
        Self { schema: SCHEMA.to_owned(), alerts: Vec::new() }
    }
}

impl Ledger {
    pub fn from_config_map(object: &Value) -> Result<Self, LedgerError> {
        let Some(text) = object["data"][KEY].as_str() else { return Ok(Self::default()) };
        let schema: Value = serde_json::from_str(text)?;
        let schema = schema["schema"].as_str().unwrap_or_default();
        if schema != SCHEMA {
            return Err(LedgerError::OtherSchema(safe(schema, 64)));
        }
        let mut ledger: Self = serde_json::from_str(text)?;
        ledger.alerts.truncate(MAX_ALERTS);
        for AlertSubject { pool, image, cause } in
            ledger.alerts.iter_mut().map(|alert| &mut alert.subject)
        {
            for name in [pool, image, cause].into_iter().flatten() {
                *name = safe(name, 128);
            }
        }
        Ok(ledger)
    }

    pub fn config_map(&self, namespace: &str, resource_version: Option<&str>) -> Value {
        let text = serde_json::to_string(self).unwrap_or_default();
        StoredText { name: NAME, key: KEY, text }.config_map(namespace, resource_version)
    }

    /// Follows the open alerts: new ones wait for their hooks, and missing ones have ended. Returns the number of new
    /// alerts above the limit, which are dropped.
    pub fn update(&mut self, open: &[Alert], hooks: &[Hook], now: Timestamp) -> u64 {
        let ids: Vec<String> = open.iter().map(Alert::id).collect();
        for stored in &mut self.alerts {
            stored.pending.retain(|name| hooks.iter().any(|hook| hook.name == *name));
            let is_open = ids.contains(&stored.id) || stored.event == AlertEvent::Controller;
            if !is_open && stored.over_at.is_none() {
                stored.over_at = Some(now);
                stored.pending = names(hooks, stored.event.at_end());
            }
        }
        // An alert that is open again replaces one that ended, and whose end was not delivered.
        self.alerts.retain(|stored| {
            stored.over_at.is_none() || !(stored.pending.is_empty() || ids.contains(&stored.id))
        });
        let mut dropped = 0;
        for (alert, id) in open.iter().zip(ids) {
            if self.alerts.iter().any(|stored| stored.id == id) {
                continue;
            }
            dropped += u64::from(!self.add(alert, id, hooks, now));
        }
        dropped
    }

    /// Adds the alert of a new leader, which replaces that of an earlier one. Returns false above the limit.
    pub fn announce(&mut self, alert: &Alert, hooks: &[Hook], now: Timestamp) -> bool {
        let id = alert.id();
        self.alerts.retain(|stored| stored.event != AlertEvent::Controller);
        if !self.add(alert, id.clone(), hooks, now) {
            return false;
        }
        self.alerts.retain(|stored| stored.id != id || !stored.pending.is_empty());
        true
    }

    fn add(&mut self, alert: &Alert, id: String, hooks: &[Hook], now: Timestamp) -> bool {
        if self.alerts.len() >= MAX_ALERTS {
            return false;
        }
        self.alerts.push(StoredAlert {
            id,
            event: alert.event,
            subject: alert.subject.clone(),
            started_at: now,
            over_at: None,
            pending: names(hooks, alert.event),
        });
        true
    }

    /// Returns the oldest alert that a hook waits for.
    pub fn next_for(&self, hook: &str) -> Option<&StoredAlert> {
        self.alerts.iter().find(|stored| stored.pending.iter().any(|name| name == hook))
    }

    /// Ends the wait of a hook for an alert in this state.
    pub fn settle(&mut self, sent: &StoredAlert, hook: &str) {
        for stored in &mut self.alerts {
            if (&stored.id, stored.over_at) == (&sent.id, sent.over_at) {
                stored.pending.retain(|name| name != hook);
            }
        }
        self.alerts.retain(|stored| {
            let ended = stored.over_at.is_some() || stored.event == AlertEvent::Controller;
            !ended || !stored.pending.is_empty()
        });
    }
}

fn names(hooks: &[Hook], event: AlertEvent) -> Vec<String> {
    let hooks = hooks.iter().filter(|hook| hook.events.contains(&event));
    hooks.map(|hook| hook.name.clone()).collect()
}
