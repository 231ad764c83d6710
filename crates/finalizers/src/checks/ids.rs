//! Names of the checks.

use mooring_workflow::Reading;

use crate::unreadable::unreadable;
use crate::view::Query;

/// Nothing shows that the operator still runs.
pub const OPERATOR_GONE: &str = "operator-gone";
/// All CRDs and objects could be read.
pub const OBJECTS_KNOWN: &str = "objects-known";
/// It is known which cluster this is.
pub const CLUSTER_IDENTITY: &str = "cluster-identity";

/// Why there is no answer; none if there is one, also if it is that there is nothing.
pub(super) fn missing<T>(query: &Query, reading: Option<&Reading<T>>) -> Option<String> {
    reading
        .filter(|reading| !matches!(reading, Reading::Known(_) | Reading::NotFound))
        .map(|reading| unreadable(query, reading))
}
