//! Results of deliveries by hook.

use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use serde::Serialize;

use super::hook::{Hook, HookFormat};

/// Deliveries of a hook since the start of this replica, without its URL.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HookStatus {
    pub name: String,
    pub format: HookFormat,
    pub delivered: u64,
    /// Not delivered after all retries.
    pub undelivered: u64,
    pub last_delivered_at: Option<Timestamp>,
    /// Time of the first failed attempt since the last delivery.
    pub failing_since_at: Option<Timestamp>,
    pub error: Option<String>,
}

/// Statuses of all hooks.
#[derive(Debug, Default)]
pub struct Statuses(Mutex<Vec<HookStatus>>);

impl Statuses {
    pub(super) fn new(hooks: &[Hook]) -> Self {
        let status = |hook: &Hook| HookStatus {
            name: hook.name.clone(),
            format: hook.format,
            ..HookStatus::default()
        };
        Self(Mutex::new(hooks.iter().map(status).collect()))
    }

    pub fn all(&self) -> Vec<HookStatus> {
        self.lock().clone()
    }

    pub(crate) fn delivered(&self, hook: &str, at: Timestamp) {
        self.change(hook, |status| {
            status.delivered += 1;
            status.last_delivered_at = Some(at);
            (status.failing_since_at, status.error) = (None, None);
        });
    }

    pub(crate) fn failed(&self, hook: &str, at: Timestamp, error: &str) {
        self.change(hook, |status| {
            status.failing_since_at.get_or_insert(at);
            status.error = Some(error.to_owned());
        });
    }

    pub(crate) fn undelivered(&self, hook: &str) {
        self.change(hook, |status| status.undelivered += 1);
    }

    fn change(&self, hook: &str, change: impl FnOnce(&mut HookStatus)) {
        if let Some(status) = self.lock().iter_mut().find(|status| status.name == hook) {
            change(status);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<HookStatus>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
