//! The wedge: a scale set whose entry at the network provider is corrupt. Every write of it fails, AKS tries
//! again and again, and only a new scale set, with a new id, is free of it.

use jiff::Timestamp;

use super::activity::error_text;
use super::agenda::Event;
use super::store::{set, text};
use super::world::World;

/// The code of every failed write.
pub(crate) const CODE: &str = "NetworkingInternalOperationError";
/// What stands with it.
pub(crate) const MESSAGE: &str = "Unknown network allocation error.";
/// Seconds between two attempts: at first, and when nobody asks for anything any more.
const EAGER: u64 = 75;
const QUIET: u64 = 180;

/// A wedged scale set.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wedge {
    /// Whether AKS has slowed down.
    pub(crate) quiet: bool,
}

const WRITE: &str = "Microsoft.Compute/virtualMachineScaleSets/write";

impl World {
    /// Wedges a scale set; its next attempt comes after one cycle.
    pub(crate) fn wedge(&mut self, vmss: &str, quiet: bool, now: Timestamp) {
        let key = vmss.to_lowercase();
        if self.wedges.insert(key.clone(), Wedge { quiet }).is_none() {
            self.plan_retry(key, now);
        }
        if let Some(body) = self.store.get_mut(vmss) {
            set(body, "provisioningState", "Failed");
        }
    }

    /// Heals a scale set, which nothing in Azure does by itself.
    pub(crate) fn unwedge(&mut self, vmss: &str, now: Timestamp) {
        let key = vmss.to_lowercase();
        if self.wedges.remove(&key).is_none() {
            return;
        }
        self.agenda.forget(|event| matches!(event, Event::WedgeRetries { vmss } if *vmss == key));
        self.write_vmss(&key, now);
    }

    pub(crate) fn is_wedged(&self, vmss: &str) -> bool {
        self.wedges.contains_key(&vmss.to_lowercase())
    }

    fn plan_retry(&mut self, vmss: String, now: Timestamp) {
        let quiet = self.wedges.get(&vmss).is_some_and(|wedge| wedge.quiet);
        let at = self.after(now, if quiet { QUIET } else { EAGER });
        self.agenda.plan(at, Event::WedgeRetries { vmss });
    }

    /// One more attempt of AKS.
    pub(crate) fn retry_wedge(&mut self, vmss: String, at: Timestamp) {
        if self.is_wedged(&vmss) && self.store.has(&vmss) {
            self.write_vmss(&vmss, at);
            self.plan_retry(vmss, at);
        }
    }

    /// A write of a scale set by AKS, with its entries in the log. Says whether it succeeded.
    pub(crate) fn write_vmss(&mut self, vmss: &str, at: Timestamp) -> bool {
        let wedged = self.is_wedged(vmss);
        let Some(body) = self.store.get_mut(vmss) else { return false };
        set(body, "provisioningState", if wedged { "Failed" } else { "Succeeded" });
        let id = text(body, "/id").to_owned();
        self.log_vmss_write(&id, at, wedged);
        !wedged
    }

    /// The entries of one write, successful or not.
    pub(crate) fn log_vmss_write(&mut self, id: &str, at: Timestamp, fails: bool) {
        let correlation = self.guid();
        let caller = self.options.aks_principal.clone();
        let by = (correlation.as_str(), caller.as_str());
        self.log(at, WRITE, id, "Started", by);
        if fails {
            self.log_error(at, WRITE, id, "Failed", by, Some(error_text(CODE, MESSAGE)));
        } else {
            self.log(at, WRITE, id, "Succeeded", by);
        }
    }
}
