//! Long-running operations: start, status URLs, end.

use serde_json::{Value, json};

use crate::azure::api::request::{ArmCall, ArmError, ArmResult, Reply};
use crate::azure::state::{
    AKS, AzureState, OperationStatus, ScheduledEvent, SimulatedOperation, Work, is_at_or_below,
    stamp,
};
use crate::faults::OperationFault;

impl AzureState {
    pub(crate) fn begin(
        &mut self,
        call: &ArmCall,
        provider: &'static str,
        target: &str,
        work: Work,
        seconds: u64,
    ) -> SimulatedOperation {
        let id = self.guid();
        // A fault ends the operation halfway.
        let seconds = match call.operation_fault {
            Some(OperationFault::Canceled | OperationFault::Replaced) => seconds / 2,
            _ => seconds,
        };
        let ends = self.after(call.now, seconds);
        let operation = SimulatedOperation {
            id: id.clone(),
            work,
            target: target.to_lowercase(),
            provider,
            started: call.now,
            ends: Some(ends),
            ended: None,
            status: OperationStatus::InProgress,
            error: None,
            logged: self.guid(),
            correlation: call.correlation.clone(),
            caller: call.principal.clone(),
            fault: call.operation_fault,
            hidden: call.hidden,
        };
        self.forget_oldest();
        self.operations.insert(id.clone(), operation.clone());
        self.events.plan(ends, ScheduledEvent::OperationEnds { operation: id });
        operation
    }

    /// Adds the headers with an operation's status URLs.
    pub(crate) fn followed(
        &self,
        reply: Reply,
        call: &ArmCall,
        operation: &SimulatedOperation,
    ) -> Reply {
        let subscription = call.name(1);
        let place = format!(
            "{}/subscriptions/{subscription}/providers/{}/locations/{}",
            call.base, operation.provider, self.options.location
        );
        let (id, version) = (&operation.id, call.api_version());
        let (follow, result) = match (operation.provider, &operation.work) {
            (AKS, Work::Abort { .. }) => {
                (format!("operationStatus/{id}?"), Some(format!("operations/{id}?")))
            }
            (AKS, Work::DeletePool) => {
                (format!("operations/{id}?"), Some(format!("operationresults/{id}?")))
            }
            (AKS, _) => (format!("operations/{id}?"), None),
            _ => (
                format!("operations/{id}?p=sim&"),
                Some(format!("operations/{id}?p=sim&monitor=true&")),
            ),
        };
        let mut reply = reply
            .with("azure-asyncoperation", format!("{place}/{follow}api-version={version}"))
            .with("retry-after", self.retry_after(10));
        if let Some(result) = result {
            reply = reply.with("location", format!("{place}/{result}api-version={version}"));
        }
        reply
    }

    /// `GET …/locations/{l}/operations/{id}` and similar.
    pub(crate) fn operation(&self, call: &ArmCall, id: &str, result: bool) -> ArmResult {
        let found = self.operations.get(id).filter(|operation| !operation.hidden);
        let Some(operation) = found else {
            let message = format!("The operation '{id}' was not found.");
            return Err(ArmError::new(404, "OperationNotFound", message));
        };
        if result || call.query.contains_key("monitor") {
            return Ok(self.result(call, operation));
        }
        let reply = Reply::ok(status(operation));
        Ok(if operation.is_running() {
            reply.with("retry-after", self.retry_after(10))
        } else {
            reply
        })
    }

    /// Returns the response for `Location`: accepted until the end, then the outcome itself.
    fn result(&self, call: &ArmCall, operation: &SimulatedOperation) -> Reply {
        if operation.is_running() {
            let place = format!("{}/{}", call.base, call.path.segments.join("/"));
            let link = format!("{place}?p=sim&monitor=true&api-version={}", call.api_version());
            return Reply::new(202)
                .with("location", link)
                .with("retry-after", self.retry_after(10));
        }
        if let Some((code, message)) = &operation.error {
            return Reply::new(409).json(json!({"error": {"code": code, "message": message}}));
        }
        if let Work::Answer { body } = &operation.work {
            return Reply::ok(body.clone());
        }
        self.store
            .get(&operation.target)
            .map_or_else(|| Reply::new(204), |body| Reply::ok(body.clone()))
    }

    /// `GET {resource}/operations/latest` and `…/operations[/{id}]`.
    pub(crate) fn operations_of(&self, target: &str, which: Option<&str>) -> ArmResult {
        let is_shown = |operation: &&SimulatedOperation| {
            operation.provider == AKS
                && !matches!(operation.work, Work::Abort { .. })
                && !operation.hidden
                && is_at_or_below(&operation.target, target)
        };
        // They are ordered by id.
        let mut found: Vec<_> = self.operations.values().filter(is_shown).collect();
        found.sort_by_key(|operation| operation.started);
        let shown = |operation: &SimulatedOperation| {
            let mut body = status(operation);
            body["id"] = json!(format!("{target}/operations/{}", operation.id));
            if operation.is_running() {
                body["percentComplete"] = json!(10.0);
            }
            body["resourceID"] = json!(operation.target);
            body
        };
        let (operation, message) = match which {
            None => return Ok(Reply::list(found.into_iter().rev().map(shown))),
            Some("latest") => (found.last(), "Could not find any operation.".to_owned()),
            Some(id) => {
                let operation = found.iter().find(|operation| operation.id == id);
                (operation, format!("Could not find the operation: {id}"))
            }
        };
        operation
            .map(|operation| Reply::ok(shown(operation)))
            .ok_or_else(|| ArmError::aks(404, "NotFound", message))
    }
}

fn status(operation: &SimulatedOperation) -> Value {
    let mut body = json!({
        "name": operation.id,
        "status": operation.status.as_str(),
        "startTime": stamp(operation.started),
    });
    if let Some(ended) = operation.ended {
        body["endTime"] = json!(stamp(ended));
    }
    if let Some((code, message)) = &operation.error {
        body["error"] = json!({"code": code, "message": message});
    }
    if let (Work::Answer { body: output }, OperationStatus::Succeeded) =
        (&operation.work, operation.status)
    {
        body["properties"] = json!({"output": output});
    }
    body
}
