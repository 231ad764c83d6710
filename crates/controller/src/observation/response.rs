//! The result of a read, from Azure's response.

use std::time::Duration;

use super::machine::MachineStatus;
use super::vm::VmObservation;

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

impl Observation {
    /// Parses the response to `GET virtualMachines/{vm}?$expand=instanceView`.
    #[must_use]
    pub fn of_vm(status: u16, retry_after: Option<Duration>, body: &[u8]) -> Self {
        Self::from_response(status, retry_after, || VmObservation::parse(body).map(Self::Vm))
    }

    /// Parses the response to `GET machines/{machine}`.
    #[must_use]
    pub fn of_machine(status: u16, retry_after: Option<Duration>, body: &[u8]) -> Self {
        Self::from_response(status, retry_after, || MachineStatus::parse(body).map(Self::Machine))
    }

    fn from_response(
        status: u16,
        retry_after: Option<Duration>,
        read: impl FnOnce() -> Option<Self>,
    ) -> Self {
        match status {
            200 => read().unwrap_or(Self::Unreadable { what: "unreadable response" }),
            401 | 403 => Self::Denied { status },
            404 | 410 => Self::Missing,
            429 => Self::Throttled { retry_after },
            500.. => Self::Unreadable { what: "server error" },
            _ => Self::Unreadable { what: "unexpected response" },
        }
    }
}
