//! State of wedged scale sets.

use serde::Deserialize;

/// Correlation of AKS's own retries in the activity log. No source documents it; both forms must be handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Correlation {
    #[default]
    Shared,
    New,
}

#[derive(Debug, Clone)]
pub(crate) struct Wedge {
    /// Correlation id of all writes, if they share one.
    pub(crate) correlation: Option<String>,
}
