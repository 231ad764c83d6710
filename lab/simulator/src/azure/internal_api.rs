//! Functions of Azure for other models in the same process.

use jiff::Timestamp;
use serde_json::json;

use crate::azure::api::access::sign_in;
use crate::azure::api::aks::pool_rules::cores;
use crate::azure::state::{Azure, stamp, text};

impl Azure {
    /// Returns the principal of a valid, unexpired token (`Bearer …`) of the sign-in endpoint.
    pub fn check_token(&self, header: &str, now: Timestamp) -> Option<String> {
        let key = &self.state.options.token_key;
        sign_in::principal(key, Some(header), self.model_time(now)).ok()
    }

    /// Returns true if a principal may do everything in the cluster.
    pub(crate) fn administers(&self, principal: &str) -> bool {
        self.state.administers(principal)
    }

    /// Adds a Machine for a VM to an AKS pool, which is created with its first Machine.
    pub(crate) fn put_machine(
        &mut self,
        pool: &str,
        name: &str,
        vm: &str,
        now: Timestamp,
    ) -> String {
        let options = self.state.options.clone();
        let pool_id = format!("{}/agentPools/{pool}", options.cluster_id());
        if !self.state.store.has(&pool_id) {
            self.state.store.put(json!({
                "id": pool_id, "name": pool, "type": "Microsoft.ContainerService/managedClusters/agentPools",
                "properties": {"provisioningState": "Succeeded", "powerState": {"code": "Running"}, "type": "VirtualMachines", "mode": "Machines", "osType": "Linux"},
            }));
        }
        let id = format!("{pool_id}/machines/{name}");
        self.state.store.put(json!({
            "id": id, "name": name, "type": "Microsoft.ContainerService/managedClusters/agentPools/machines",
            "properties": {
                "provisioningState": "Creating", "resourceId": vm,
                "status": {"creationTimestamp": stamp(now)},
            },
        }));
        id
    }

    pub(crate) fn machine_for(&self, vm: &str) -> Option<String> {
        self.state.pool_machine_of(vm)
    }

    /// Returns code and message of a Machine's failure: the first of the error's details.
    pub(crate) fn machine_error(&self, machine: &str) -> Option<(&str, &str)> {
        let body = self.state.store.get(machine)?;
        let error = body.pointer("/properties/status/provisioningError/details/0")?;
        Some((text(error, "/code"), text(error, "/message")))
    }

    /// Returns the node of a VM, if it has registered.
    pub(crate) fn node_of_machine(&self, id: &str) -> Option<String> {
        let key = id.to_lowercase();
        let node = self.state.joined.contains(&key).then(|| self.state.node_of(&key)).flatten()?;
        Some(node.name)
    }
}

/// Returns a provider id as AKS nodes have it: the resource group in lower case.
pub(crate) fn lower_group(provider_id: &str) -> String {
    let mut parts: Vec<String> = provider_id.split('/').map(str::to_owned).collect();
    let group = parts.iter().position(|part| part.eq_ignore_ascii_case("resourceGroups"));
    if let Some(name) = group.and_then(|at| parts.get_mut(at + 1)) {
        *name = name.to_lowercase();
    }
    parts.join("/")
}

/// Returns cores and GiB of a size: `Standard_D4s_v5` has 4 and 16, and E has twice the memory.
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
    fn size_has_its_cores_and_memory() {
        assert_eq!((room("Standard_D4s_v5"), room("Standard_E8ds_v5")), ((4, 16), (8, 64)));
    }
}
