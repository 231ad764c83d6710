//! The kept part of a NodeClaim.

use std::sync::Arc;

use jiff::Timestamp;

use super::condition::{Condition, Shape};
use super::image;
use super::mode::ClaimMode;
use super::vm_id::{MachineId, ScopeViolation, VmId};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    pub uid: Arc<str>,
    pub name: Box<str>,
    pub resource_version: Box<str>,
    pub generation: i64,
    /// Owning `NodePool`; none for a standalone NodeClaim.
    pub pool: Option<Arc<str>>,
    pub node_class: Arc<str>,
    /// Image id (VM mode) or version (Machine mode).
    pub image: Option<Arc<str>>,
    pub zone: Option<Arc<str>>,
    pub instance_type: Option<Arc<str>>,
    pub capacity_type: Option<Arc<str>>,
    pub vm: Option<VmId>,
    pub machine: Option<MachineId>,
    /// Set if the NodeClaim named a resource outside the scope.
    pub scope_violation: Option<ScopeViolation>,
    pub created: Timestamp,
    pub launched: Option<Timestamp>,
    pub registered: Option<Timestamp>,
    /// Start of Karpenter's limit of 15 minutes.
    pub unregistered_since: Timestamp,
    pub deleted: Option<Timestamp>,
    pub condition: Option<Condition>,
    pub shape: Shape,
}

impl Claim {
    /// Returns a placeholder for a node that has no NodeClaim.
    #[must_use]
    pub fn placeholder(
        uid: &Arc<str>,
        name: &str,
        vm: Option<VmId>,
        pool: Option<&str>,
        at: Timestamp,
    ) -> Self {
        Self {
            uid: Arc::clone(uid),
            name: name.into(),
            resource_version: "".into(),
            generation: 1,
            pool: pool.map(Arc::from),
            node_class: Arc::default(),
            image: None,
            zone: None,
            instance_type: None,
            capacity_type: None,
            launched: vm.is_some().then_some(at),
            vm,
            machine: None,
            scope_violation: None,
            created: at,
            registered: None,
            unregistered_since: at,
            deleted: None,
            condition: None,
            shape: Shape::NoStatus,
        }
    }

    /// Returns the provisioning mode, as far as the object shows it. A machine id is evidence; the form of the image
    /// id is only a hint for planning reads and wording findings, never a reason to report a failure.
    pub fn mode(&self) -> Option<ClaimMode> {
        if self.machine.is_some() {
            return Some(ClaimMode::Machine);
        }
        let image = self.image.as_deref()?.to_ascii_lowercase();
        if image.starts_with("/communitygalleries/") {
            Some(ClaimMode::Scriptless)
        } else {
            (image.starts_with("/subscriptions/") && image.contains("/galleries/"))
                .then_some(ClaimMode::Vm)
        }
    }

    /// Returns the VM name, or the name that Karpenter would choose.
    pub fn node_name(&self) -> String {
        match &self.vm {
            Some(vm) => vm.name.to_string(),
            None => format!("aks-{}", self.name),
        }
    }

    /// Returns the image name for statistics: gallery, definition and version.
    pub fn image_key(&self) -> Option<String> {
        self.image.as_deref().map(image::key).filter(|key| !key.is_empty())
    }

    /// Returns true if `other`, a copy of the same object, is older.
    ///
    /// Versions are compared as numbers; one that is not a number is never older.
    pub fn is_newer_than(&self, other: &Self) -> bool {
        let number = |claim: &Self| claim.resource_version.parse::<u64>().ok();
        matches!((number(self), number(other)), (Some(own), Some(other)) if own > other)
    }

    /// Returns the bytes that this NodeClaim costs: its fixed size and texts that it does not share.
    pub fn footprint(&self) -> usize {
        // An allocation is rounded up to 16 bytes and has 16 bytes of overhead; an `Arc` has two counters.
        let heap = |len: usize| (len + 16).next_multiple_of(16);
        let vm = self.vm.as_ref().map_or(0, |vm| heap(vm.name.len()));
        let machine = self.machine.as_ref().map_or(0, |machine| heap(machine.name.len()));
        size_of::<Self>()
            + heap(self.uid.len() + 16)
            + heap(self.name.len())
            + heap(self.resource_version.len())
            + vm
            + machine
    }
}
