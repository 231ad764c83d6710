//! Content of the JSON documents. The command adds schema, time, cluster and sources.

mod detection;
mod plan;

pub use detection::{Detected, SignState};
pub use plan::{PublishedPlan, checks};

use crate::checks::{PDB, POOL_NAME, TIME, TOLERATIONS};
use mooring_workflow::published::SourceName;

/// Returns the source of a check's evidence.
fn source(check: &str) -> Option<SourceName> {
    match check {
        TIME | POOL_NAME => None,
        crate::checks::MISSING_NODES | PDB | TOLERATIONS => Some(SourceName::Cluster),
        _ => Some(SourceName::Azure),
    }
}
