//! Inputs and actions of the state.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use mooring_nodes::claim::Claim;
use mooring_nodes::claim::vm_id::{MachineId, VmId};
use mooring_nodes::record::counts::{CountedNode, StoredCounts};
use mooring_nodes::record::{FailureRecord, RecordDocument};
use mooring_nodes::unregistered::UnregisteredNode;
use mooring_nodes::verdict::Verdict;
use mooring_nodes::verdict::registration::RequestState;
use serde_json::Value;

use crate::observation::karpenter::ProvisioningError;
use crate::observation::{MachineStatus, Observation, ProvisioningState};
use crate::schedule::QueuePriority;
use crate::verdict::event::{Event, RegardingKind};
use crate::verdict::patch;

#[derive(Clone, Debug)]
pub enum Input {
    /// A NodeClaim from a list, a watch, or the response to a read or a write.
    Claim(Box<Claim>),
    ClaimDeleted(Arc<str>),
    /// A list is complete; NodeClaims that are not in it were deleted.
    Listed(HashSet<Arc<str>>),
    /// A `NodePool` or `AKSNodeClass` exists.
    Object {
        kind: RegardingKind,
        name: String,
        uid: String,
    },
    Node(UnregisteredNode),
    /// A Node was deleted or registered.
    NodeDeleted {
        name: String,
        uid: String,
    },
    Nodes(Vec<UnregisteredNode>),
    /// An event: Karpenter gives up on a node.
    GivenUp(ProvisioningError),
    /// The record. Must precede [`Input::Leads`].
    Record(RecordDocument),
    /// The counts. Must precede [`Input::Leads`]; without them nothing is counted.
    Counts(StoredCounts),
    /// Writing the counts failed: these outcomes are not counted.
    CountsFailed(Vec<CountedNode>),
    /// Result of a read.
    Observed {
        uid: Arc<str>,
        observation: Observation,
    },
    SweepResult(SweepResult),
    /// Result of reading the certificate signing requests of a node.
    Inspected {
        uid: Arc<str>,
        request: RequestState,
    },
    /// Result of the patch of a NodeClaim.
    Patched {
        uid: Arc<str>,
        result: patch::PatchResult,
    },
    /// The write queue is full: these actions were not performed.
    Deferred(Vec<Action>),
    Leads(bool),
    Tick,
}

/// Actions of one transition are performed in order.
#[derive(Clone, Debug)]
pub enum Action {
    /// Read from Azure, then send [`Input::Observed`].
    Read(ReadRequest),
    /// Read a list from Azure, then send [`Input::SweepResult`].
    Sweep(Sweep),
    /// Read the certificate signing requests of a node, then send [`Input::Inspected`].
    Inspect {
        uid: Arc<str>,
        node: String,
    },
    /// Add to the record. Idempotent.
    Record(Box<FailureRecord>),
    /// Add to the counts, created if missing, or send [`Input::CountsFailed`]. Idempotent.
    Count(Vec<CountedNode>),
    /// Create an event. Idempotent.
    Event(Event),
    /// Patch the status of a NodeClaim, then send the NodeClaim of the response, and [`Input::Patched`] after it.
    Patch {
        uid: Arc<str>,
        name: String,
        body: Value,
        kind: patch::StatusPatchKind,
    },
    /// Read a NodeClaim again, then send [`Input::Claim`] or [`Input::ClaimDeleted`].
    Reread {
        uid: Arc<str>,
        name: String,
    },
    LogDiagnosis(Box<DiagnosedClaim>),
    /// Log that a Node has had no providerID for too long.
    NodeFinding(UnregisteredNode),
    /// Count that an image fails while others do not.
    ImageFails {
        image: String,
        cause: String,
    },
    /// Count that an image no longer fails.
    ImageRecovered {
        image: String,
        cause: String,
    },
}

impl Action {
    pub(crate) fn is_write(&self) -> bool {
        matches!(self, Self::Record(_) | Self::Count(_) | Self::Event(_) | Self::Patch { .. })
    }
}

#[derive(Clone, Debug)]
pub struct DiagnosedClaim {
    pub claim: Arc<Claim>,
    pub verdict: Verdict,
    /// Seconds since the launch, if known.
    pub after_seconds: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadRequest {
    pub uid: Arc<str>,
    pub target: ReadTarget,
    pub priority: QueuePriority,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadTarget {
    /// A VM with its instance view.
    Vm(VmId),
    Machine(MachineId),
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sweep {
    /// The state of all bootstrap extensions in a resource group, by Resource Graph.
    Extensions { subscription: Arc<str>, group: Arc<str> },
    Machines {
        /// Resource id of the pool.
        pool: Arc<str>,
    },
}

/// Result of a sweep. A failed one shows nothing, and the next follows anyway.
#[derive(Clone, Debug)]
pub enum SweepResult {
    Extensions {
        group: Arc<str>,
        /// VM name in lower case, and the state of its bootstrap.
        rows: HashMap<String, ProvisioningState>,
    },
    Machines {
        /// Resource id of the pool.
        pool: Arc<str>,
        machines: Vec<MachineStatus>,
    },
}

/// Counts of dropped work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DropCounts {
    /// Deleted `NodeClaim`s that were dropped unexplained, above the limit.
    pub deleted: u64,
    /// Events about `NodeClaim`s that were not observed, above the limit.
    pub events: u64,
    /// Writes that found the write queue full, above the limit.
    pub writes: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueLengths {
    pub claims: usize,
    /// NodeClaims with a scheduled read.
    pub pending: usize,
    /// Reads that are due and wait for the rate limit.
    pub waiting: usize,
    pub nodes_without_provider_id: usize,
}
