//! Causes of a node that did not register: the most specific one that Azure and the cluster prove.
//!
//! Karpenter gives up on a NodeClaim 15 minutes after its condition `Registered` changed last, which at first
//! is its creation. That it did, or should have, is decided by the clock alone; the cause by the observed VM,
//! Node and certificate signing request. State that was not observed is unknown, and never a cause.

mod cause;
#[cfg(test)]
mod tests;

pub use crate::unregistered::NodeState;
pub use cause::{AgentState, AzureReading, ClusterState, Power, RequestState, VmState};
pub use cause::{
    IDLE_AFTER, OVERDUE_AFTER, Overdue, REGISTRATION_LIMIT, REGISTRATION_TIMEOUT,
    due_after_success, overdue, overdue_after_success, was_left,
};
pub use cause::{RegistrationCause, failure};
