//! Inputs and actions of the state.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value;

use crate::claim::Claim;
use crate::claim::vm_id::{MachineId, VmId};
use crate::observation::karpenter::ProvisioningError;
use crate::observation::node::Node;
use crate::observation::{MachineSeen, Observation, Progress};
use crate::record::{Document, Entry};
use crate::schedule::Priority;
use crate::verdict::Verdict;
use crate::verdict::event::{Event, Kind};
use crate::verdict::patch;
use crate::verdict::registration::RequestState;

#[derive(Clone, Debug)]
pub enum Input {
    /// A claim was seen: in a list, a watch, or the answer to a read or a write.
    Claim(Box<Claim>),
    /// A claim was removed.
    ClaimGone(Arc<str>),
    /// A list is complete; claims that are not in it are gone.
    Listed(HashSet<Arc<str>>),
    /// A `NodePool` or `AKSNodeClass` is there.
    Object {
        kind: Kind,
        name: String,
        uid: String,
    },
    /// A Node that is not registered was seen.
    Node(Node),
    /// A Node was deleted or registered.
    NodeGone {
        name: String,
        uid: String,
    },
    /// All Nodes that are not registered.
    Nodes(Vec<Node>),
    /// An event says that Karpenter gives a node up.
    GivenUp(ProvisioningError),
    /// The record, as it was read. To be given before [`Input::Leads`].
    Record(Document),
    /// A read was answered, or was not.
    Observed {
        uid: Arc<str>,
        observation: Observation,
    },
    /// A sweep was answered.
    Swept(Swept),
    /// The certificate signing requests of a node were read, or were not.
    Inspected {
        uid: Arc<str>,
        /// Newest decision on them.
        request: RequestState,
    },
    /// The patch of a claim was answered.
    Patched {
        uid: Arc<str>,
        answer: patch::Answer,
    },
    /// The write queue is full: these actions were not performed.
    Deferred(Vec<Action>),
    /// This replica leads, or no longer does.
    Leads(bool),
    Tick,
}

/// Something is to be done. Actions of one answer are to be done in their order.
#[derive(Clone, Debug)]
pub enum Action {
    /// Read from Azure, then give [`Input::Observed`].
    Read(Read),
    /// Read a list from Azure, then give [`Input::Swept`].
    Sweep(Sweep),
    /// Read the certificate signing requests of a node, then give [`Input::Inspected`].
    Inspect { uid: Arc<str>, node: String },
    /// Add to the record. Idempotent; whoever does it may try again.
    Record(Box<Entry>),
    /// Create an event. Idempotent; whoever does it may try again.
    Event(Event),
    /// Patch a claim's status, then give the claim that was answered, and [`Input::Patched`] after it.
    Patch { uid: Arc<str>, name: String, body: Value, kind: patch::Kind },
    /// Read a claim again, then give [`Input::Claim`] or [`Input::ClaimGone`].
    Reread { uid: Arc<str>, name: String },
    /// Count and log a verdict.
    Tell(Box<Told>),
    /// Log that a Node has had no providerID for too long.
    NodeFinding(Node),
    /// Count that an image fails while others do not.
    ImageFails { image: String, cause: String },
}

impl Action {
    /// Returns true for writes to the API server.
    pub(crate) fn is_write(&self) -> bool {
        matches!(self, Self::Record(_) | Self::Event(_) | Self::Patch { .. })
    }
}

/// A verdict to count and log.
#[derive(Clone, Debug)]
pub struct Told {
    pub claim: Claim,
    pub verdict: Verdict,
    /// Seconds since the launch, where that is known.
    pub after_seconds: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    pub uid: Arc<str>,
    pub target: Target,
    pub priority: Priority,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A VM with its instance view.
    Vm(VmId),
    Machine(MachineId),
}

/// A read of many things.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sweep {
    /// The state of all bootstrap extensions in a resource group, by Resource Graph.
    Extensions { subscription: Arc<str>, group: Arc<str> },
    /// All machines of an AKS pool.
    Machines {
        /// The pool's resource id.
        pool: Arc<str>,
    },
}

/// What a sweep showed. One that failed shows nothing, and the next comes anyway.
#[derive(Clone, Debug)]
pub enum Swept {
    /// Extensions by the VM's name.
    Extensions {
        group: Arc<str>,
        /// The VM's name in lower case, and where its bootstrap is.
        rows: HashMap<String, Progress>,
    },
    Machines {
        /// The pool's resource id.
        pool: Arc<str>,
        machines: Vec<MachineSeen>,
    },
}

/// What was left out, so that a bound shows when it is reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Deleted `NodeClaim`s that were dropped unexplained, above the limit.
    pub deleted: u64,
    /// Events about `NodeClaim`s that were not seen, above the limit.
    pub events: u64,
    /// Writes that found the write queue full, above the limit.
    pub writes: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lengths {
    pub claims: usize,
    /// Claims with a look ahead of them.
    pub pending: usize,
    /// Looks that are due and wait for the budget.
    pub waiting: usize,
    /// Nodes that were reported for lack of a providerID.
    pub nodes_without_provider_id: usize,
}
