//! The result of a patch, from the API server's response.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchResult {
    Written,
    /// The object has changed (409, or 422 for a failed test): read it again, then decide again.
    Reread,
    /// The object was deleted (404).
    Gone,
    /// Access denied (401, 403): log it, and retry much later.
    Denied,
    /// Other statuses, and no response: retry later. The write may have happened; the next decision is made
    /// from the object, so it cannot be duplicated.
    Retry,
}

impl PatchResult {
    /// Converts the status of a response; none without a response.
    #[must_use]
    pub fn of(status: Option<u16>) -> Self {
        match status {
            Some(200..=299) => Self::Written,
            Some(409 | 422) => Self::Reread,
            Some(404) => Self::Gone,
            Some(401 | 403) => Self::Denied,
            _ => Self::Retry,
        }
    }
}
