//! The names of all checks, as `--override`, plans and reports have them.

pub const MISSING_NODES: &str = "missing-nodes";
pub const FAILING_WRITES: &str = "failing-writes";
pub const CLUSTER_STATE: &str = "cluster-state";
pub const OTHER_POOLS: &str = "other-pools";
pub const POOL_STATE: &str = "pool-state";
pub const QUOTA: &str = "quota";
pub const SIZE: &str = "size";
pub const SUBNET: &str = "subnet";
pub const BUDGETS: &str = "budgets";
pub const NAME: &str = "name";
pub const POOL_LIMIT: &str = "pool-limit";
pub const RECREATIONS: &str = "recreations";
pub const PERMISSIONS: &str = "permissions";
pub const LOCKS: &str = "locks";
pub const DENY_ASSIGNMENTS: &str = "deny-assignments";
pub const TIME: &str = "time";
pub const TOLERATIONS: &str = "tolerations";
pub const WEDGED: &str = "wedged";
pub const POOL_UNCHANGED: &str = "pool-unchanged";
pub const POOL_RECREATED: &str = "pool-recreated";
pub const REPLACEMENT_READY: &str = "replacement-ready";
pub const PLACEMENT: &str = "placement";
pub const ADDRESSES: &str = "addresses";
pub const OTHER_OPERATION: &str = "other-operation";
