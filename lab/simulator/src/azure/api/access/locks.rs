//! Management locks.

use http::Method;

use crate::azure::api::request::{ArmError, Reply};
use crate::azure::state::{AzureState, Lock, is_at_or_below};

impl AzureState {
    pub(crate) fn check_locks(&self, method: &Method, scope: &str) -> Result<(), ArmError> {
        if matches!(method.as_str(), "GET" | "HEAD") {
            return Ok(());
        }
        self.locks_against(method, scope)
            .map_or(Ok(()), |message| Err(ArmError::new(409, "ScopeLocked", message)))
    }

    pub(crate) fn list_locks(&self, scope: &str) -> Reply {
        let near =
            |lock: &&Lock| is_at_or_below(scope, &lock.scope) || is_at_or_below(&lock.scope, scope);
        Reply::list(self.locks.iter().filter(near).map(Lock::body))
    }
}
