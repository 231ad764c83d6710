//! Long-running operations.

use jiff::Timestamp;
use serde_json::Value;

use super::activity::Origin;
use crate::faults::OperationFault;

/// What an operation does when it ends.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Work {
    /// Makes a pool or changes it; `count` is what it shall have.
    PutPool {
        created: bool,
        count: i64,
    },
    DeletePool,
    UpdateCluster,
    Abort {
        operation: String,
    },
    /// Removes a virtual machine, or an instance of a scale set.
    DeleteMachine,
    /// Writes a scale set.
    PatchVmss,
    /// Runs a command on a machine; the result is the answer.
    Answer {
        body: Value,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    InProgress,
    Succeeded,
    Failed,
    Canceled,
}

impl Status {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::InProgress => "InProgress",
            Self::Succeeded => "Succeeded",
            Self::Failed => "Failed",
            Self::Canceled => "Canceled",
        }
    }
}

/// One operation, from its start on.
#[derive(Debug, Clone)]
pub(crate) struct Operation {
    pub(crate) id: String,
    pub(crate) work: Work,
    /// The resource that it is about, in lower case.
    pub(crate) target: String,
    pub(crate) provider: &'static str,
    pub(crate) started: Timestamp,
    /// When it ends by itself; a stuck one never does.
    pub(crate) ends: Option<Timestamp>,
    pub(crate) ended: Option<Timestamp>,
    pub(crate) status: Status,
    pub(crate) error: Option<(String, String)>,
    /// The id under which the activity log has it, which is not that of its URLs.
    pub(crate) logged: String,
    pub(crate) correlation: String,
    pub(crate) caller: String,
    /// How a fault rule ends it, and whether one hides it from its URLs.
    pub(crate) fate: Option<OperationFault>,
    pub(crate) hidden: bool,
}

pub(crate) const AKS: &str = "Microsoft.ContainerService";
pub(crate) const COMPUTE: &str = "Microsoft.Compute";

impl Operation {
    pub(crate) fn is_running(&self) -> bool {
        self.status == Status::InProgress
    }

    /// What its entries in the activity log say of it.
    pub(crate) fn origin(&self) -> Origin<'_> {
        Origin { operation: &self.logged, correlation: &self.correlation, caller: &self.caller }
    }
}
