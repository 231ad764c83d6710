//! Management locks: what nobody may delete or change until the lock is removed.

use http::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::access::is_at_or_below;
use super::call::{Answer, Call};
use super::error::ArmError;
use super::reply::Reply;
use super::world::World;

/// A lock. Everything below its scope inherits it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Lock {
    /// The id of a subscription, resource group or resource.
    pub scope: String,
    /// Its name.
    pub name: String,
    /// What it forbids.
    pub level: LockLevel,
    /// Why it is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
}

/// What a lock forbids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LockLevel {
    /// Deleting.
    CanNotDelete,
    /// Everything but reading, actions included.
    ReadOnly,
    /// Nothing.
    NotSpecified,
}

impl Lock {
    fn id(&self) -> String {
        format!("{}/providers/Microsoft.Authorization/locks/{}", self.scope, self.name)
    }

    fn body(&self) -> Value {
        let mut properties = json!({"level": self.level});
        if let Some(notes) = &self.notes {
            properties["notes"] = json!(notes);
        }
        json!({
            "id": self.id(), "name": self.name, "type": "Microsoft.Authorization/locks",
            "properties": properties,
        })
    }

    fn forbids(&self, method: &Method, scope: &str) -> bool {
        let inherited = is_at_or_below(scope, &self.scope);
        match self.level {
            LockLevel::NotSpecified => false,
            LockLevel::ReadOnly if *method != Method::DELETE => inherited,
            // Nor is anything deleted of which a part is locked.
            _ => *method == Method::DELETE && (inherited || is_at_or_below(&self.scope, scope)),
        }
    }
}

impl World {
    /// Refuses a call that locks forbid.
    pub(crate) fn check_locks(&self, method: &Method, scope: &str) -> Result<(), ArmError> {
        let own = "/providers/Microsoft.Authorization/locks/";
        let is_lock = scope.to_lowercase().contains(&own.to_lowercase());
        if matches!(method.as_str(), "GET" | "HEAD") || is_lock {
            return Ok(());
        }
        match self.locks_against(method, scope) {
            None => Ok(()),
            Some(message) => Err(ArmError::new(409, "ScopeLocked", message)),
        }
    }

    fn locks_against(&self, method: &Method, scope: &str) -> Option<String> {
        let locks = self.locks.iter().filter(|lock| lock.forbids(method, scope));
        let scopes: Vec<&str> = locks.map(|lock| lock.scope.as_str()).collect();
        let verb = if *method == Method::DELETE { "delete" } else { "write" };
        // An action of a resource is one at its scope.
        let target = if *method == Method::POST {
            scope.rsplit_once('/').map_or(scope, |(resource, _)| resource)
        } else {
            scope
        };
        (!scopes.is_empty()).then(|| {
            format!(
                "The scope '{target}' cannot perform {verb} operation because following scope(s) are locked: '{}'. Please remove the lock and try again.",
                scopes.join("','")
            )
        })
    }

    /// Why AKS itself cannot write or delete a scale set of the cluster: a lock on it or above it.
    pub(crate) fn aks_locked_out(&self, vmss: &str, deletes: bool) -> Option<String> {
        self.locks_against(if deletes { &Method::DELETE } else { &Method::PUT }, vmss)
    }

    /// `GET {scope}/providers/Microsoft.Authorization/locks`: those at the scope, above and below it.
    pub(crate) fn list_locks(&self, scope: &str) -> Reply {
        let near =
            |lock: &&Lock| is_at_or_below(scope, &lock.scope) || is_at_or_below(&lock.scope, scope);
        let list: Vec<Value> = self.locks.iter().filter(near).map(Lock::body).collect();
        Reply::ok(json!({"value": list}))
    }

    /// One lock: read, put or deleted.
    pub(crate) fn lock(&mut self, call: &Call, scope: &str, name: &str) -> Answer {
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
