use jiff::Timestamp;
use serde_json::Value;

use super::activity::Origin;
use crate::faults::OperationFault;

/// Effect of an operation when it ends.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Work {
    /// Creates or changes a pool; `count` is its desired size.
    PutPool {
        created: bool,
        count: i64,
    },
    DeletePool,
    UpdateCluster,
    Abort {
        operation: String,
    },
    /// Removes a VM, or an instance of a scale set.
    DeleteMachine,
    PatchVmss,
    /// Runs a command on a VM; its result is the response.
    Answer {
        body: Value,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OperationStatus {
    InProgress,
    Succeeded,
    Failed,
    Canceled,
}

impl OperationStatus {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::InProgress => "InProgress",
            Self::Succeeded => "Succeeded",
            Self::Failed => "Failed",
            Self::Canceled => "Canceled",
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct SimulatedOperation {
    pub(crate) id: String,
    pub(crate) work: Work,
    /// Id of the resource, in lower case.
    pub(crate) target: String,
    pub(crate) provider: &'static str,
    pub(crate) started: Timestamp,
    /// Scheduled end; a stuck operation has none.
    pub(crate) ends: Option<Timestamp>,
    pub(crate) ended: Option<Timestamp>,
    pub(crate) status: OperationStatus,
    pub(crate) error: Option<(String, String)>,
    /// Id in the activity log, which differs from that in its URLs.
    pub(crate) logged: String,
    pub(crate) correlation: String,
    pub(crate) caller: String,
    /// Outcome set by a fault rule, and true if a rule hides it from its URLs.
    pub(crate) fault: Option<OperationFault>,
    pub(crate) hidden: bool,
}

pub(crate) const AKS: &str = "Microsoft.ContainerService";
pub(crate) const COMPUTE: &str = "Microsoft.Compute";

impl SimulatedOperation {
    pub(crate) fn is_running(&self) -> bool {
        self.status == OperationStatus::InProgress
    }

    /// Returns the action of its entries in the activity log: that of a cluster or of a pool.
    pub(crate) fn action(&self) -> String {
        let kind = if self.target.contains("/agentpools/") { "/agentPools" } else { "" };
        let verb = match self.work {
            Work::DeletePool => "delete",
            Work::Abort { .. } => "abort/action",
            _ => "write",
        };
        format!("Microsoft.ContainerService/managedClusters{kind}/{verb}")
    }

    /// Returns the origin of its entries in the activity log.
    pub(crate) fn origin(&self) -> Origin<'_> {
        Origin { operation: &self.logged, correlation: &self.correlation, caller: &self.caller }
    }
}
