//! The part of Azure that may be read: the VMs of one node resource group and the machines of one cluster.
//!
//! `NodeClaim`s and Nodes are written by others, and a `providerID` or an annotation can name any resource. Ids
//! outside this scope are removed from a NodeClaim before other code uses it, so no read can be derived from them.

use crate::claim::Claim;
use crate::claim::vm_id::{MachineId, ScopeViolation, VmId};

/// Subscription, node resource group and cluster that reads are confined to, compared case-insensitively as
/// in ARM. An empty scope contains nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    pub subscription: String,
    pub node_resource_group: String,
    /// Resource id of the cluster. Without it no machine is in scope.
    pub cluster: Option<String>,
}

impl Scope {
    pub fn contains_vm(&self, vm: &VmId) -> bool {
        self.contains_group(&vm.subscription, &vm.group)
    }

    pub fn contains_group(&self, subscription: &str, group: &str) -> bool {
        !self.subscription.is_empty()
            && !self.node_resource_group.is_empty()
            && self.subscription.eq_ignore_ascii_case(subscription)
            && self.node_resource_group.eq_ignore_ascii_case(group)
    }

    pub fn contains_machine(&self, machine: &MachineId) -> bool {
        self.cluster.as_deref().is_some_and(|cluster| {
            let (pool, cluster) = (machine.pool.as_bytes(), cluster.as_bytes());
            let rest = b"/agentPools/";
            pool.len() > cluster.len() + rest.len()
                && pool[..cluster.len()].eq_ignore_ascii_case(cluster)
                && pool[cluster.len()..][..rest.len()].eq_ignore_ascii_case(rest)
        })
    }

    /// Removes ids outside the scope from a NodeClaim, and marks it.
    pub fn confine(&self, claim: &mut Claim) {
        if claim.machine.as_ref().is_some_and(|machine| !self.contains_machine(machine)) {
            claim.machine = None;
            claim.scope_violation = Some(ScopeViolation::Machine);
        }
        if claim.vm.as_ref().is_some_and(|vm| !self.contains_vm(vm)) {
            claim.vm = None;
            claim.scope_violation = Some(ScopeViolation::ProviderId);
        }
    }

    pub fn reason(&self, outside: ScopeViolation) -> String {
        match (outside, &self.cluster) {
            (ScopeViolation::ProviderId, _) => format!(
                "providerID names a VM outside the node resource group {} of subscription {}; it is not read.",
                self.node_resource_group, self.subscription
            ),
            (ScopeViolation::Machine, Some(cluster)) => format!(
                "The annotation karpenter.azure.com/aks-machine-resource-id names a machine outside the cluster {cluster}; it is not read."
            ),
            (ScopeViolation::Machine, None) => {
                "The annotation karpenter.azure.com/aks-machine-resource-id names an AKS machine, and no cluster is configured; it is not read. Set the resource group and the name of the cluster.".to_owned()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::vm_id::Interner;

    fn scope() -> Scope {
        Scope {
            subscription: "aaaa".to_owned(),
            node_resource_group: "MC_rg_prod".to_owned(),
            cluster: Some("/subscriptions/aaaa/resourceGroups/rg/providers/Microsoft.ContainerService/managedClusters/prod".to_owned()),
        }
    }

    fn vm(subscription: &str, group: &str) -> VmId {
        let id = format!(
            "azure:///subscriptions/{subscription}/resourceGroups/{group}/providers/Microsoft.Compute/virtualMachines/v"
        );
        VmId::parse(&id, &mut Interner::default()).unwrap()
    }

    #[test]
    fn scope_contains_only_vms_of_the_node_resource_group() {
        for (subscription, group, inside) in [
            ("aaaa", "MC_rg_prod", true),
            ("AAAA", "mc_RG_PROD", true),
            ("bbbb", "MC_rg_prod", false),
            ("aaaa", "rg", false),
            ("aaaa", "MC_rg_prod2", false),
            ("aaaa", "MC_rg_pro", false),
        ] {
            assert_eq!(scope().contains_vm(&vm(subscription, group)), inside, "{group}");
        }
        assert!(!Scope::default().contains_vm(&vm("aaaa", "MC_rg_prod")));
    }

    #[test]
    fn scope_contains_only_machines_of_the_cluster() {
        let machine = |id: &str| MachineId::parse(id, &mut Interner::default()).unwrap();
        let id = |group: &str, cluster: &str| {
            machine(&format!(
                "/subscriptions/aaaa/resourceGroups/{group}/providers/Microsoft.ContainerService/managedClusters/{cluster}/agentPools/p/machines/m"
            ))
        };
        for (machine, inside) in [
            (id("rg", "prod"), true),
            (id("RG", "PROD"), true),
            (id("rg", "prod2"), false),
            (id("rg", "pro"), false),
            (id("other", "prod"), false),
        ] {
            assert_eq!(scope().contains_machine(&machine), inside, "{machine:?}");
        }
        assert!(!Scope { cluster: None, ..scope() }.contains_machine(&id("rg", "prod")));
        let cluster = scope().cluster.unwrap();
        for (rest, inside) in
            [("", false), ("/x", false), ("/agentPools/", false), ("/agentPools/p", true)]
        {
            let pool = format!("{cluster}{rest}").as_str().into();
            let machine = MachineId { pool, name: "m".into() };
            assert_eq!(scope().contains_machine(&machine), inside, "{rest}");
        }
    }

    #[test]
    fn reason_names_what_is_not_read() {
        let scope = scope();
        let machine = scope.reason(ScopeViolation::Machine);
        assert!(machine.contains("outside the cluster /subscriptions/aaaa/"), "{machine}");
        let unset = Scope { cluster: None, ..scope.clone() }.reason(ScopeViolation::Machine);
        assert!(unset.contains("no cluster is configured"), "{unset}");
        let vm = scope.reason(ScopeViolation::ProviderId);
        assert!(vm.contains("node resource group MC_rg_prod of subscription aaaa;"), "{vm}");
    }
}
