//! The activity log: what was written to Azure, readable some minutes later.

use std::collections::VecDeque;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::random::Random;

/// How many entries are kept: a wedge at full speed writes about 100 a minute, so hours of them.
const KEPT: usize = 20_000;
/// One thing that somebody did.
#[derive(Debug, Clone)]
pub struct ActivityEntry {
    pub time: Timestamp,
    pub visible: Timestamp,
    /// What was done: `Microsoft.Compute/virtualMachineScaleSets/write`.
    pub action: String,
    pub resource: String,
    /// `Started`, `Accepted`, `Succeeded` or `Failed`.
    pub status: String,
    /// Ties the entries of one operation together; none if the service left it out.
    pub operation: Option<String>,
    /// Ties a request to everything that it causes, operations of other resources included.
    pub correlation: String,
    pub caller: String,
    /// The error that a failed write reports.
    pub error: Option<Value>,
}

/// Which operation an entry belongs to, and who asked for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin<'a> {
    pub(crate) operation: &'a str,
    pub(crate) correlation: &'a str,
    pub(crate) caller: &'a str,
}

/// The log, in the order in which it was written.
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

/// The error of a failed operation, as the log carries it: what happened is inside of a general one.
pub(crate) fn wrapped_error(outer: &str, code: &str, message: &str) -> Value {
    json!({"status": "Failed", "error": {
        "code": outer,
        "message": "The resource operation completed with terminal provisioning state 'Failed'.",
        "details": [{"code": code, "message": message}],
    }})
}
