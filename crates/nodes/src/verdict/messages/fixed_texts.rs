//! Messages that do not depend on a failure.

pub const SUCCEEDED: &str = "CSE succeeded.";
pub const RUNNING: &str = "CSE has not finished yet.";
pub const NO_EXTENSION: &str = "The VM has no CSE extension: its custom data sets up the node, and Azure has no result. \
    The result is in /var/log/azure/aks/provision.json on the node.";
pub const NOT_CREATED: &str = "The VM has no CSE extension, which Karpenter creates after the VM: Karpenter probably \
    restarted in between, and the node will not be set up. The image is not the cause. Karpenter deletes the NodeClaim 15m \
    after its creation; to replace it now, delete it.";
/// Appended to a message about a NodeClaim that Karpenter should have deleted minutes ago.
pub const IDLE: &str =
    " Karpenter is not acting: it deletes such a NodeClaim after 15m. Check that it is running.";
pub const NO_REPORT_ON_NODE: &str = "The VM has no CSE extension, and no /var/log/azure/aks/provision.json yet: its bootstrap \
    has not finished. Retry in a minute; its logs are in /var/log/azure/aks/ on the node.";

pub fn access_denied(status: u16) -> String {
    format!(
        "Access to the VM was denied ({status}). Assign the Reader role on the node resource group to the controller identity."
    )
}

/// The node registered although an event reported a failure.
pub const REGISTERED: &str =
    "The node registered. The CSE result has not been read from Azure yet.";

pub const VM_GONE: &str = "The VM was deleted before the CSE result could be read.";
