//! Names of things in Azure: a VM, and a machine of an AKS pool.

use std::fmt;
use std::sync::Arc;

use crate::claim::intern::Interner;

/// A VM. The group and subscription of most claims are the same, so they are shared.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VmId {
    pub subscription: Arc<str>,
    /// The node resource group, in whatever case it was written.
    pub group: Arc<str>,
    pub name: Box<str>,
}

/// A machine of an AKS pool.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MachineId {
    /// The resource id of the pool.
    pub pool: Arc<str>,
    pub name: Box<str>,
}

impl VmId {
    /// From a provider id (`azure:///subscriptions/…`) or a resource id. Case does not count.
    pub fn parse(id: &str, interner: &mut Interner) -> Option<Self> {
        let id = id.strip_prefix("azure://").unwrap_or(id);
        let [subscription, group, name] =
            segments(id, ["subscriptions", "resourceGroups", "virtualMachines"])?;
        Some(Self {
            subscription: interner.intern(subscription),
            group: interner.intern(group),
            name: name.into(),
        })
    }

    /// The path below the management endpoint.
    pub fn path(&self) -> String {
        let Self { subscription, group, name } = self;
        format!(
            "/subscriptions/{subscription}/resourceGroups/{group}/providers/Microsoft.Compute/virtualMachines/{name}"
        )
    }
}

impl fmt::Display for VmId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path())
    }
}

impl MachineId {
    /// From a resource id.
    pub fn parse(id: &str, interner: &mut Interner) -> Option<Self> {
        let [subscription, group, cluster, pool, name] = segments(
            id,
            ["subscriptions", "resourceGroups", "managedClusters", "agentPools", "machines"],
        )?;
        // Put together from checked names: nothing else of the text reaches a request.
        let pool = format!(
            "/subscriptions/{subscription}/resourceGroups/{group}/providers/Microsoft.ContainerService/managedClusters/{cluster}/agentPools/{pool}"
        );
        Some(Self { pool: interner.intern(&pool), name: name.into() })
    }

    /// The path below the management endpoint.
    pub fn path(&self) -> String {
        format!("{}/machines/{}", self.pool, self.name)
    }
}

/// What follows each of the keys in a resource id; only names that Azure can have given.
fn segments<'a, const N: usize>(id: &'a str, keys: [&str; N]) -> Option<[&'a str; N]> {
    let mut found = [""; N];
    let mut parts = id.split('/').skip_while(|part| part.is_empty());
    while let Some(part) = parts.next() {
        if let Some(key) = keys.iter().position(|key| key.eq_ignore_ascii_case(part)) {
            found[key] = parts.next()?;
        }
    }
    let is_name = |name: &&str| {
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.()".contains(&b);
        !name.is_empty() && name.len() <= 256 && name.bytes().all(plain) && !name.contains("..")
    };
    found.iter().all(is_name).then_some(found)
}

/// The field of a NodeClaim that names a resource outside the scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside {
    /// `status.providerID`.
    ProviderId,
    /// The annotation `karpenter.azure.com/aks-machine-resource-id`.
    Machine,
}

#[cfg(test)]
mod tests {
    use super::*;

    const VM: &str = "azure:///subscriptions/0000/resourceGroups/mc_rg/providers/Microsoft.Compute/virtualMachines/aks-default-2jf98";

    #[test]
    fn a_provider_id_names_a_vm_in_any_case() {
        let mut interner = Interner::default();
        let vm = VmId::parse(VM, &mut interner).unwrap();
        assert_eq!((&*vm.group, &*vm.name), ("mc_rg", "aks-default-2jf98"));
        assert_eq!(vm.path(), VM.strip_prefix("azure://").unwrap());
        assert_eq!(
            VmId::parse(&VM.to_uppercase().replace("AZURE", "azure"), &mut interner)
                .map(|vm| vm.name),
            Some("AKS-DEFAULT-2JF98".into())
        );
    }

    #[test]
    fn an_id_that_would_lead_elsewhere_names_nothing() {
        let mut interner = Interner::default();
        for id in [
            "",
            "azure://",
            "aws:///us-east-1/i-0",
            "azure:///subscriptions/0/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/",
            "azure:///subscriptions/0/resourceGroups/../providers/x/virtualMachines/v",
            "azure:///subscriptions/0/resourceGroups/g/providers/x/virtualMachines/v?x=1",
            "azure:///subscriptions/0/resourceGroups/g%2f/providers/x/virtualMachines/v",
        ] {
            assert_eq!(VmId::parse(id, &mut interner), None, "{id}");
        }
    }

    #[test]
    fn a_machine_is_named_by_its_pool_and_itself() {
        let mut interner = Interner::default();
        let id = "/subscriptions/0/resourceGroups/rg/providers/Microsoft.ContainerService/managedClusters/aks/agentPools/aksmachines/machines/default-2jf98";
        let machine = MachineId::parse(id, &mut interner).unwrap();
        assert!(machine.pool.ends_with("/agentPools/aksmachines"));
        assert_eq!((&*machine.name, machine.path().as_str()), ("default-2jf98", id));
        assert_eq!(MachineId::parse("/machines/x", &mut interner), None);
        let strange = id.replace("/providers/", "/../?x=/providers/");
        assert_eq!(MachineId::parse(&strange, &mut interner), Some(machine));
    }
}
