//! The conditions that Karpenter owns: three stages of a NodeClaim, and their summary.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::kubernetes::store::objects::{list, text, time};

/// Conditions of a NodeClaim, in their order.
const STAGES: [&str; 3] = ["Launched", "Registered", "Initialized"];
const ROOT: &str = "Ready";
pub(crate) const ENDING: &str = "InstanceTerminating";

#[derive(Debug, Clone)]
pub(crate) struct Conditions(Vec<Value>);

impl Conditions {
    pub(crate) fn new(now: Timestamp) -> Self {
        let mut conditions = Self(Vec::new());
        for stage in STAGES {
            conditions.set(
                stage,
                "Unknown",
                "AwaitingReconciliation",
                "object is awaiting reconciliation",
                now,
            );
        }
        conditions.settle(now);
        conditions
    }

    /// Returns those of a NodeClaim; missing ones are as in a new NodeClaim.
    pub(crate) fn read(claim: &Value, now: Timestamp) -> Self {
        let mut conditions = Self::new(now);
        for condition in list(claim, &["status", "conditions"]) {
            let kind = text(condition, &["type"]);
            if is_own(kind) {
                conditions.0.retain(|own| text(own, &["type"]) != kind);
                conditions.0.push(condition.clone());
            }
        }
        conditions
    }

    pub(crate) fn launched(&mut self, now: Timestamp) {
        self.set("Launched", "True", "Launched", "", now);
        self.set("Registered", "Unknown", "NodeNotFound", "Node not registered with cluster", now);
        self.settle(now);
    }

    /// Records a launch failure that may pass.
    pub(crate) fn launch_failed(&mut self, reason: &str, message: &str, now: Timestamp) {
        self.set("Launched", "Unknown", reason, message, now);
        self.settle(now);
    }

    pub(crate) fn registered(&mut self, now: Timestamp) {
        self.set("Registered", "True", "Registered", "", now);
        self.settle(now);
    }

    /// Records that several Nodes have the VM's provider id.
    pub(crate) fn multiple_nodes(&mut self, now: Timestamp) {
        let message = "Invariant violated, matched multiple nodes";
        self.set("Registered", "False", "MultipleNodesFound", message, now);
        self.settle(now);
    }

    pub(crate) fn initialized(&mut self, now: Timestamp) {
        self.set("Initialized", "True", "Initialized", "", now);
        self.settle(now);
    }

    pub(crate) fn terminating(&mut self, now: Timestamp) {
        self.set(ENDING, "True", "InstanceTerminating", "", now);
    }

    pub(crate) fn is(&self, kind: &str) -> bool {
        self.status(kind) == "True"
    }

    /// Returns the list to write for this copy of a NodeClaim: other owners' conditions stay as in
    /// the copy, ordered by time, with the summary at the end.
    pub(crate) fn merged_with(&self, copy: &Value) -> Value {
        let others = list(copy, &["status", "conditions"])
            .iter()
            .filter(|condition| !is_own(text(condition, &["type"])));
        let mut all: Vec<Value> = self.0.iter().chain(others).cloned().collect();
        all.sort_by_key(|condition| {
            let kind = text(condition, &["type"]);
            (kind == ROOT, text(condition, &["lastTransitionTime"]).to_owned())
        });
        Value::Array(all)
    }

    /// Returns the list of a NodeClaim without other conditions.
    pub(crate) fn list(&self) -> Value {
        self.merged_with(&Value::Null)
    }

    /// Returns the time of a condition's last transition.
    pub(crate) fn since(&self, kind: &str) -> Option<Timestamp> {
        let one = self.0.iter().find(|one| text(one, &["type"]) == kind)?;
        text(one, &["lastTransitionTime"]).parse().ok()
    }

    fn status(&self, kind: &str) -> &str {
        self.0
            .iter()
            .find(|one| text(one, &["type"]) == kind)
            .map_or("Unknown", |one| text(one, &["status"]))
    }

    /// Sets the summary from the stages.
    fn settle(&mut self, now: Timestamp) {
        let lacking: Vec<String> = STAGES
            .iter()
            .filter(|stage| !self.is(stage))
            .map(|stage| format!("{stage}={}", self.status(stage)))
            .collect();
        if lacking.is_empty() {
            self.set(ROOT, "True", ROOT, "", now);
        } else {
            self.set(ROOT, "Unknown", "ReconcilingDependents", &lacking.join(", "), now);
        }
    }

    fn set(&mut self, kind: &str, status: &str, reason: &str, message: &str, now: Timestamp) {
        let mut condition = json!({
            "type": kind, "status": status, "reason": reason, "message": message,
            "lastTransitionTime": time(now), "observedGeneration": 1,
        });
        match self.0.iter_mut().find(|one| text(one, &["type"]) == kind) {
            Some(old) => {
                if text(old, &["status"]) == status {
                    condition["lastTransitionTime"] = old["lastTransitionTime"].take();
                }
                *old = condition;
            }
            None => self.0.push(condition),
        }
    }
}

pub(crate) fn is_own(kind: &str) -> bool {
    STAGES.contains(&kind) || kind == ROOT || kind == ENDING
}
