//! Ids of VMs and of AKS machines.

use std::fmt;
use std::sync::Arc;

use crate::claim::intern::Interner;

/// A VM id. Subscription and group are shared, since most NodeClaims have the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VmId {
    pub subscription: Arc<str>,
    pub group: Arc<str>,
    pub name: Box<str>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MachineId {
    /// Resource id of the pool.
    pub pool: Arc<str>,
    pub name: Box<str>,
}

impl VmId {
    /// Parses a provider id (`azure:///subscriptions/…`) or a resource id, case-insensitively.
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

    pub fn path(&self) -> String {
        self.to_string()
    }
}

impl fmt::Display for VmId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { subscription, group, name } = self;
        write!(
            f,
            "/subscriptions/{subscription}/resourceGroups/{group}/providers/Microsoft.Compute/virtualMachines/{name}"
        )
    }
}

impl MachineId {
    pub fn parse(id: &str, interner: &mut Interner) -> Option<Self> {
        let [subscription, group, cluster, pool, name] = segments(
            id,
            ["subscriptions", "resourceGroups", "managedClusters", "agentPools", "machines"],
        )?;
        // Built from validated names only: no other part of the text reaches a request.
        let pool = format!(
            "/subscriptions/{subscription}/resourceGroups/{group}/providers/Microsoft.ContainerService/managedClusters/{cluster}/agentPools/{pool}"
        );
        Some(Self { pool: interner.intern(&pool), name: name.into() })
    }

    pub fn path(&self) -> String {
        format!("{}/machines/{}", self.pool, self.name)
    }
}

/// Returns the segment after each key of a resource id; only names that are valid in Azure.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScopeViolation {
    ProviderId,
    Machine,
}

#[cfg(test)]
mod tests {
    use super::*;

    const VM: &str = "azure:///subscriptions/0000/resourceGroups/mc_rg/providers/Microsoft.Compute/virtualMachines/aks-default-2jf98";

    #[test]
    fn provider_id_is_parsed_case_insensitively() {
        let mut interner = Interner::default();
        let vm = VmId::parse(VM, &mut interner).unwrap();
        assert_eq!((&*vm.group, &*vm.name), ("mc_rg", "aks-default-2jf98"));
        assert_eq!(vm.path(), VM.strip_prefix("azure://").unwrap());
        assert_eq!(vm.to_string(), vm.path());
        assert_eq!(
            VmId::parse(&VM.to_uppercase().replace("AZURE", "azure"), &mut interner)
                .map(|vm| vm.name),
            Some("AKS-DEFAULT-2JF98".into())
        );
    }

    #[test]
    fn invalid_provider_id_is_rejected() {
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
    fn machine_id_has_pool_and_name() {
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
