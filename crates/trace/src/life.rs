//! A node's life in the cluster and in Azure: from its NodeClaim to a Ready Node.
//!
//! A bundle of a node's name has the objects in separate files. Their times give the stages that the node's files
//! do not show, and all that is left if the VM was deleted.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use crate::escape::{MAX_NAME, tidy};

pub const LAUNCH: &str = "created → launched";
pub const MACHINE: &str = "machine";
pub const BOOT: &str = "kernel, cloud-init";
pub const BOOTSTRAP: &str = "bootstrap";
/// Machine and bootstrap, if the start of the bootstrap is unknown.
pub const MACHINE_AND_BOOTSTRAP: &str = "machine, bootstrap";
pub const REGISTER: &str = "register";
pub const READY: &str = "ready";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LifeState {
    /// Not known to have failed, and not registered.
    #[default]
    Joining,
    Failed,
    /// Registered, and not Ready yet.
    NotReady,
    Joined,
}

/// Facts of the cluster, Azure and the failure record. Unknown times are none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NodeLife {
    pub node_claim: Option<String>,
    pub pool: Option<String>,
    pub state: LifeState,
    /// Cause in the failure record, or reason of a failed launch.
    pub cause: Option<String>,
    /// Exit code in the failure record.
    pub code: Option<i64>,
    pub(crate) created: Option<Timestamp>,
    pub(crate) launched: Option<Timestamp>,
    pub(crate) launch_failed: Option<Timestamp>,
    pub(crate) vm_created: Option<Timestamp>,
    /// End of the extension that runs the bootstrap.
    pub(crate) ended: Option<Timestamp>,
    pub(crate) has_failed_extension: bool,
    pub(crate) node_created: Option<Timestamp>,
    pub(crate) registered: Option<Timestamp>,
    pub(crate) ready: Option<Timestamp>,
    /// Time of the failure in the record.
    pub(crate) failed: Option<Timestamp>,
    pub(crate) usual: BTreeMap<String, f64>,
}

impl NodeLife {
    /// Sets the state, with the exit code of the bootstrap.
    pub(crate) fn judged(mut self, code: Option<i64>) -> Self {
        self.state = if self.ready.is_some() {
            LifeState::Joined
        } else if self.node_created.is_some() || self.registered.is_some() {
            LifeState::NotReady
        } else if code.is_some_and(|code| code != 0)
            || self.has_failed_extension
            || self.failed.is_some()
            || self.launch_failed.is_some()
        {
            LifeState::Failed
        } else {
            LifeState::Joining
        };
        self
    }

    /// Returns the median duration of a stage on other nodes of the pool.
    pub fn usual(&self, stage: &str) -> Option<f64> {
        self.usual.get(stage).copied()
    }
}

/// A file of a bundle that is not from the node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LifeFile {
    NodeClaim,
    Node,
    Vm,
    Record,
    Usual,
}

impl LifeFile {
    pub(crate) fn of(name: &str) -> Option<Self> {
        match name {
            "nodeclaim.yaml" => Some(Self::NodeClaim),
            "node.yaml" => Some(Self::Node),
            "vm.json" => Some(Self::Vm),
            "record.json" => Some(Self::Record),
            "usual.json" => Some(Self::Usual),
            _ => None,
        }
    }
}

impl NodeLife {
    /// Adds the facts of a file.
    pub(crate) fn add(&mut self, kind: LifeFile, bytes: &[u8]) -> Result<(), String> {
        let text = String::from_utf8_lossy(bytes);
        let value = || -> Result<Value, String> {
            serde_json::from_str(&text).map_err(|error| format!("not valid JSON: {error}"))
        };
        let object = |kind: &str| -> Result<Value, String> {
            let value: Value =
                serde_saphyr::from_str(&text).map_err(|_| "not valid YAML".to_owned())?;
            if value["kind"] == kind { Ok(value) } else { Err(format!("not a {kind}")) }
        };
        match kind {
            LifeFile::NodeClaim => self.add_claim(&object("NodeClaim")?),
            LifeFile::Node => self.add_node(&object("Node")?),
            LifeFile::Vm => self.add_vm(&value()?),
            LifeFile::Record => {
                let value = value()?;
                self.add_record(value.as_array().ok_or("it has no list of failures")?);
            }
            LifeFile::Usual => {
                let value = value()?;
                let seconds = value["seconds"].as_object().ok_or("it has no durations")?;
                let known =
                    seconds.iter().filter_map(|(stage, value)| Some((stage, value.as_f64()?)));
                self.usual = known.map(|(stage, seconds)| (stage.clone(), seconds)).collect();
            }
        }
        Ok(())
    }

    fn add_claim(&mut self, claim: &Value) {
        let condition = |kind: &str| condition(claim, kind);
        self.node_claim = name(&claim["metadata"]["name"]);
        self.pool = name(&claim["metadata"]["labels"]["karpenter.sh/nodepool"]);
        self.created = time(&claim["metadata"]["creationTimestamp"]);
        self.launched = condition("Launched").and_then(since_true);
        self.registered = condition("Registered").and_then(since_true);
        self.ready = self.ready.or(condition("Initialized").and_then(since_true));
        let failed = condition("Launched").filter(|one| one["status"] == "False");
        if let Some(failed) = failed {
            self.launch_failed = time(&failed["lastTransitionTime"]);
            self.cause = name(&failed["reason"]);
        }
    }

