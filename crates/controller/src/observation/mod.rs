//! What one read of Azure showed.
//!
//! Readers are tolerant: a member may be absent, `null` or of a kind that nobody has seen before.
//! What cannot be read is an observation too.

pub mod karpenter;
pub mod node;

use std::time::Duration;

use mooring_codes::Os;

mod body;
mod machine;
#[cfg(test)]
mod orders;
mod vm;

pub use machine::MachineSeen;
pub use vm::{Agent, Extension, Power, VmSeen};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observation {
    /// The VM with its extensions.
    Vm(VmSeen),
    Machine(MachineSeen),
    /// Nothing is there (404).
    Missing,
    /// Azure does not let us look (401, 403).
    Refused {
        status: u16,
    },
    /// Too many requests (429).
    Throttled {
        /// How long to wait, if Azure said so.
        retry_after: Option<Duration>,
    },
    /// No answer, an error of the server's, or one that cannot be read.
    Unreadable {
        /// A few words of ours; never the answer's own.
        what: &'static str,
    },
}

/// Where something is on its way, in Azure's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Progress {
    /// Not there, or in a word that is not known.
    #[default]
    Unknown,
    /// Being created or changed.
    Running,
    Succeeded,
    Failed,
    /// On its way out.
    Deleting,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cse {
    /// The VM is not ready for extensions yet.
    NotYet,
    /// The VM is ready, and there is none.
    Absent,
    /// It has not ended.
    Running,
    /// It ended well, by its own word; its text may know better.
    Succeeded { text: String, os: Os },
    Failed {
        /// What is known; may be empty.
        text: String,
        os: Os,
    },
}

impl Observation {
    /// From the answer to `GET virtualMachines/{vm}?$expand=instanceView`.
    #[must_use]
    pub fn of_vm(status: u16, retry_after: Option<Duration>, body: &[u8]) -> Self {
        Self::answered(status, retry_after, || VmSeen::parse(body).map(Self::Vm))
    }

    /// From the answer to `GET machines/{machine}`.
    #[must_use]
    pub fn of_machine(status: u16, retry_after: Option<Duration>, body: &[u8]) -> Self {
        Self::answered(status, retry_after, || MachineSeen::parse(body).map(Self::Machine))
    }

    /// What the bootstrap's extension says in its own words; empty where it says nothing.
    pub fn said(&self) -> String {
        match self {
            Self::Vm(vm) => match vm.cse() {
                Cse::Succeeded { text, .. } | Cse::Failed { text, .. } => text,
                Cse::NotYet | Cse::Absent | Cse::Running => String::new(),
            },
            _ => String::new(),
        }
    }

    fn answered(
        status: u16,
        retry_after: Option<Duration>,
        read: impl FnOnce() -> Option<Self>,
    ) -> Self {
        match status {
            200 => read().unwrap_or(Self::Unreadable { what: "an answer that cannot be read" }),
            401 | 403 => Self::Refused { status },
            404 | 410 => Self::Missing,
            429 => Self::Throttled { retry_after },
            500.. => Self::Unreadable { what: "an error of Azure's" },
            _ => Self::Unreadable { what: "an unexpected answer" },
        }
    }
}

impl Progress {
    /// From a `provisioningState`, or from a status code such as `ProvisioningState/failed/50`.
    #[must_use]
    pub fn parse(word: &str) -> Self {
        let lower = word.to_ascii_lowercase();
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
