//! Causes of a node that did not register: the most specific one that Azure and the cluster prove.
//!
//! Karpenter gives up on a NodeClaim 15 minutes after its condition `Registered` changed last, which at first
//! is its creation. That it did, or should have, is decided by the clock alone; the cause by the observed VM,
//! Node and certificate signing request. State that was not observed is unknown, and never a cause.

#[cfg(test)]
mod tests;

use jiff::{SignedDuration, Timestamp};

use crate::claim::{Claim, ClaimMode};
use crate::verdict::{ConditionReason, Failure, FailureSource, after, seconds};

pub use crate::unregistered::NodeState;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VmState {
    pub power: Power,
    pub agent: AgentState,
    pub lacks_extension: bool,
    pub runs_extension: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Power {
    #[default]
    Unknown,
    Running,
    Stopped,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum AgentState {
    #[default]
    Unknown,
    Ready,
    Silent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AzureReading {
    /// The VM was deleted, or Azure did not respond.
    Unknown,
    Denied,
    Vm(VmState),
}

impl AzureReading {
    #[must_use]
    pub fn of(vm: Option<VmState>, denied: bool) -> Self {
        match vm {
            Some(vm) => Self::Vm(vm),
            None if denied => Self::Denied,
            None => Self::Unknown,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClusterState {
    pub node: NodeState,
    pub request: RequestState,
}

/// The kubelet's certificate signing request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RequestState {
    /// Requests could not be listed.
    #[default]
    Unknown,
    /// Always the case with secure TLS bootstrapping.
    Absent,
    Pending,
    Denied,
    Approved,
}

/// Age of an unregistered NodeClaim from which its deletion means that Karpenter gave up.
const GIVEN_UP_AFTER: i64 = 14 * 60 + 30;
/// Age at which Karpenter deletes an unregistered NodeClaim.
pub const REGISTRATION_LIMIT: SignedDuration = SignedDuration::from_mins(15);
/// Age from which a NodeClaim should have been deleted: Karpenter acts within seconds.
pub const OVERDUE_AFTER: i64 = 16 * 60;
/// Age of a NodeClaim from which Karpenter is considered idle.
pub const IDLE_AFTER: i64 = 20 * 60;

pub const REGISTRATION_TIMEOUT: SignedDuration = SignedDuration::from_mins(5);

/// An unregistered NodeClaim past its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overdue {
    /// When the time was over.
    pub at: Timestamp,
    /// Minutes since its creation or since the success of its CSE.
    pub minutes: i64,
    /// It still exists, although Karpenter should have deleted it.
    pub is_alive: bool,
    pub is_idle: bool,
    pub cse_succeeded: bool,
}

/// Returns how a NodeClaim ended unregistered, or should have. `deleted_at` is the time of its object's removal.
pub fn overdue(claim: &Claim, deleted_at: Option<Timestamp>, now: Timestamp) -> Option<Overdue> {
    if claim.registered.is_some() {
        return None;
    }
    let ended = claim.deleted.or(deleted_at);
    let waited = seconds(claim.unregistered_since, ended.unwrap_or(now));
    let limit = if ended.is_some() { GIVEN_UP_AFTER } else { OVERDUE_AFTER };
    (waited >= limit).then(|| Overdue {
        at: ended.unwrap_or_else(|| after(claim.unregistered_since, REGISTRATION_LIMIT)),
        minutes: (waited + 30) / 60,
        is_alive: ended.is_none(),
        is_idle: ended.is_none() && waited >= IDLE_AFTER,
        cse_succeeded: false,
    })
}

/// Returns the same for a NodeClaim whose CSE succeeded `timeout` ago.
pub fn overdue_after_success(
    claim: &Claim,
    deleted_at: Option<Timestamp>,
    timeout: SignedDuration,
    now: Timestamp,
) -> Option<Overdue> {
    let ended = claim.registered.or(claim.deleted).or(deleted_at).is_some();
    let due = due_after_success(claim, timeout).filter(|due| !ended && *due <= now);
    let early = due.map(|at| Overdue {
        at,
        minutes: timeout.as_mins(),
        is_alive: true,
        is_idle: false,
        cse_succeeded: true,
    });
    let late = overdue(claim, deleted_at, now).map(|late| Overdue { cse_succeeded: true, ..late });
    late.or(early)
}

/// Returns true if Karpenter let a NodeClaim be for so long that its condition says so.
pub fn was_left(claim: &Claim, deleted_at: Option<Timestamp>, now: Timestamp) -> bool {
    let ended = claim.deleted.or(deleted_at).unwrap_or(now);
    claim.registered.is_none() && seconds(claim.unregistered_since, ended) >= IDLE_AFTER
}

/// Returns the time at which the node of a NodeClaim should have registered, by its condition.
pub fn due_after_success(claim: &Claim, timeout: SignedDuration) -> Option<Timestamp> {
    let condition = claim.condition.as_ref()?;
    match ConditionReason::parse(&condition.reason)? {
        ConditionReason::CseSucceeded => Some(after(condition.since, timeout)),
        ConditionReason::NodeNotRegistered => Some(condition.since),
        _ => None,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegistrationCause {
    VmNotRunning,
    AgentSilent,
    ExtensionNotCreated,
    ExtensionRunning,
    /// The VM runs, its agent reports, and the kubelet has not requested a certificate.
    NoRequest,
    /// The same, if requests or Nodes cannot be listed.
    NoNode,
    RequestPending,
    RequestDenied,
    /// The kubelet has a certificate, but no Node exists.
    NoNodeAfterRequest,
    NodeWithoutProviderId,
    NodeNeverReady,
    /// The Node is Ready, and Karpenter did not match it.
    NodeNotMatched,
    ReadRefused,
    NothingSeen,
}

impl RegistrationCause {
    pub const ALL: [Self; 14] = [
        Self::VmNotRunning,
        Self::AgentSilent,
        Self::ExtensionNotCreated,
        Self::ExtensionRunning,
        Self::NoRequest,
        Self::NoNode,
        Self::RequestPending,
        Self::RequestDenied,
        Self::NoNodeAfterRequest,
        Self::NodeWithoutProviderId,
        Self::NodeNeverReady,
        Self::NodeNotMatched,
        Self::ReadRefused,
        Self::NothingSeen,
    ];

    /// Returns the most specific proven cause.
    #[must_use]
    pub fn of(mode: Option<ClaimMode>, azure: AzureReading, cluster: ClusterState) -> Self {
        match (cluster.node, cluster.request) {
            (NodeState::NoProviderId, _) => return Self::NodeWithoutProviderId,
            (NodeState::NotReady, _) => return Self::NodeNeverReady,
            (NodeState::Ready, _) => return Self::NodeNotMatched,
            (_, RequestState::Denied) => return Self::RequestDenied,
            (_, RequestState::Pending) => return Self::RequestPending,
            (NodeState::Absent, RequestState::Approved) => return Self::NoNodeAfterRequest,
            _ => {}
        }
        let vm = match azure {
            AzureReading::Vm(vm) => vm,
            AzureReading::Denied => return Self::ReadRefused,
            AzureReading::Unknown => return Self::NothingSeen,
        };
        match (vm.power, vm.agent) {
            (Power::Stopped, _) => Self::VmNotRunning,
            _ if vm.lacks_extension && mode == Some(ClaimMode::Vm) => Self::ExtensionNotCreated,
            (Power::Running, AgentState::Silent) => Self::AgentSilent,
            _ if vm.runs_extension => Self::ExtensionRunning,
            (Power::Running, AgentState::Ready)
                if cluster.node == NodeState::Absent && cluster.request == RequestState::Absent =>
            {
                Self::NoRequest
            }
            (Power::Running, AgentState::Ready) => Self::NoNode,
            _ => Self::NothingSeen,
        }
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::VmNotRunning => "VMNotRunning",
            Self::AgentSilent => "AgentSilent",
            Self::ExtensionNotCreated => "CSENotCreated",
            Self::ExtensionRunning => "StillRunning",
            Self::NoRequest => "NoCSR",
            Self::NoNode => "NoNode",
            Self::RequestPending => "CSRPending",
            Self::RequestDenied => "CSRDenied",
            Self::NoNodeAfterRequest => "NoNodeAfterCSR",
            Self::NodeWithoutProviderId => "NodeWithoutProviderID",
            Self::NodeNeverReady => "NodeNeverReady",
            Self::NodeNotMatched => "NodeNotMatched",
            Self::ReadRefused => "ReadRefused",
            Self::NothingSeen => "NoEvidence",
        }
    }

    /// Returns true if the image can be the cause. A restart of Karpenter, and a Node that Karpenter did not
    /// match, are not caused by the image; a failure of which only a line is known is no evidence.
    pub fn can_be_image(cause: &str) -> bool {
        cause != Self::ExtensionNotCreated.as_str()
            && cause != Self::NodeNotMatched.as_str()
            && !mooring_diagnosis::is_unruled(cause)
    }

    fn clause(self, cse_succeeded: bool) -> &'static str {
        match self {
            Self::NoRequest if cse_succeeded => {
                "the VM is running and its agent is ready, but no Node and no CertificateSigningRequest of its kubelet exist \
                 (with secure TLS bootstrapping, none ever does): kubelet did not start or cannot reach the API server"
            }
            Self::VmNotRunning => "the VM is not running",
            Self::AgentSilent => "the VM is running, but its Azure VM agent does not report",
            Self::ExtensionNotCreated => {
                "Karpenter created the VM but not the CSE extension that sets it up, as happens when Karpenter restarts in \
                 between"
            }
            Self::ExtensionRunning => "the CSE extension has not finished",
            Self::NoRequest => {
                "the VM is running and its agent is ready, but no Node and no CertificateSigningRequest of its kubelet exist \
                 (with secure TLS bootstrapping, none ever does): the bootstrap failed, or kubelet did not start or cannot \
                 reach the API server"
            }
            Self::NoNode => {
                "the VM is running and its agent is ready, but no Node was observed, and it is unknown if its kubelet requested a \
                 certificate"
            }
            Self::RequestPending => "the CertificateSigningRequest of its kubelet is pending",
            Self::RequestDenied => "the CertificateSigningRequest of its kubelet was denied",
            Self::NoNodeAfterRequest => "its kubelet has a certificate but has not created a Node",
            Self::NodeWithoutProviderId => {
                "its Node has no providerID, so Karpenter cannot find it"
            }
            Self::NodeNeverReady => "its Node has not become Ready",
            Self::NodeNotMatched => "its Node is Ready, but Karpenter has not matched it",
            Self::ReadRefused => "no Node was observed, and access to the VM was denied",
            Self::NothingSeen => "neither a Node nor the VM was observed",
        }
    }

    /// Returns the next step, without its full stop.
    fn action(self, node: &str, claim: &str, cse_succeeded: bool) -> String {
        match self {
            Self::NoRequest | Self::NoNode | Self::NothingSeen if cse_succeeded => {
                Self::NoNodeAfterRequest.action(node, claim, cse_succeeded)
            }
            Self::VmNotRunning => {
                format!("Read the VM's activity log: `az vm show -d --name {node}`")
            }
            Self::AgentSilent => {
                "Check the route and the network security group of the node subnet to 168.63.129.16"
                    .to_owned()
            }
            Self::ExtensionNotCreated => {
                "Check restarts of Karpenter; a new NodeClaim gets its extension".to_owned()
            }
            Self::ExtensionRunning => {
                "Read /var/log/azure/cluster-provision.log on the node for the step that hangs"
                    .to_owned()
            }
            Self::NoRequest | Self::NoNode | Self::NothingSeen => format!(
                "Read the report on the node while its VM exists, or on the node of the next NodeClaim of this NodePool: `mooring why {claim} --run-command`"
            ),
            Self::ReadRefused => {
                "Assign the Reader role on the node resource group to the controller identity"
                    .to_owned()
            }
            Self::RequestPending | Self::RequestDenied => {
                "Check the approver of kubelet certificates: `kubectl get csr`".to_owned()
            }
            Self::NoNodeAfterRequest => {
                "Read the kubelet log: `journalctl -u kubelet` on the node".to_owned()
            }
            Self::NodeWithoutProviderId => format!(
                "Check cloud-node-manager, and delete the Node: `kubectl delete node {node}`; while it exists, a restarted Karpenter provisions nothing"
            ),
            Self::NodeNeverReady => {
                format!("Read the Node's conditions: `kubectl describe node {node}`")
            }
            Self::NodeNotMatched => {
                format!("Compare providerID and taints: `kubectl describe node {node}`")
            }
        }
    }

    pub(super) fn confidence(self) -> &'static str {
        match self {
            Self::NoNode | Self::ReadRefused | Self::NothingSeen => "low",
            Self::NoRequest => "medium",
            _ => "high",
        }
    }
}

pub fn failure(claim: &Claim, cause: RegistrationCause, overdue: Overdue) -> Failure {
    let (node, name) = (claim.node_name(), claim.name.to_string());
    let Overdue { minutes, cse_succeeded, .. } = overdue;
    let succeeded = if cse_succeeded { "CSE succeeded; " } else { "" };
    Failure {
        code: None,
        name: None,
        effective: None,
        cause: cause.as_str().to_owned(),
        sentence: format!("{succeeded}{}, after {minutes}m", cause.clause(cse_succeeded)),
        action: cause.action(&node, &name, cse_succeeded),
        owner: "operator",
        confidence: cause.confidence(),
        evidence: None,
        source: FailureSource::Registration,
    }
}
