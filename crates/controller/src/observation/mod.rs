//! Results of reading Azure.
//!
//! An unreadable response is an observation as well.

use std::time::Duration;

pub mod karpenter;
#[cfg(test)]
mod tests;
mod vm;

pub use vm::{CseState, Extension, MachineStatus, ProvisioningState, VmObservation};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observation {
    Vm(VmObservation),
    Machine(MachineStatus),
    /// HTTP 404.
    Missing,
    /// HTTP 401 or 403.
    Denied {
        status: u16,
    },
    /// HTTP 429.
    Throttled {
        retry_after: Option<Duration>,
    },
    /// No response, a server error, or an unreadable response.
    Unreadable {
        /// Fixed text; never the text of the response.
        what: &'static str,
    },
}
