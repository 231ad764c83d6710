//! Time, trace and tokens of simulated Azure; bootstraps that a real agent runs outside the model.

use jiff::Timestamp;

use crate::azure::api::access::sign_in;
use crate::azure::state::{Azure, AzureChange, AzureOptions, Cse, Vm, text};
use crate::trace::Trace;

impl Azure {
    /// Applies every event that is due by `now`.
    pub fn settle(&mut self, now: Timestamp) {
        self.state.settle(self.model_time(now));
    }

    pub fn next_change(&self) -> Option<Timestamp> {
        let at = self.state.events.next()?;
        Some(at.saturating_sub(self.clock).unwrap_or(at))
    }

    /// Returns the changes since the last call that the cluster's API would see, in order.
    pub fn take_changes(&mut self) -> Vec<AzureChange> {
        std::mem::take(&mut self.state.changes)
    }

    /// Requests and responses with the seed and every rule: enough to replay a run.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    pub fn options(&self) -> &AzureOptions {
        &self.state.options
    }

    pub fn token(&self, audience: &str, now: Timestamp) -> String {
        let options = &self.state.options;
        let now = self.model_time(now);
        sign_in::token(options, &options.principal, audience, &options.endpoint, now)
    }

    pub(crate) fn karpenter_token(&self, now: Timestamp) -> String {
        let options = &self.state.options;
        let (who, audience) = (&options.karpenter_principal, &options.endpoint);
        sign_in::token(options, who, audience, audience, self.model_time(now))
    }

    pub(crate) fn model_time(&self, now: Timestamp) -> Timestamp {
        now.saturating_add(self.clock).unwrap_or(now)
    }
}

impl Azure {
    /// Returns Karpenter's running VMs whose bootstrap ends only by [`Azure::end_bootstrap`].
    pub fn waiting_bootstraps(&self) -> Vec<Vm> {
        let endless = self.state.scripts.iter().filter(|(_, script)| script.seconds.is_none());
        let machines = endless.filter_map(|(extension, _)| extension.split("/extensions/").next());
        machines
            .filter(|id| self.is_running(id))
            .filter_map(|id| self.state.karpenter_vm(id))
            .collect()
    }

    fn is_running(&self, machine: &str) -> bool {
        let state = self.state.store.get(machine);
        state.is_some_and(|body| {
            text(body, "/properties/instanceView/statuses/1/code") == "PowerState/running"
        })
    }

    /// Ends the bootstrap of a VM. Returns false if none is in progress.
    pub fn end_bootstrap(&mut self, vm: &str, cse: Cse, now: Timestamp) -> bool {
        let id = format!("{}/{vm}", self.state.options.compute("virtualMachines")).to_lowercase();
        let under = format!("{id}/extensions/");
        let extension = self.state.scripts.keys().find(|extension| extension.starts_with(&under));
        let Some(extension) = extension.cloned() else { return false };
        self.state.scripts.insert(extension.clone(), cse);
        self.state.end_extension(&extension, self.model_time(now), true);
        true
    }
}
