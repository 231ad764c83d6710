//! Content of the JSON documents. The command adds schema, time, cluster and sources.

mod detection;
mod plan;

pub use detection::{Detected, SignState};
pub use plan::{PublishedPlan, checks};
