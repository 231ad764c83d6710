//! Why a node did not register: the finest cause that Azure and the cluster prove.
//!
//! Karpenter gives a NodeClaim up 15 minutes after its condition `Registered` changed last, which at first is its creation.
//! Whether it did, or should have, is a matter of the clock alone; what the cause is, of what was seen of the VM, of the
//! Node and of the certificate signing request. What was not seen is unknown, and never a cause.

use jiff::{SignedDuration, Timestamp};

use crate::claim::Claim;
use crate::claim::mode::Mode;
use crate::observation::{Agent, Cse, Power, VmSeen};
use crate::verdict::condition::Reason;
use crate::verdict::failure::{Failure, Source};
use crate::verdict::time::seconds;

/// A NodeClaim deleted after this long without a node was given up.
const GIVEN_UP_AFTER: i64 = 14 * 60 + 30;
/// One that is still there after this long should have been given up: Karpenter acts within seconds.
pub const OVERDUE_AFTER: i64 = 16 * 60;
/// Karpenter does not act on a NodeClaim that is still there after this long.
pub const IDLE_AFTER: i64 = 20 * 60;

/// Time that a node may take to register after its CSE succeeded.
pub const REGISTRATION_LIMIT: SignedDuration = SignedDuration::from_mins(5);

/// How a NodeClaim that has not registered has come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overdue {
    /// Minutes that it was waited for, from its creation or from the success of its CSE.
    pub minutes: i64,
    /// It is still there, although Karpenter should have deleted it.
    pub is_alive: bool,
    /// So long that Karpenter does not act.
    pub is_idle: bool,
    pub cse_succeeded: bool,
}

/// Whether a NodeClaim ended unregistered, or should have. `gone` is when its object was removed.
pub fn overdue(claim: &Claim, gone: Option<Timestamp>, now: Timestamp) -> Option<Overdue> {
    if claim.registered.is_some() {
        return None;
    }
    let ended = claim.deleted.or(gone);
    let waited = seconds(claim.unregistered_since, ended.unwrap_or(now));
    let limit = if ended.is_some() { GIVEN_UP_AFTER } else { OVERDUE_AFTER };
    (waited >= limit).then_some(Overdue {
        minutes: (waited + 30) / 60,
        is_alive: ended.is_none(),
        is_idle: ended.is_none() && waited >= IDLE_AFTER,
        cse_succeeded: false,
    })
}

/// The same for a NodeClaim whose CSE succeeded: `patience` after that, its node should have registered.
pub fn overdue_after_success(
    claim: &Claim,
    gone: Option<Timestamp>,
    patience: SignedDuration,
    now: Timestamp,
) -> Option<Overdue> {
    let ended = claim.registered.or(claim.deleted).or(gone).is_some();
    let due = due_after_success(claim, patience).filter(|due| !ended && *due <= now);
    let early = due.map(|_| Overdue {
        minutes: patience.as_mins(),
        is_alive: true,
        is_idle: false,
        cse_succeeded: true,
    });
    let late = overdue(claim, gone, now).map(|late| Overdue { cse_succeeded: true, ..late });
    late.or(early)
}

/// Returns the time at which the node of a NodeClaim should have registered, by the condition on it.
pub fn due_after_success(claim: &Claim, patience: SignedDuration) -> Option<Timestamp> {
    let condition = claim.condition.as_ref()?;
    match Reason::parse(&condition.reason)? {
        Reason::CseSucceeded => {
            Some(condition.since.saturating_add(patience).unwrap_or(Timestamp::MAX))
        }
        Reason::NodeNotRegistered => Some(condition.since),
        _ => None,
    }
}

/// What was seen of a VM last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VmState {
    pub power: Power,
    pub agent: Agent,
    /// Whether it has no bootstrap extension although it is ready for one.
    pub lacks_extension: bool,
    /// Whether its bootstrap extension has not ended.
    pub runs_extension: bool,
}

impl VmState {
    #[must_use]
    pub fn of(vm: &VmSeen) -> Self {
        let cse = vm.cse();
        Self {
            power: vm.power,
            agent: vm.agent,
            lacks_extension: cse == Cse::Absent,
            runs_extension: cse == Cse::Running,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AzureState {
    /// Nothing: the VM was gone, or Azure did not answer.
    Unknown,
    /// Azure does not let us read it.
    Refused,
    Vm(VmState),
}

impl AzureState {
    /// What was seen of the VM last, and whether the last read was refused.
    #[must_use]
    pub fn of(vm: Option<VmState>, refused: bool) -> Self {
        match vm {
            Some(vm) => Self::Vm(vm),
            None if refused => Self::Refused,
            None => Self::Unknown,
        }
    }
}

/// What the cluster shows of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClusterState {
    /// The Node of the VM's name.
    pub node: NodeState,
    /// The kubelet's certificate signing request.
    pub request: RequestState,
}

/// The Node of the VM's name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NodeState {
    /// Nodes could not be listed.
    #[default]
    Unknown,
    Absent,
    /// It has no provider id, by which Karpenter would find it.
    NoProviderId,
    NotReady,
    Ready,
}

/// The kubelet's certificate signing request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RequestState {
    /// Requests could not be listed.
    #[default]
    Unknown,
    /// There is none. With secure TLS bootstrapping, there never is.
    Absent,
    Pending,
    Denied,
    Approved,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The VM does not run.
    VmNotRunning,
    /// The VM runs, and its agent does not report.
    AgentSilent,
    /// Karpenter was to create the bootstrap extension, and did not.
    ExtensionNotCreated,
    /// The bootstrap extension has not ended.
    ExtensionRunning,
    /// The VM runs, its agent reports, and the kubelet has not requested a certificate.
    NoRequest,
    /// The same, where requests or Nodes cannot be listed.
    NoNode,
    /// The kubelet's request is not decided on.
    RequestPending,
    /// The kubelet's request is denied.
    RequestDenied,
    /// The kubelet has a certificate, and there is no Node.
    NoNodeAfterRequest,
    NodeWithoutProviderId,
    /// The Node never became ready.
    NodeNeverReady,
    /// The Node is ready, and Karpenter did not match it.
    NodeNotMatched,
    /// Azure does not let us read the VM.
    ReadRefused,
    /// Nothing was seen of the VM.
    NothingSeen,
}

