//! What the rest of the world asks of Azure without a request.

use jiff::Timestamp;
use mooring_codes::{Os, lookup};
use serde_json::json;

use super::Azure;
use super::call::{Answer, Call};
use super::operations::{AKS, Work};
use super::pool_rules::cores;
use super::reply::Reply;
use super::sign_in;
use super::store::{set, text};
use super::world::World;

/// Seconds until AKS has deleted a machine.
const DELETE_MACHINE: u64 = 20;

impl Azure {
    /// Whose token this is (`Bearer …`), if it is one of the sign-in endpoint's and still good.
    #[must_use]
    pub fn check_token(&self, header: &str, now: Timestamp) -> Option<String> {
        let key = &self.world.options.token_key;
        sign_in::principal(key, Some(header), self.model_time(now)).ok()
    }

    /// Puts a machine of an AKS pool beside the VM behind it; the pool appears with its first one.
    pub(crate) fn put_machine(
        &mut self,
        pool: &str,
        name: &str,
        vm: &str,
        now: Timestamp,
    ) -> String {
        let options = self.world.options.clone();
        let pool_id = format!("{}/agentPools/{pool}", options.cluster_id());
        if !self.world.store.has(&pool_id) {
            self.world.store.put(json!({
                "id": pool_id, "name": pool, "type": "Microsoft.ContainerService/managedClusters/agentPools",
                "properties": {"provisioningState": "Succeeded", "powerState": {"code": "Running"}, "type": "VirtualMachines", "mode": "Machines", "osType": "Linux"},
            }));
        }
        let id = format!("{pool_id}/machines/{name}");
        self.world.store.put(json!({
            "id": id, "name": name, "type": "Microsoft.ContainerService/managedClusters/agentPools/machines",
            "properties": {
                "provisioningState": "Creating", "resourceId": vm,
                "status": {"creationTimestamp": super::world::stamp(now)},
            },
        }));
        id
    }

    /// The machine of a pool that stands for a VM.
    pub(crate) fn machine_for(&self, vm: &str) -> Option<String> {
        self.world.pool_machine_of(vm)
    }

    /// Code and message of what failed on a machine: the first of the error's details.
    pub(crate) fn machine_error(&self, machine: &str) -> Option<(&str, &str)> {
        let body = self.world.store.get(machine)?;
        let error = body.pointer("/properties/status/provisioningError/details/0")?;
        Some((text(error, "/code"), text(error, "/message")))
    }

    /// The node of a machine, if it has registered.
    pub(crate) fn node_of_machine(&self, id: &str) -> Option<String> {
        let key = id.to_lowercase();
        let node = self.world.joined.contains(&key).then(|| self.world.node_of(&key)).flatten()?;
        Some(node.name)
    }
}

impl World {
    /// Deletes machines that AKS made one by one: the VM behind each goes, and then the machine. None if the pool has
    /// no such machines.
    pub(crate) fn delete_pool_machines(
        &mut self,
        call: &Call,
        pool: &str,
        names: &[&str],
    ) -> Option<Answer> {
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

    /// The machine that stands for a VM, in whatever pool.
    fn pool_machine_of(&self, vm: &str) -> Option<String> {
        let pools = self.store.list(&format!("{}/agentPools", self.options.cluster_id()));
        let machines =
            pools.flat_map(|pool| self.store.list(&format!("{}/machines", text(pool, "/id"))));
        let found = machines
            .into_iter()
            .find(|one| text(one, "/properties/resourceId").eq_ignore_ascii_case(vm))?;
        Some(text(found, "/id").to_owned())
    }

    /// The bootstrap of the VM behind a machine has ended. An error has a name in place of the exit code, and what failed
    /// is in its details.
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

    /// The machine of a pool goes with its VM.
    pub(crate) fn remove_pool_machine_of(&mut self, vm: &str) {
        if let Some(machine) = self.pool_machine_of(vm) {
            self.store.remove(&machine);
        }
    }
}

/// A provider id as nodes of AKS carry it: the resource group in lower case, all else as it is.
pub(crate) fn lower_group(provider_id: &str) -> String {
    let mut parts: Vec<String> = provider_id.split('/').map(str::to_owned).collect();
    let group = parts.iter().position(|part| part.eq_ignore_ascii_case("resourceGroups"));
    if let Some(name) = group.and_then(|at| parts.get_mut(at + 1)) {
        *name = name.to_lowercase();
    }
    parts.join("/")
}

/// Cores and GiB of a size: `Standard_D4s_v5` has 4 and 16, and E has twice the memory.
pub(crate) fn room(size: &str) -> (i64, i64) {
    let cores = cores(size);
    (cores, cores * if size.starts_with("Standard_E") { 8 } else { 4 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_id_has_its_group_in_lower_case_and_nothing_else() {
        let id = "azure:///subscriptions/S/resourceGroups/MC_a_B/providers/Microsoft.Compute/virtualMachines/aks-X";
        let lower = "azure:///subscriptions/S/resourceGroups/mc_a_b/providers/Microsoft.Compute/virtualMachines/aks-X";
        assert_eq!(lower_group(id), lower);
    }

    #[test]
    fn a_size_says_its_room() {
        assert_eq!((room("Standard_D4s_v5"), room("Standard_E8ds_v5")), ((4, 16), (8, 64)));
    }
}