    fn add_node(&mut self, node: &Value) {
        let pool = name(&node["metadata"]["labels"]["kubernetes.azure.com/agentpool"]);
        self.pool = self.pool.take().or(pool);
        self.node_created = time(&node["metadata"]["creationTimestamp"]);
        // Karpenter's condition is the first time; the Node's own may be a later one.
        let ready = condition(node, "Ready").and_then(since_true);
        self.ready = self.ready.or(ready);
    }

    fn add_vm(&mut self, vm: &Value) {
        self.vm_created = time(&vm["properties"]["timeCreated"]);
        let extensions = vm["properties"]["instanceView"]["extensions"].as_array();
        let is_bootstrap =
            |one: &&Value| one["type"].as_str().is_some_and(|kind| kind.contains("CustomScript"));
        let Some(status) = extensions
            .and_then(|all| all.iter().find(is_bootstrap))
            .and_then(|one| one["statuses"].get(0))
        else {
            return;
        };
        let has = |state| {
            status["code"].as_str().is_some_and(|code| code.to_ascii_lowercase().contains(state))
        };
        self.has_failed_extension = has("failed");
        if self.has_failed_extension || has("succeeded") {
            self.ended = time(&status["time"]);
        }
    }

    /// Adds the last entry of the failure record.
    fn add_record(&mut self, entries: &[Value]) {
        let Some(entry) = entries.iter().max_by_key(|entry| time(&entry["at"])) else { return };
        self.failed = time(&entry["at"]);
        self.launched = self.launched.or(time(&entry["launched"]));
        self.code = entry["code"].as_i64();
        self.node_claim = self.node_claim.take().or(name(&entry["nodeClaim"]));
        self.pool = self.pool.take().or(name(&entry["pool"]));
        self.cause = name(&entry["cause"]).or(self.cause.take());
    }
}

fn condition<'a>(object: &'a Value, kind: &str) -> Option<&'a Value> {
    object["status"]["conditions"].as_array()?.iter().find(|one| one["type"] == kind)
}

/// Returns the time since which a condition is true.
fn since_true(condition: &Value) -> Option<Timestamp> {
    time(&condition["lastTransitionTime"]).filter(|_| condition["status"] == "True")
}

fn time(value: &Value) -> Option<Timestamp> {
    value.as_str()?.parse().ok()
}

fn name(value: &Value) -> Option<String> {
    let text = value.as_str().filter(|text| !text.is_empty())?;
    Some(tidy(text, MAX_NAME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_sign_of_a_failure_or_a_node_sets_the_state() {
        let at = Some(Timestamp::UNIX_EPOCH);
        let state = |life: NodeLife, code| life.judged(code).state;
        let of = |life: NodeLife| state(life, None);
        assert_eq!(of(NodeLife::default()), LifeState::Joining);
        assert_eq!(state(NodeLife::default(), Some(0)), LifeState::Joining);
        assert_eq!(state(NodeLife::default(), Some(50)), LifeState::Failed);
        let failed_extension = NodeLife { has_failed_extension: true, ..NodeLife::default() };
        assert_eq!(of(failed_extension), LifeState::Failed);
        assert_eq!(of(NodeLife { failed: at, ..NodeLife::default() }), LifeState::Failed);
        assert_eq!(of(NodeLife { launch_failed: at, ..NodeLife::default() }), LifeState::Failed);
        assert_eq!(of(NodeLife { node_created: at, ..NodeLife::default() }), LifeState::NotReady);
        assert_eq!(of(NodeLife { registered: at, ..NodeLife::default() }), LifeState::NotReady);
        assert_eq!(of(NodeLife { ready: at, ..NodeLife::default() }), LifeState::Joined);
    }

    #[test]
    fn extension_that_ended_gives_its_time_and_result() {
        let extension = |code: &str| {
            let vm = serde_json::json!({"properties": {
                "timeCreated": "2026-11-15T02:00:00Z",
                "instanceView": {"extensions": [
                    {"type": "Microsoft.Azure.Monitor", "statuses": [{"code": "ProvisioningState/failed"}]},
                    {"type": "Microsoft.Azure.Extensions.CustomScript",
                     "statuses": [{"code": code, "time": "2026-11-15T02:01:00Z"}]},
                ]},
            }});
            let mut life = NodeLife::default();
            life.add(LifeFile::Vm, vm.to_string().as_bytes()).unwrap();
            assert_eq!(life.vm_created, "2026-11-15T02:00:00Z".parse().ok());
            (life.ended.map(|at| at.to_string()), life.has_failed_extension)
        };
        let ended = Some("2026-11-15T02:01:00Z".to_owned());
        assert_eq!(extension("ProvisioningState/failed/50"), (ended.clone(), true));
        assert_eq!(extension("ProvisioningState/succeeded"), (ended, false));
        for unfinished in ["ProvisioningState/transitioning", ""] {
            assert_eq!(extension(unfinished), (None, false));
        }
    }

    #[test]
    fn invalid_files_are_errors() {
        let mut life = NodeLife::default();
        assert_eq!(life.add(LifeFile::Node, b"kind: Pod").unwrap_err(), "not a Node");
        assert!(life.add(LifeFile::Vm, b"x").is_err());
        assert!(life.add(LifeFile::Usual, b"{}").is_err());
        assert!(life.add(LifeFile::Record, b"{}").is_err());
        assert!(life.add(LifeFile::NodeClaim, b"\x00:\n- [").is_err());
    }
}