impl Cause {
    /// The finest cause that is proven.
    #[must_use]
    pub fn of(mode: Option<Mode>, azure: AzureState, cluster: ClusterState) -> Self {
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
            AzureState::Vm(vm) => vm,
            AzureState::Refused => return Self::ReadRefused,
            AzureState::Unknown => return Self::NothingSeen,
        };
        match (vm.power, vm.agent) {
            (Power::Stopped, _) => Self::VmNotRunning,
            _ if vm.lacks_extension && mode == Some(Mode::Vm) => Self::ExtensionNotCreated,
            (Power::Running, Agent::Silent) => Self::AgentSilent,
            _ if vm.runs_extension => Self::ExtensionRunning,
            (Power::Running, Agent::Ready)
                if cluster.node == NodeState::Absent && cluster.request == RequestState::Absent =>
            {
                Self::NoRequest
            }
            (Power::Running, Agent::Ready) => Self::NoNode,
            _ => Self::NothingSeen,
        }
    }

    /// The word, for records and metrics.
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

    /// Whether the image can be to blame. A restart of Karpenter, and a Node that Karpenter did not match, are not the
    /// image's.
    pub fn can_be_image(cause: &str) -> bool {
        cause != Self::ExtensionNotCreated.as_str() && cause != Self::NodeNotMatched.as_str()
    }

    fn clause(self, cse_succeeded: bool) -> &'static str {
        match self {
            Self::NoRequest if cse_succeeded => {
                "the VM is running and its agent is ready, but there is no Node and no CertificateSigningRequest of its kubelet \
                 (with secure TLS bootstrapping there never is one): kubelet did not start or cannot reach the API server"
            }
            Self::VmNotRunning => "the VM is not running",
            Self::AgentSilent => "the VM is running, but its Azure VM agent does not report",
            Self::ExtensionNotCreated => {
                "Karpenter created the VM but not the CSE extension that sets it up, as happens when Karpenter restarts in \
                 between"
            }
            Self::ExtensionRunning => "the CSE extension has not ended",
            Self::NoRequest => {
                "the VM is running and its agent is ready, but there is no Node and no CertificateSigningRequest of its kubelet \
                 (with secure TLS bootstrapping there never is one): the bootstrap failed, or kubelet did not start or cannot \
                 reach the API server"
            }
            Self::NoNode => {
                "the VM is running and its agent is ready, but no Node was seen, and whether its kubelet requested a \
                 certificate is unknown"
            }
            Self::RequestPending => "the CertificateSigningRequest of its kubelet is pending",
            Self::RequestDenied => "the CertificateSigningRequest of its kubelet was denied",
            Self::NoNodeAfterRequest => "its kubelet has a certificate but has not created a Node",
            Self::NodeWithoutProviderId => {
                "its Node has no providerID, so Karpenter does not find it"
            }
            Self::NodeNeverReady => "its Node has not become Ready",
            Self::NodeNotMatched => "its Node is Ready, but Karpenter has not matched it",
            Self::ReadRefused => {
                "no Node was seen, and Azure does not let the controller read the VM"
            }
            Self::NothingSeen => "no Node was seen, and nothing was seen of its VM",
        }
    }

    /// The next step, without its full stop.
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
                "Read the node's own report while its VM is there, or that of the next NodeClaim of this NodePool: `mooring why {claim} --run-command`"
            ),
            Self::ReadRefused => {
                "Give the controller's identity the role Reader on the node resource group"
                    .to_owned()
            }
            Self::RequestPending | Self::RequestDenied => {
                "Check who approves kubelet certificates: `kubectl get csr`".to_owned()
            }
            Self::NoNodeAfterRequest => {
                "Read kubelet's log: `journalctl -u kubelet` on the node".to_owned()
            }
            Self::NodeWithoutProviderId => format!(
                "Check cloud-node-manager, and delete the Node: `kubectl delete node {node}`; while it is there, a restarted Karpenter provisions nothing"
            ),
            Self::NodeNeverReady => {
                format!("Read the Node's conditions: `kubectl describe node {node}`")
            }
            Self::NodeNotMatched => {
                format!("Compare providerID and taints: `kubectl describe node {node}`")
            }
        }
    }

    fn confidence(self) -> &'static str {
        match self {
            Self::NoNode | Self::ReadRefused | Self::NothingSeen => "low",
            Self::NoRequest => "medium",
            _ => "high",
        }
    }
}

/// The failure of a node that did not register.
pub fn failure(claim: &Claim, cause: Cause, overdue: Overdue) -> Failure {
    let (node, name) = (claim.node_name(), claim.name.to_string());
    let Overdue { minutes, cse_succeeded, .. } = overdue;
    let succeeded = if cse_succeeded { "CSE succeeded; " } else { "" };
    Failure {
        code: None,
        name: None,
        effective: None,
        cause: cause.as_str().to_owned(),
        sentence: format!("{succeeded}{}, after {minutes} minutes", cause.clause(cse_succeeded)),
        action: cause.action(&node, &name, cse_succeeded),
        owner: "operator",
        confidence: cause.confidence(),
        evidence: None,
        source: Source::Registration,
    }
}

#[cfg(test)]
mod tests;
