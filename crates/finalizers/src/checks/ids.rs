//! Names of the checks.

use mooring_workflow::Reading;

use crate::cluster::unreadable::unreadable;
use crate::cluster::view::Query;

pub const OPERATOR_GONE: &str = "operator-gone";
pub const OBJECTS_KNOWN: &str = "objects-known";
pub const NAMESPACE_CONTENTS: &str = "namespace-contents";
pub const CLUSTER_IDENTITY: &str = "cluster-identity";

/// Returns the reason of a failed read.
pub(super) fn missing<T>(query: &Query, reading: Option<&Reading<T>>) -> Option<String> {
    reading.filter(|reading| reading.error().is_some()).map(|reading| unreadable(query, reading))
}
