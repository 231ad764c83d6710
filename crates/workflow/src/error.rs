//! Errors of journals and locks.

use std::time::Duration;

use mooring_kube::RequestError;
use thiserror::Error;

use crate::journal::JournalError;

/// Where journals are kept in a cluster.
pub const NAMESPACE: &str = "mooring-system";

/// The manifest that creates [`NAMESPACE`] and the permissions in it.
pub const MANIFEST: &str = "packaging/roles/mooring-repair-cluster.yaml";

/// Pauses between attempts of one write: the API server of a cluster in trouble may be away for a while.
pub(crate) const PAUSES: [Duration; 6] = [
    Duration::from_millis(200),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
    Duration::from_secs(8),
];

/// A store that cannot be used.
#[derive(Debug, Error)]
pub enum StoreError {
    /// Another process holds the lock, or wrote since.
    #[error("lock lost: another process took over this run")]
    LostLock,
    /// The store does not answer, or does not let us.
    #[error("the journal cannot be used: {0}")]
    Unavailable(String),
    /// What it holds is no journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// Explains a rejected request for an object of a journal.
pub(crate) fn explain(error: &RequestError, namespace: &str) -> String {
    match error.status {
        Some(403) if namespace == "kube-system" => format!(
            "{error}\nhint: AKS Automatic refuses writes in kube-system; keep the journal in a namespace of its own ({NAMESPACE} by default)"
        ),
        // What is created names its namespace only.
        Some(404) if namespace == NAMESPACE => format!(
            "{error}\nhint: `kubectl apply -f {MANIFEST}` creates namespace {NAMESPACE} and the permissions in it"
        ),
        Some(404) => format!(
            "{error}\nhint: create namespace {namespace} with the permissions of {MANIFEST}, or use the default, {NAMESPACE}"
        ),
        _ => error.to_string(),
    }
}
