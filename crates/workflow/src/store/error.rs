//! Errors of journals and locks.

use std::time::Duration;

use mooring_k8s::RequestError;
use thiserror::Error;

use crate::journal::JournalError;

/// The default namespace of journals.
pub const NAMESPACE: &str = "mooring-system";

/// The manifest that creates [`NAMESPACE`] and the permissions in it.
pub const MANIFEST: &str = "packaging/roles/mooring-repair-cluster.yaml";

/// Pauses between attempts of one write: the API server of a failing cluster may be unavailable for a while.
pub(crate) const PAUSES: [Duration; 6] = [
    Duration::from_millis(200),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
    Duration::from_secs(8),
];

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum StoreError {
    /// Another process holds the lock, or wrote since.
    #[error("lock lost: another process took over this run")]
    LostLock,
    #[error("journal unavailable: {0}")]
    Unavailable(String),
    #[error("the lock could not be renewed")]
    NotRenewed,
    #[error("the document of the run has {0} bytes; at most {1} are stored")]
    TooLarge(usize, usize),
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// Explains a rejected request for an object of a journal.
pub(crate) fn explain(error: &RequestError, namespace: &str) -> String {
    match error.status {
        Some(403) if namespace == "kube-system" => format!(
            "{error}\nhint: AKS Automatic refuses writes in kube-system; use another namespace for the journal ({NAMESPACE} by default)"
        ),
        // A create request names only its namespace. Without that, its Role is missing as well.
        Some(403 | 404) if namespace == NAMESPACE => format!(
            "{error}\nhint: `kubectl apply -f {MANIFEST}` creates namespace {NAMESPACE} and the permissions in it"
        ),
        Some(404) => format!(
            "{error}\nhint: create namespace {namespace} with the permissions of {MANIFEST}, or use the default, {NAMESPACE}"
        ),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hint_depends_on_status_and_namespace() {
        for (status, namespace, hint) in [
            (Some(403), "kube-system", "AKS Automatic"),
            (Some(403), NAMESPACE, "kubectl apply -f packaging/"),
            (Some(404), NAMESPACE, "kubectl apply -f packaging/"),
            (Some(404), "kube-system", "create namespace kube-system"),
            (Some(404), "ops", "create namespace ops"),
            (Some(500), "kube-system", ""),
            (None, NAMESPACE, ""),
        ] {
            let (reason, message) = ("Reason".to_owned(), "message".to_owned());
            let error = RequestError { status, reason, message };
            let text = explain(&error, namespace);
            let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
            assert_eq!(first, error.to_string());
            assert_eq!(rest.is_empty(), hint.is_empty(), "{text}");
            assert!(rest.contains(hint), "{text}");
        }
    }
}
