use crate::checks::{PDB, POOL_NAME, TIME, TOLERATIONS};
use mooring_workflow::published::SourceName;

/// Returns the source of a check's evidence.
pub(super) fn source(check: &str) -> Option<SourceName> {
    match check {
        TIME | POOL_NAME => None,
        crate::checks::MISSING_NODES | PDB | TOLERATIONS => Some(SourceName::Cluster),
        _ => Some(SourceName::Azure),
    }
}
