//! Activity log entries, ends of operations, and locks, shared by behavior and API.

use http::Method;
use jiff::Timestamp;
use serde_json::Value;

use super::access::is_at_or_below;
use super::activity::{ActivityEntry, Origin};
use super::azure_state::AzureState;
use super::operations::{OperationStatus, SimulatedOperation, Work};
use super::time::later;

/// Seconds until a started operation is accepted.
const ACCEPTED: u64 = 2;

/// Maximum operations kept: days of a busy cluster.
const KEPT: usize = 4096;

impl AzureState {
    /// Logs that an operation started at `time`, and was accepted right after.
    pub(crate) fn log_begin(&mut self, time: Timestamp, action: &str, id: &str, by: Origin<'_>) {
        self.log(time, action, id, "Started", by, None);
        self.log(self.after(time, ACCEPTED), action, id, "Accepted", by, None);
    }

    pub(crate) fn log(
        &mut self,
        time: Timestamp,
        action: &str,
        resource: &str,
        status: &str,
        by: Origin<'_>,
        error: Option<Value>,
    ) {
        let (least, most) = self.options.ingestion_delay;
        // Each entry has a separate delay, so that a later one may be visible first.
        let delay = self.activity.delays.between(least, most);
        self.activity.append(ActivityEntry {
            time,
            visible: later(time, self.options.scaled(delay)),
            action: action.to_owned(),
            resource: resource.to_owned(),
            status: status.to_owned(),
            operation: by.operation.to_owned(),
            correlation: by.correlation.to_owned(),
            caller: by.caller.to_owned(),
            error,
        });
    }

    /// Drops the oldest ended operations.
    pub(crate) fn forget_oldest(&mut self) {
        if self.operations.len() < KEPT {
            return;
        }
        let ended = self.operations.values().filter(|operation| !operation.is_running());
        if let Some(oldest) = ended.min_by_key(|operation| operation.started) {
            self.operations.remove(&oldest.id.clone());
        }
    }

    pub(crate) fn running_on(&self, cluster: &str) -> Option<&SimulatedOperation> {
        self.operations.values().find(|operation| {
            operation.is_running()
                && !matches!(operation.work, Work::Abort { .. })
                && is_at_or_below(&operation.target, cluster)
        })
    }

    pub(crate) fn close(
        &mut self,
        id: &str,
        status: OperationStatus,
        error: Option<(&str, &str)>,
        at: Timestamp,
    ) {
        if let Some(operation) = self.operations.get_mut(id) {
            operation.status = status;
            operation.ended = Some(at);
            operation.error = error.map(|(code, text)| (code.to_owned(), text.to_owned()));
        }
    }

    /// Returns the error of locks that forbid a call.
    pub(crate) fn locks_against(&self, method: &Method, scope: &str) -> Option<String> {
        let locks = self.locks.iter().filter(|lock| lock.forbids(method, scope));
        let scopes: Vec<&str> = locks.map(|lock| lock.scope.as_str()).collect();
        let verb = if *method == Method::DELETE { "delete" } else { "write" };
        // An action has the scope of its resource.
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
}
