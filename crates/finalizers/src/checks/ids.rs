//! Names of the checks.

pub const OPERATOR_GONE: &str = "operator-gone";
pub const OBJECTS_KNOWN: &str = "objects-known";
pub const NAMESPACE_CONTENTS: &str = "namespace-contents";
pub const CLUSTER_IDENTITY: &str = "cluster-identity";
