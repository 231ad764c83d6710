//! Entries of the activity log, operations that end, and locks that forbid: what behavior and API share.

use http::Method;
use jiff::Timestamp;
use serde_json::Value;

use super::activity::{ActivityEntry, Origin};
use super::azure_state::{AzureState, later};
use super::operations::{Operation, Status, Work};

/// Seconds after which an operation that began is accepted.
const ACCEPTED: u64 = 2;

/// How many operations are remembered: days of a busy cluster.
const KEPT: usize = 4096;

impl AzureState {
    /// Writes down that an operation began at `time`, and was accepted right after.
    pub(crate) fn log_begin(&mut self, time: Timestamp, action: &str, id: &str, by: Origin<'_>) {
        self.log(time, action, id, "Started", by);
        self.log(self.after(time, ACCEPTED), action, id, "Accepted", by);
    }

    /// Writes down one event of an operation.
    pub(crate) fn log(
        &mut self,
        time: Timestamp,
        action: &str,
        resource: &str,
        status: &str,
        by: Origin<'_>,
    ) {
        self.log_error(time, action, resource, status, by, None);
    }

    /// The same for an operation that failed, with its error.
    pub(crate) fn log_error(
        &mut self,
        time: Timestamp,
        action: &str,
        resource: &str,
        status: &str,
        by: Origin<'_>,
        error: Option<Value>,
    ) {
        let (least, most) = self.options.ingestion_delay;
        // Each entry has a delay of its own, so that a later one may be seen first.
        let delay = self.activity.delays.between(least, most);
        self.activity.append(ActivityEntry {
            time,
            visible: later(time, self.options.scaled(delay)),
            action: action.to_owned(),
            resource: resource.to_owned(),
            status: status.to_owned(),
            operation: Some(by.operation.to_owned()),
            correlation: by.correlation.to_owned(),
            caller: by.caller.to_owned(),
            error,
        });
    }

    /// Makes room for one more operation: ended ones are remembered for long, but not for ever.
    pub(crate) fn forget_oldest(&mut self) {
        if self.operations.len() < KEPT {
            return;
        }
        let ended = self.operations.values().filter(|operation| !operation.is_running());
        let oldest =
            ended.min_by_key(|operation| operation.started).map(|operation| operation.id.clone());
        if let Some(oldest) = oldest {
            self.operations.remove(&oldest);
        }
    }

    /// The operation that keeps a cluster busy.
    pub(crate) fn running_on(&self, cluster: &str) -> Option<&Operation> {
        let (key, under) = (cluster.to_lowercase(), format!("{}/", cluster.to_lowercase()));
        self.operations.values().find(|operation| {
            operation.is_running()
                && !matches!(operation.work, Work::Abort { .. })
                && (operation.target == key || operation.target.starts_with(&under))
        })
    }

    /// Marks an operation as ended.
    pub(crate) fn close(
        &mut self,
        id: &str,
        status: Status,
        error: Option<(&str, &str)>,
        at: Timestamp,
    ) {
        if let Some(operation) = self.operations.get_mut(id) {
            operation.status = status;
            operation.ended = Some(at);
            operation.error = error.map(|(code, text)| (code.to_owned(), text.to_owned()));
        }
    }

    /// Why locks forbid a call, if they do.
    pub(crate) fn locks_against(&self, method: &Method, scope: &str) -> Option<String> {
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
}
