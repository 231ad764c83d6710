//! Deletion of Machines that AKS created one by one.

use crate::azure::api::request::{ArmCall, ArmResult, Reply};
use crate::azure::state::{AKS, AzureState, Work, set, text};

/// Seconds until AKS has deleted a Machine.
const DELETE_MACHINE: u64 = 20;

impl AzureState {
    /// Deletes Machines that AKS created one by one, each after its VM. Returns none if the pool has no such Machines.
    pub(crate) fn delete_pool_machines(
        &mut self,
        call: &ArmCall,
        pool: &str,
        names: &[&str],
    ) -> Option<ArmResult> {
        let machines = format!("{pool}/machines");
        let vms: Vec<String> = names
            .iter()
            .filter_map(|name| self.store.get(&format!("{machines}/{name}")))
            .map(|machine| text(machine, "/properties/resourceId").to_owned())
            .collect();
        if vms.is_empty() || vms.len() != names.len() {
            return None;
        }
        for name in names {
            if let Some(machine) = self.store.get_mut(&format!("{machines}/{name}")) {
                set(machine, "provisioningState", "Deleting");
            }
        }
        let mut last = None;
        for vm in vms {
            if let Some(body) = self.store.get_mut(&vm) {
                set(body, "provisioningState", "Deleting");
            }
            last = Some(self.begin(call, AKS, &vm, Work::DeleteMachine, DELETE_MACHINE));
        }
        Some(Ok(self.followed(Reply::new(202), call, &last?)))
    }
}
