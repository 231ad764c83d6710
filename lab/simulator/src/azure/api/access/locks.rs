//! Management locks.

use http::Method;

use crate::azure::api::request::{ArmCall, ArmError, ArmResult, Reply};
use crate::azure::state::{AzureState, Lock, is_at_or_below};

impl AzureState {
    pub(crate) fn check_locks(&self, method: &Method, scope: &str) -> Result<(), ArmError> {
        let is_lock = scope.to_lowercase().contains("/providers/microsoft.authorization/locks/");
        if matches!(method.as_str(), "GET" | "HEAD") || is_lock {
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

    pub(crate) fn lock(&mut self, call: &ArmCall, scope: &str, name: &str) -> ArmResult {
        let is_it = |lock: &Lock| {
            lock.name.eq_ignore_ascii_case(name) && lock.scope.eq_ignore_ascii_case(scope)
        };
        let found = self.locks.iter().position(is_it);
        match (call.method.as_str(), found) {
            ("GET", Some(at)) => Ok(Reply::ok(self.locks[at].body())),
            ("GET", None) => {
                let message = format!("The lock '{name}' could not be found.");
                Err(ArmError::new(404, "LockNotFound", message))
            }
            ("PUT", found) => {
                let sent = call.object()?.get("properties").cloned().unwrap_or_default();
                let level = serde_json::from_value(sent["level"].clone())
                    .map_err(|_| ArmError::bad_body("The level of the lock is not valid."))?;
                let lock = Lock {
                    scope: scope.to_owned(),
                    name: name.to_owned(),
                    level,
                    notes: sent["notes"].as_str().map(str::to_owned),
                };
                let body = lock.body();
                if let Some(at) = found {
                    self.locks.remove(at);
                }
                self.locks.push(lock);
                Ok(Reply::new(if found.is_some() { 200 } else { 201 }).json(body))
            }
            ("DELETE", found) => {
                if let Some(at) = found {
                    self.locks.remove(at);
                }
                Ok(Reply::new(if found.is_some() { 200 } else { 204 }))
            }
            _ => Err(ArmError::bad_method(call.method.as_str())),
        }
    }
}
