//! Names of all checks in `--override`, plans and reports.

pub const MISSING_NODES: &str = "missing-nodes";
pub const FAILING_WRITES: &str = "failing-writes";
pub const CLUSTER_STATE: &str = "cluster-state";
pub const OTHER_POOLS: &str = "other-pools";
pub const POOL_STATE: &str = "pool-state";
pub const QUOTA: &str = "quota";
pub const VM_SIZE: &str = "vm-size";
pub const SUBNET: &str = "subnet";
pub const PDB: &str = "pdb";
pub const POOL_NAME: &str = "pool-name";
pub const POOL_LIMIT: &str = "pool-limit";
pub const RECREATIONS: &str = "recreations";
pub const PERMISSIONS: &str = "permissions";
pub const LOCKS: &str = "locks";
pub const DENY_ASSIGNMENTS: &str = "deny-assignments";
/// The plan is bound to the cluster by the uid of `kube-system`.
pub const CLUSTER_UID: &str = "cluster-uid";
pub const TIME: &str = "time";
pub const TOLERATIONS: &str = "tolerations";
pub const WEDGED: &str = "wedged";
pub const POOL_UNCHANGED: &str = "pool-unchanged";
pub const POOL_RECREATED: &str = "pool-recreated";
pub const REPLACEMENT_READY: &str = "replacement-ready";
pub const WORKLOADS: &str = "workloads";
pub const IP_ADDRESSES: &str = "ip-addresses";
pub const OTHER_OPERATION: &str = "other-operation";
