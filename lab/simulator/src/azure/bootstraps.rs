//! Bootstraps that run outside the model: a real agent boots a VM and reports its result.

use jiff::Timestamp;

use crate::azure::state::{Azure, Cse, Vm, text};

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
