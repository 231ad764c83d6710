//! Errors that only wrap another, or report that something failed.

use mooring_codes::Owner;

use super::{About, Cause, Tier, Wording};
use crate::diagnosis::Confidence;
use crate::stage::Stage;

pub(super) static INTERNAL_ERROR: Cause = Cause {
    reason: "AzureInternalError",
    stage: Stage::Launch,
    owner: Owner::Platform,
    summary: "Azure reports an internal error and no reason. Nothing in the text points to the cluster's settings, network or image.",
    actions: &[
        "Repeat the operation once after some minutes; `az aks update` without changes reconciles a cluster.",
        "Look for the reason elsewhere: `az monitor activity-log list --resource-group <node resource group> --status Failed`.",
        "Open a support case with the correlation id and the operation id of the message.",
    ],
};

static POOL_FAILED: Cause = Cause {
    reason: "PoolOperationFailed",
    stage: Stage::Launch,
    owner: Owner::Platform,
    summary: "An operation on the node pool failed. The text does not include the error that it wraps.",
    actions: &[
        "Read the error of the scale set or VM: `az monitor activity-log list --resource-group <node resource group> --status Failed`.",
        "Repeat the operation once; open a support case with the correlation id if it fails again without a reason.",
    ],
};

pub(super) static WORDINGS: &[Wording] = &[
    Wording {
        name: "internal-error",
        cause: &INTERNAL_ERROR,
        tier: Tier::Wrapper,
        phrases: &[
            "we are unable to serve this request due to an internal error",
            "unable to serve this request due to an internal error",
            "aks encountered an internal error",
            "encountered an internal error",
            "an internal execution error occurred",
            "an unexpected error occurred while processing the network profile",
            "internal server error",
            "networkinginternaloperationerror",
            "internaloperationerror",
            "internalservererror",
            "internalexecutionerror",
        ],
        about: About::Machines,
        confidence: Confidence::Medium,
        ..Wording::ANY
    },
    Wording {
        name: "pool-operation-failed",
        cause: &POOL_FAILED,
        tier: Tier::Wrapper,
        phrases: &[
            "reconcilevmssagentpoolfailed",
            "createvmssagentpoolfailed",
            "updatevmssagentpoolfailed",
            "scalevmssagentpoolfailed",
            "upgradevmssagentpoolfailed",
            "deletevmssagentpoolfailed",
            "reconcileagentpoolfailed",
            "createagentpoolfailed",
            "vmssagentpoolreconciler retry failed",
            "details: resource state failed",
            "resource state failed",
        ],
        about: About::Anything,
        confidence: Confidence::Low,
        ..Wording::ANY
    },
    Wording {
        name: "terminal-state-failed",
        cause: &POOL_FAILED,
        tier: Tier::Wrapper,
        phrases: &[
            "scale-up failed for group",
            "failed to increase node group size",
            "failedtoscaleupgroup",
            "did not complete within the allowed timeout period",
            "completed with terminal provisioning state 'failed'",
            "completed with terminal provisioning state failed",
        ],
        about: About::Nodes,
        confidence: Confidence::Low,
        ..Wording::ANY
    },
];
