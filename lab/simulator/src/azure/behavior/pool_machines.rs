//! AKS Machines that represent VMs.

use mooring_codes::{Os, lookup};
use serde_json::json;

use crate::azure::state::{AzureState, set, text};

impl AzureState {
    /// Finds the Machine of a VM, in any pool.
    pub(crate) fn pool_machine_of(&self, vm: &str) -> Option<String> {
        let pools = self.store.list(&format!("{}/agentPools", self.options.cluster_id()));
        let found = pools
            .flat_map(|pool| self.store.list(&format!("{}/machines", text(pool, "/id"))))
            .find(|one| text(one, "/properties/resourceId").eq_ignore_ascii_case(vm))?;
        Some(text(found, "/id").to_owned())
    }

    /// Ends the bootstrap of a Machine's VM. An error has a name in place of the exit code, and the
    /// cause in its details.
    pub(crate) fn end_pool_machine(&mut self, vm: &str, exit_code: i32) {
        let Some(machine) = self.pool_machine_of(vm) else { return };
        let Some(body) = self.store.get_mut(&machine) else { return };
        if exit_code == 0 {
            return set(body, "provisioningState", "Succeeded");
        }
        set(body, "provisioningState", "Failed");
        let known = lookup(Os::Linux, exit_code, None).first();
        let name = known.and_then(|known| known.aks_names.first().copied());
        let name = name.unwrap_or("VMExtensionProvisioningError");
        body["properties"]["status"]["provisioningError"] = json!({
            "code": "VMExtensionProvisioningError",
            "message": "Provisioning of VM extension vmssCSE has failed.",
            "details": [{
                "code": name,
                "message": format!("CSE failed with '{name}'. For details see https://aka.ms/aks/cse-errors."),
            }],
        });
    }

    pub(crate) fn remove_pool_machine_of(&mut self, vm: &str) {
        if let Some(machine) = self.pool_machine_of(vm) {
            self.store.remove(&machine);
        }
    }
}
