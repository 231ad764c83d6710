//! The wedge: a scale set whose entry at the network provider is corrupt. Every write of it fails,
//! AKS retries indefinitely, and only a new scale set, with a new id, works.

use std::time::Duration;

use jiff::Timestamp;

use crate::azure::state::{
    AzureState, Correlation, Origin, ScheduledEvent, earlier, set, text, wrapped_error,
};

/// Code of every failed write.
pub(crate) const CODE: &str = "NetworkingInternalOperationError";
pub(crate) const MESSAGE: &str = "Unknown network allocation error.";
const OUTER: [&str; 2] = ["ResourceOperationFailure", "ResourceDeploymentFailure"];
/// Seconds between the ends of two attempts of AKS: minimum and maximum.
pub(crate) const CADENCE: (u64, u64) = (160, 200);
/// Seconds that one write takes: minimum and maximum.
const TAKES: (u64, u64) = (60, 150);

const WRITE: &str = "Microsoft.Compute/virtualMachineScaleSets/write";

impl AzureState {
    /// Wedges a scale set; AKS retries after one cycle.
    pub(crate) fn wedge(&mut self, vmss: &str, correlation: Correlation, now: Timestamp) {
        let key = vmss.to_lowercase();
        if !self.wedges.contains_key(&key) {
            let correlation = (correlation == Correlation::Shared).then(|| self.guid());
            self.wedges.insert(key.clone(), correlation);
            self.plan_retry(key, now);
        }
        if let Some(body) = self.store.get_mut(vmss) {
            set(body, "provisioningState", "Failed");
        }
    }

    pub(crate) fn unwedge(&mut self, vmss: &str, now: Timestamp) {
        let key = vmss.to_lowercase();
        if self.wedges.remove(&key).is_none() {
            return;
        }
        self.events
            .forget(|event| matches!(event, ScheduledEvent::WedgeRetries { vmss } if *vmss == key));
        self.write_vmss(&key, now);
    }

    pub(crate) fn is_wedged(&self, vmss: &str) -> bool {
        self.wedges.contains_key(&vmss.to_lowercase())
    }

    fn plan_retry(&mut self, vmss: String, now: Timestamp) {
        let pause = self.draw_seconds(CADENCE);
        let at = self.after(now, pause);
        self.events.plan(at, ScheduledEvent::WedgeRetries { vmss });
    }

    /// Draws a whole number of seconds in the range.
    pub(crate) fn draw_seconds(&mut self, (least, most): (u64, u64)) -> u64 {
        let (least, most) = (Duration::from_secs(least), Duration::from_secs(most));
        self.random.between(least, most).as_secs()
    }

    pub(crate) fn retry_wedge(&mut self, vmss: String, at: Timestamp) {
        if self.is_wedged(&vmss) && self.store.has(&vmss) {
            self.write_vmss(&vmss, at);
            self.plan_retry(vmss, at);
        }
    }

    /// Writes a scale set as AKS, ending at `at`, with log entries. Returns true if it succeeded.
    pub(crate) fn write_vmss(&mut self, vmss: &str, at: Timestamp) -> bool {
        let wedged = self.is_wedged(vmss);
        let Some(body) = self.store.get_mut(vmss) else { return false };
        set(body, "provisioningState", if wedged { "Failed" } else { "Succeeded" });
        let id = text(body, "/id").to_owned();
        self.log_vmss_write(&id, at, wedged);
        !wedged
    }

    pub(crate) fn log_vmss_write(&mut self, id: &str, at: Timestamp, fails: bool) {
        let (operation, own) = (self.guid(), self.guid());
        let shared = self.wedges.get(&id.to_lowercase()).cloned().flatten();
        let correlation = shared.unwrap_or(own);
        let caller = self.options.aks_principal.clone();
        let by = Origin { operation: &operation, correlation: &correlation, caller: &caller };
        let took = Duration::from_secs(self.draw_seconds(TAKES));
        let took = self.options.scaled(took);
        let began = earlier(at, took.as_secs().try_into().unwrap_or(i64::MAX));
        self.log_begin(began, WRITE, id, by);
        let error = fails.then(|| {
            let outer = if self.random.random_bool(0.5) { OUTER[0] } else { OUTER[1] };
            wrapped_error(outer, CODE, MESSAGE)
        });
        self.log(at, WRITE, id, if fails { "Failed" } else { "Succeeded" }, by, error);
    }
}
