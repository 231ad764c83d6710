use std::collections::VecDeque;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::random::Random;

/// Number of entries kept: a wedge at full speed writes about 100 a minute, so hours of them.
const KEPT: usize = 20_000;
#[derive(Debug, Clone)]
pub struct ActivityEntry {
    pub time: Timestamp,
    pub visible: Timestamp,
    /// For example `Microsoft.Compute/virtualMachineScaleSets/write`.
    pub action: String,
    pub resource: String,
    pub status: String,
    /// Links the entries of one operation.
    pub operation: String,
    /// Links a request to all its effects, including operations of other resources.
    pub correlation: String,
    pub caller: String,
    pub error: Option<Value>,
}

/// Correlation of AKS's own retries in the activity log. No source documents it; both forms must be handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Correlation {
    #[default]
    Shared,
    New,
}

/// The operation of an entry, and its caller.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin<'a> {
    pub(crate) operation: &'a str,
    pub(crate) correlation: &'a str,
    pub(crate) caller: &'a str,
}

#[derive(Debug, Clone)]
pub(crate) struct ActivityLog {
    pub(crate) entries: VecDeque<(u64, ActivityEntry)>,
    written: u64,
    pub(crate) delays: Random,
}

impl ActivityLog {
    pub(crate) fn new(random: &Random) -> Self {
        Self { entries: VecDeque::new(), written: 0, delays: random.fork("activity") }
    }

    pub(crate) fn append(&mut self, entry: ActivityEntry) {
        if self.entries.len() == KEPT {
            self.entries.pop_front();
        }
        self.written += 1;
        self.entries.push_back((self.written, entry));
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }
}

/// Returns the error of a failed operation in the form of the log: the cause inside a general error.
pub(crate) fn wrapped_error(outer: &str, code: &str, message: &str) -> Value {
    json!({"status": "Failed", "error": {
        "code": outer,
        "message": "The resource operation completed with terminal provisioning state 'Failed'.",
        "details": [{"code": code, "message": message}],
    }})
}
