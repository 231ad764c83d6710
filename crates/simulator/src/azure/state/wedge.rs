//! Wedged scale sets, as data.

use serde::Deserialize;

/// What ties AKS's own retries together in the activity log. No source says which; both must be survived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Correlation {
    /// All have the id of one request.
    #[default]
    Shared,
    New,
}

/// A wedged scale set.
#[derive(Debug, Clone)]
pub(crate) struct Wedge {
    /// The correlation id of all writes, if they share one.
    pub(crate) correlation: Option<String>,
}
