//! The part of a NodeClaim that is kept: under 1 KiB each, regardless of the object's size.

pub mod image;
pub mod object;
pub mod scope;
#[cfg(test)]
mod tests;
pub mod vm_id;

use std::sync::Arc;

use jiff::Timestamp;
use mooring_codes::Os;
use vm_id::{MachineId, ScopeViolation, VmId};

pub use object::ClaimError;

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
    /// Since when Karpenter counts on the node.
    pub initialized: Option<Timestamp>,
    pub launch_error: Option<Box<LaunchError>>,
    /// Start of Karpenter's limit of 15 minutes.
    pub unregistered_since: Timestamp,
    pub deleted: Option<Timestamp>,
    pub condition: Option<Condition>,
    pub shape: Shape,
}

/// Why Karpenter did not launch a VM: the condition `Launched`, while it is not true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchError {
    pub reason: String,
    pub message: String,
    pub at: Option<Timestamp>,
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
            initialized: None,
            launch_error: None,
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

/// Mooring's condition as read from the object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    pub index: u32,
    pub status: ConditionStatus,
    pub reason: Arc<str>,
    pub message: Arc<str>,
    pub since: Timestamp,
}

/// Parents of a condition that the object has. A patch must create the missing ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    NoStatus,
    NoConditions,
    List,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConditionStatus {
    True,
    False,
    Unknown,
}

impl ConditionStatus {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
        }
    }

    #[must_use]
    pub fn parse(text: &str) -> Self {
        match text {
            "True" => Self::True,
            "False" => Self::False,
            _ => Self::Unknown,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimMode {
    /// Karpenter creates the VM, then the extension.
    Vm,
    /// AKS creates both; the NodeClaim names an AKS machine.
    Machine,
    /// Custom data runs the bootstrap; no extension can be read.
    Scriptless,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Cse(Os),
    /// Billing, monitoring and others, whose failures are not bootstrap failures.
    Other,
}

/// Known names of the bootstrap extension. Used only where neither publisher nor type is shown.
const KNOWN_NAMES: &[(&str, Os)] = &[
    ("cse-agent-karpenter", Os::Linux),
    ("windows-cse-agent-karpenter", Os::Windows),
    ("vmsscse", Os::Linux),
];

pub fn is_known_name(name: &str) -> bool {
    KNOWN_NAMES.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
}

/// Returns the role of an extension. `kind` is the type alone or, in instance views, `publisher.type`; either
/// may be missing.
pub fn role(name: &str, publisher: &str, kind: &str) -> Role {
    let full = match (publisher.is_empty(), kind.is_empty()) {
        (false, false) => format!("{publisher}.{kind}"),
        (true, false) => kind.to_owned(),
        _ => String::new(),
    };
    let is = |wanted: &str| full.eq_ignore_ascii_case(wanted);
    if is("Microsoft.Azure.Extensions.CustomScript") {
        return Role::Cse(Os::Linux);
    }
    if is("Microsoft.Compute.CustomScriptExtension") {
        return Role::Cse(Os::Windows);
    }
    if !full.is_empty() {
        return Role::Other;
    }
    let known = KNOWN_NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    known.map_or(Role::Other, |(_, os)| Role::Cse(*os))
}
