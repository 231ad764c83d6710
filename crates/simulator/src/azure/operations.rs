//! Long-running operations: how they begin, what their URLs say, how they end.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::activity::Origin;
use super::agenda::Event;
use super::call::{Answer, Call};
use super::error::ArmError;
use super::reply::Reply;
use super::world::{World, stamp};
use crate::faults::OperationFault;

/// What an operation does when it ends.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Work {
    /// Makes a pool or changes it; `count` is what it shall have.
    PutPool { created: bool, count: i64 },
    /// Removes a pool.
    DeletePool,
    /// Reconciles a cluster.
    UpdateCluster,
    /// Ends another operation.
    Abort { operation: String },
    /// Removes a virtual machine, or an instance of a scale set.
    DeleteMachine,
    /// Writes a scale set.
    PatchVmss,
    /// Runs a command on a machine; the result is the answer.
    Answer { body: Value },
}

/// How far an operation has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    InProgress,
    Succeeded,
    Failed,
    Canceled,
}

impl Status {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::InProgress => "InProgress",
            Self::Succeeded => "Succeeded",
            Self::Failed => "Failed",
            Self::Canceled => "Canceled",
        }
    }
}

/// One operation, from its start on.
#[derive(Debug, Clone)]
pub(crate) struct Operation {
    pub(crate) id: String,
    pub(crate) work: Work,
    /// The resource that it is about, in lower case.
    pub(crate) target: String,
    pub(crate) provider: &'static str,
    pub(crate) started: Timestamp,
    /// When it ends by itself; a stuck one never does.
    pub(crate) ends: Option<Timestamp>,
    pub(crate) ended: Option<Timestamp>,
    pub(crate) status: Status,
    pub(crate) error: Option<(String, String)>,
    /// The id under which the activity log has it, which is not that of its URLs.
    pub(crate) logged: String,
    pub(crate) correlation: String,
    pub(crate) caller: String,
    /// How a fault rule ends it, and whether one hides it from its URLs.
    pub(crate) fate: Option<OperationFault>,
    pub(crate) hidden: bool,
}

pub(crate) const AKS: &str = "Microsoft.ContainerService";
pub(crate) const COMPUTE: &str = "Microsoft.Compute";

/// How many operations are remembered: days of a busy cluster.
const KEPT: usize = 4096;

impl Operation {
    pub(crate) fn is_running(&self) -> bool {
        self.status == Status::InProgress
    }

    /// What its entries in the activity log say of it.
    pub(crate) fn origin(&self) -> Origin<'_> {
        Origin { operation: &self.logged, correlation: &self.correlation, caller: &self.caller }
    }
}

impl World {
    /// Begins an operation that takes so many simulated seconds.
    pub(crate) fn begin(
        &mut self,
        call: &Call,
        provider: &'static str,
        target: &str,
        work: Work,
        seconds: u64,
    ) -> Operation {
        let id = self.guid();
        // What a fault cuts short ends half-way.
        let seconds = match call.fate {
            Some(OperationFault::Canceled | OperationFault::Replaced) => seconds / 2,
            _ => seconds,
        };
        let ends = self.after(call.now, seconds);
        let operation = Operation {
            id: id.clone(),
            work,
            target: target.to_lowercase(),
            provider,
            started: call.now,
            ends: Some(ends),
            ended: None,
            status: Status::InProgress,
            error: None,
            logged: self.guid(),
            correlation: call.correlation.clone(),
            caller: call.principal.clone(),
            fate: call.fate,
            hidden: call.hidden,
        };
        self.forget_oldest();
        self.operations.insert(id.clone(), operation.clone());
        self.agenda.plan(ends, Event::OperationEnds { operation: id });
        operation
    }

    /// Makes room for one more operation: ended ones are remembered for long, but not for ever.
    fn forget_oldest(&mut self) {
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

    /// The headers by which a client follows an operation.
    pub(crate) fn followed(&self, reply: Reply, call: &Call, operation: &Operation) -> Reply {
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

    /// `GET …/locations/{l}/operations/{id}` and its like.
    pub(crate) fn operation(&self, call: &Call, id: &str, result: bool) -> Answer {
        let found = self.operations.get(id).filter(|operation| !operation.hidden);
        let Some(operation) = found else {
            return Err(ArmError::new(
                404,
                "OperationNotFound",
                format!("The operation '{id}' was not found."),
            ));
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

    /// What `Location` says: accepted until the end, then the outcome itself.
    fn result(&self, call: &Call, operation: &Operation) -> Reply {
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
    pub(crate) fn operations_of(&self, target: &str, which: Option<&str>) -> Answer {
        let prefix = format!("{}/", target.to_lowercase());
        let mut found: Vec<&Operation> = self
            .operations
            .values()
            .filter(|operation| {
                operation.provider == AKS
                    && !matches!(operation.work, Work::Abort { .. })
                    && !operation.hidden
                    && (operation.target == target.to_lowercase()
                        || operation.target.starts_with(&prefix))
            })
            .collect();
        found.sort_by_key(|operation| (operation.started, operation.id.clone()));
        let shown = |operation: &Operation| {
            let mut body = status(operation);
            body["id"] = json!(format!("{target}/operations/{}", operation.id));
            if operation.is_running() {
                body["percentComplete"] = json!(10.0);
            }
            body["resourceID"] = json!(operation.target);
            body
        };
        match which {
            None => Ok(Reply::ok(
                json!({"value": found.iter().rev().map(|o| shown(o)).collect::<Vec<_>>()}),
            )),
            Some("latest") => found
                .last()
                .map(|operation| Reply::ok(shown(operation)))
                .ok_or_else(|| ArmError::aks(404, "NotFound", "Could not find any operation.")),
            Some(id) => found
                .iter()
                .find(|operation| operation.id == id)
                .map(|operation| Reply::ok(shown(operation)))
                .ok_or_else(|| {
                    ArmError::aks(404, "NotFound", format!("Could not find the operation: {id}"))
                }),
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
}

fn status(operation: &Operation) -> Value {
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
    if let (Work::Answer { body: output }, Status::Succeeded) = (&operation.work, operation.status)
    {
        body["properties"] = json!({"output": output});
    }
    body
}
