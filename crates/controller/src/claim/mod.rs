//! What is kept of a NodeClaim: under 1 KiB each, whatever the object holds.

pub mod image;
pub mod intern;
pub mod mode;
pub mod scope;
pub mod vm_id;

use std::sync::Arc;

use jiff::Timestamp;

use crate::claim::intern::Interner;
use crate::claim::mode::Mode;
use crate::claim::vm_id::{MachineId, Outside, VmId};
use crate::verdict::condition::Status;

pub(crate) mod object;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The object's uid: the only name that is never given twice.
    pub uid: Arc<str>,
    pub name: Box<str>,
    /// The version that this was read at.
    pub resource_version: Box<str>,
    pub generation: i64,
    /// The `NodePool` that owns it; none for a standalone claim.
    pub pool: Option<Arc<str>>,
    /// The `AKSNodeClass`.
    pub node_class: Arc<str>,
    /// The image: its id (VM mode) or version (Machine mode).
    pub image: Option<Arc<str>>,
    pub zone: Option<Arc<str>>,
    pub instance_type: Option<Arc<str>>,
    /// `spot` or `on-demand`.
    pub capacity_type: Option<Arc<str>>,
    /// The VM, once launched.
    pub vm: Option<VmId>,
    /// The AKS machine, in Machine mode.
    pub machine: Option<MachineId>,
    /// The field that names something that may not be read.
    pub outside: Option<Outside>,
    pub created: Timestamp,
    pub launched: Option<Timestamp>,
    pub registered: Option<Timestamp>,
    /// Since when it has not: Karpenter's limit of 15 minutes counts from here.
    pub unregistered_since: Timestamp,
    pub deleted: Option<Timestamp>,
    /// Our condition as it stands on the object.
    pub condition: Option<Condition>,
    /// Whether the parents of a condition are there.
    pub shape: Shape,
}

/// Our condition as it stands on the object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Its place in the list.
    pub index: u32,
    /// True, False or Unknown.
    pub status: Status,
    /// The reason, as it stands there.
    pub reason: Arc<str>,
    /// The message, as it stands there.
    pub message: Arc<str>,
    pub since: Timestamp,
}

/// Which parents of a condition the object has. A patch must make those that are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// No `status` at all.
    NoStatus,
    /// A `status` without `conditions`.
    NoConditions,
    /// A list of conditions, maybe empty.
    List,
}

/// Why an object is no NodeClaim of ours.
#[derive(Debug, thiserror::Error)]
pub enum NotAClaim {
    /// It is no NodeClaim at all.
    #[error("the object is no NodeClaim: {0}")]
    Unreadable(#[from] serde_json::Error),
    /// It belongs to another cloud.
    #[error("the node class is of group {0:?}, not karpenter.azure.com")]
    OtherCloud(String),
}

impl Claim {
    /// From the object as the API server sends it. Whatever is not named here is skipped unread.
    pub fn from_json(
        json: &[u8],
        condition_type: &str,
        interner: &mut Interner,
    ) -> Result<Self, NotAClaim> {
        object::Object::parse(json)?.project(condition_type, interner)
    }

    /// A stand-in for a node that has no NodeClaim.
    #[must_use]
    pub fn vanished(
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
            outside: None,
            created: at,
            registered: None,
            unregistered_since: at,
            deleted: None,
            condition: None,
            shape: Shape::NoStatus,
        }
    }

    /// How its node is set up, as far as the object shows it. A machine's id is proof; the form of the image's id is a
    /// hint, by which reads are planned and findings are worded, and nothing is called failed.
    pub fn mode(&self) -> Option<Mode> {
        if self.machine.is_some() {
            return Some(Mode::Machine);
        }
        let image = self.image.as_deref()?.to_ascii_lowercase();
        if image.starts_with("/communitygalleries/") {
            Some(Mode::Scriptless)
        } else {
            (image.starts_with("/subscriptions/") && image.contains("/galleries/"))
                .then_some(Mode::Vm)
        }
    }

    /// The node's name for people: the VM's, or what Karpenter would call it.
    pub fn node_name(&self) -> String {
        match &self.vm {
            Some(vm) => vm.name.to_string(),
            None => format!("aks-{}", self.name),
        }
    }

    /// The image's name, for statistics: gallery, definition and version.
    pub fn image_key(&self) -> Option<String> {
        self.image.as_deref().map(image::key).filter(|key| !key.is_empty())
    }

    /// Whether `other`, a copy of the same object, is older than this one.
    ///
    /// Versions are compared as the numbers that they are in every API server; one that is no number
    /// is never older.
    pub fn is_newer_than(&self, other: &Self) -> bool {
        let number = |claim: &Self| claim.resource_version.parse::<u64>().ok();
        matches!((number(self), number(other)), (Some(own), Some(other)) if own > other)
    }

    /// Bytes that this claim costs by itself: its fixed size and texts that it shares with no other.
    pub fn footprint(&self) -> usize {
        // An allocation is rounded up to 16 bytes and has 16 of its own; an `Arc` has two counters.
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

#[cfg(test)]
mod tests;
