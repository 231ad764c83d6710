//! Ids of VMs and of AKS machines.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

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

/// Shared texts: pools, images, zones, subscriptions, messages.
#[derive(Debug, Default)]
pub struct Interner {
    texts: HashSet<Arc<str>>,
    /// Number of texts at which unused ones are removed.
    sweep_at: usize,
}

const MIN_SWEEP: usize = 256;

impl Interner {
    pub fn intern(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.texts.get(text) {
            return Arc::clone(known);
        }
        if self.texts.len() >= self.sweep_at.max(MIN_SWEEP) {
            self.texts.retain(|text| Arc::strong_count(text) > 1);
            self.sweep_at = self.texts.len() * 2;
        }
        let text: Arc<str> = Arc::from(text);
        self.texts.insert(Arc::clone(&text));
        text
    }

    pub fn len(&self) -> usize {
        self.texts.len()
    }

    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }
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

    #[test]
    fn same_text_is_stored_once() {
        let mut interner = Interner::default();
        let (one, other) = (interner.intern("default"), interner.intern("default"));
        assert!(Arc::ptr_eq(&one, &other));
    }

    #[test]
    fn unused_texts_are_removed() {
        let mut interner = Interner::default();
        let kept = interner.intern("kept");
        for text in 0..100_000 {
            interner.intern(&format!("message {text}"));
        }
        assert!(interner.len() <= 2 * MIN_SWEEP, "{}", interner.len());
        assert!(Arc::ptr_eq(&kept, &interner.intern("kept")));
    }

    #[test]
    fn unused_texts_are_removed_only_when_the_number_has_doubled() {
        let mut interner = Interner::default();
        assert!(interner.is_empty());
        let kept: Vec<Arc<str>> =
            (0..300).map(|text| interner.intern(&format!("kept {text}"))).collect();
        assert!(!interner.is_empty());
        for text in 0..2 * MIN_SWEEP - kept.len() {
            interner.intern(&format!("unused {text}"));
        }
        assert_eq!(interner.len(), 2 * MIN_SWEEP);
        interner.intern("one more");
        assert_eq!(interner.len(), kept.len() + 1);
    }
}
