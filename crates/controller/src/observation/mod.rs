//! Results of reading Azure.
//!
//! Parsers are tolerant: a field may be absent, `null` or of an unexpected type. An unreadable response is an
//! observation as well.

pub mod karpenter;
pub mod node;

use std::time::Duration;

use mooring_codes::Os;

mod body;
mod machine;
mod vm;

pub use machine::MachineStatus;
pub use vm::{Agent, Extension, Power, VmStatus};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observation {
    Vm(VmStatus),
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Progress {
    /// Absent, or a state that is not known.
    #[default]
    Unknown,
    /// Being created or updated.
    Running,
    Succeeded,
    Failed,
    Deleting,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cse {
    /// The VM is not ready for extensions yet.
    NotYet,
    /// The VM is ready and has none.
    Absent,
    Running,
    /// Succeeded by its status; its text may report otherwise.
    Succeeded {
        text: String,
        os: Os,
    },
    Failed {
        text: String,
        os: Os,
    },
}

impl Observation {
    /// Parses the response to `GET virtualMachines/{vm}?$expand=instanceView`.
    #[must_use]
    pub fn of_vm(status: u16, retry_after: Option<Duration>, body: &[u8]) -> Self {
        Self::from_response(status, retry_after, || VmStatus::parse(body).map(Self::Vm))
    }

    /// Parses the response to `GET machines/{machine}`.
    #[must_use]
    pub fn of_machine(status: u16, retry_after: Option<Duration>, body: &[u8]) -> Self {
        Self::from_response(status, retry_after, || MachineStatus::parse(body).map(Self::Machine))
    }

    /// Returns the text that the bootstrap extension reported; empty if none.
    pub fn report_text(&self) -> String {
        match self {
            Self::Vm(vm) => match vm.cse() {
                Cse::Succeeded { text, .. } | Cse::Failed { text, .. } => text,
                Cse::NotYet | Cse::Absent | Cse::Running => String::new(),
            },
            _ => String::new(),
        }
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

impl Progress {
    /// Parses a `provisioningState` or a status code such as `ProvisioningState/failed/50`.
    #[must_use]
    pub fn parse(state: &str) -> Self {
        let lower = state.to_ascii_lowercase();
        let state = lower.strip_prefix("provisioningstate/").unwrap_or(&lower);
        match state.split('/').next().unwrap_or_default() {
            "succeeded" => Self::Succeeded,
            "failed" | "canceled" => Self::Failed,
            "creating" | "updating" | "transitioning" | "migrating" | "accepted" | "running" => {
                Self::Running
            }
            "deleting" | "deprovisioning" => Self::Deleting,
            _ => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests;
