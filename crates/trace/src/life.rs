//! A node's life in the cluster and in Azure: from its NodeClaim to a Ready Node.
//!
//! A bundle of a node's name has the objects in separate files. Their times give the stages that the node's files
//! do not show, and all that is left if the VM was deleted.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use crate::assemble::Found;
use crate::escape::tidy;
use crate::model::timeline::{Kind, Outcome, Source};
use crate::read::{MAX_MESSAGE, MAX_NAME};

pub const LAUNCH: &str = "created → launched";
pub const MACHINE: &str = "machine";
pub const BOOT: &str = "kernel, cloud-init";
pub const BOOTSTRAP: &str = "bootstrap";
/// Machine and bootstrap, if the start of the bootstrap is unknown.
pub const MACHINE_AND_BOOTSTRAP: &str = "machine, bootstrap";
pub const REGISTER: &str = "register";
pub const READY: &str = "ready";

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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LifeState {
    /// Not known to have failed, and not registered.
    #[default]
    Joining,
    Failed,
    /// Registered, and not Ready yet.
    NotReady,
    Joined,
}

impl LifeState {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Joining => "joining",
            Self::Failed => "failed",
            Self::NotReady => "not-ready",
            Self::Joined => "joined",
        }
    }
}

/// Facts of the cluster, Azure and the failure record. Unknown times are none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Life {
    pub node_claim: Option<String>,
    pub pool: Option<String>,
    pub state: LifeState,
    /// Cause in the failure record, or reason of a failed launch.
    pub cause: Option<String>,
    /// Exit code in the failure record.
    pub code: Option<i64>,
    created: Option<Timestamp>,
    launched: Option<Timestamp>,
    launch_failed: Option<Timestamp>,
    vm_created: Option<Timestamp>,
    /// End of the extension that runs the bootstrap.
    ended: Option<Timestamp>,
    has_failed_extension: bool,
    node_created: Option<Timestamp>,
    registered: Option<Timestamp>,
    ready: Option<Timestamp>,
    /// Time of the failure in the record.
    failed: Option<Timestamp>,
    usual: BTreeMap<String, f64>,
}

impl Life {
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
            LifeFile::Record => self.add_record(&value()?),
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
        let code = status["code"].as_str().unwrap_or_default().to_ascii_lowercase();
        if !code.contains("transitioning") {
            self.ended = time(&status["time"]);
            self.has_failed_extension = code.contains("failed");
        }
    }

    /// Adds the last entry of the failure record.
    fn add_record(&mut self, record: &Value) {
        let entries = record.as_array().map(Vec::as_slice).unwrap_or_default();
        let Some(entry) = entries.iter().max_by_key(|entry| time(&entry["at"])) else { return };
        self.failed = time(&entry["at"]);
        self.launched = self.launched.or(time(&entry["launched"]));
        self.code = entry["code"].as_i64();
        self.node_claim = self.node_claim.take().or(name(&entry["nodeClaim"]));
        self.pool = self.pool.take().or(name(&entry["pool"]));
        self.cause = name(&entry["cause"]).or(self.cause.take());
    }

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

    /// Returns the result of the bootstrap, as far as the cluster and Azure show it.
    pub(crate) fn outcome(&self) -> Outcome {
        if self.node_created.is_some() || self.registered.is_some() {
            Outcome::Succeeded
        } else if self.has_failed_extension || self.failed.is_some() {
            Outcome::Failed
        } else {
            Outcome::Unknown
        }
    }

    /// Returns the median duration of a stage on other nodes of the pool.
    pub fn usual(&self, stage: &str) -> Option<f64> {
        self.usual.get(stage).copied()
    }

    /// Returns the stages. `found` has the spans of the report, if Azure has one.
    pub(crate) fn stages(&self, found: &[Found]) -> Vec<Found> {
        let mut stages = Vec::new();
        let has_failed = self.state == LifeState::Failed;
        let run = found.iter().find(|one| one.kind == Kind::Run);
        let kernel = found.iter().find(|one| one.kind == Kind::Boot && one.name == "kernel");
        if let Some(created) = self.created {
            let failed = self.launched.is_none() && self.launch_failed.is_some();
            let end = self.launched.or(self.launch_failed);
            stages.push(stage(LAUNCH, created, end, failed, Source::Cluster));
        }
        let machine = self.launched.or(self.vm_created);
        let joined = self.node_created.or(self.registered);
        let source = if self.ended.is_some() { Source::Azure } else { Source::Record };
        let ended = run.and_then(|run| run.end).or(self.ended);
        let is_registered = joined.is_some() || (has_failed && self.bootstrap_succeeded(run));
        let bootstrap_failed = has_failed && !is_registered;
        let end = ended.or(if bootstrap_failed { self.failed } else { joined });
        match (machine, run) {
            (_, Some(run)) => {
                if let Some(machine) = machine.filter(|machine| *machine < run.start) {
                    stages.push(stage(MACHINE, machine, Some(run.start), false, Source::Azure));
                    if let Some(kernel) = kernel.filter(|kernel| kernel.start >= machine) {
                        let end = Some(run.start.max(kernel.start));
                        stages.push(stage(BOOT, kernel.start, end, false, Source::Report));
                    }
                }
                stages.push(stage(BOOTSTRAP, run.start, end, bootstrap_failed, Source::Report));
            }
            (Some(machine), None) => {
                stages.push(stage(MACHINE_AND_BOOTSTRAP, machine, end, bootstrap_failed, source));
            }
            (None, None) => {}
        }
        if let (Some(from), true) = (ended, is_registered || (joined.is_none() && !has_failed)) {
            let end = joined.or(self.failed.filter(|_| has_failed));
            let failed = has_failed && joined.is_none();
            stages.push(stage(REGISTER, from, end, failed, Source::Cluster));
        }
        if let Some(joined) = joined {
            stages.push(stage(READY, joined, self.ready, false, Source::Cluster));
        }
        stages
    }

    /// Returns true if the node failed after a bootstrap that succeeded.
    fn bootstrap_succeeded(&self, run: Option<&Found>) -> bool {
        let by_report = run.is_some_and(|run| run.end.is_some() && !run.failed);
        by_report || (self.ended.is_some() && !self.has_failed_extension)
    }
}

fn stage(
    name: &str,
    start: Timestamp,
    end: Option<Timestamp>,
    failed: bool,
    source: Source,
) -> Found {
    Found {
        name: name.to_owned(),
        kind: Kind::Stage,
        start,
        // Clocks of the node, the cluster and Azure differ.
        end: end.map(|end| end.max(start)),
        failed,
        sources: vec![source],
        message: String::new(),
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
    Some(tidy(text, MAX_NAME.min(MAX_MESSAGE)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(conditions: &str) -> String {
        format!(
            "kind: NodeClaim\nmetadata:\n  name: default-1\n  creationTimestamp: \"2026-11-17T09:00:00Z\"\n  labels:\n    karpenter.sh/nodepool: default\nstatus:\n  conditions:\n{conditions}"
        )
    }

    fn since(kind: &str, status: &str, second: u32) -> String {
        format!(
            "  - type: {kind}\n    status: \"{status}\"\n    reason: Why\n    lastTransitionTime: \"2026-11-17T09:00:{second:02}Z\"\n"
        )
    }

    fn names(life: &Life) -> Vec<(String, Option<f64>)> {
        let seconds = |one: &Found| one.end.map(|end| end.duration_since(one.start).as_secs_f64());
        life.stages(&[]).iter().map(|one| (one.name.clone(), seconds(one))).collect()
    }

    #[test]
    fn conditions_of_a_node_claim_give_the_stages() {
        let mut life = Life::default();
        let text = claim(
            &(since("Launched", "True", 3)
                + &since("Registered", "True", 40)
                + &since("Initialized", "True", 50)),
        );
        life.add(LifeFile::NodeClaim, text.as_bytes()).unwrap();
        let life = life.judged(None);
        assert_eq!((life.state, life.outcome()), (LifeState::Joined, Outcome::Succeeded));
        let expected = [(LAUNCH, 3.0), (MACHINE_AND_BOOTSTRAP, 37.0), (READY, 10.0)];
        let expected = expected.map(|(name, seconds)| (name.to_owned(), Some(seconds)));
        assert_eq!(names(&life), expected);
    }

    #[test]
    fn failed_launch_has_no_machine() {
        let mut life = Life::default();
        life.add(LifeFile::NodeClaim, claim(&since("Launched", "False", 7)).as_bytes()).unwrap();
        let life = life.judged(None);
        assert_eq!((life.state, life.cause.as_deref()), (LifeState::Failed, Some("Why")));
        assert_eq!(names(&life), [(LAUNCH.to_owned(), Some(7.0))]);
    }

    #[test]
    fn deleted_node_has_the_times_of_the_record() {
        let mut life = Life::default();
        let record = r#"[{"at":"2026-11-17T09:01:14Z","launched":"2026-11-17T09:00:03Z","nodeClaim":"default-1","cause":"OrasBinaryMissing","code":211}]"#;
        life.add(LifeFile::Record, record.as_bytes()).unwrap();
        let life = life.judged(Some(211));
        assert_eq!(life.state, LifeState::Failed);
        assert_eq!(names(&life), [(MACHINE_AND_BOOTSTRAP.to_owned(), Some(71.0))]);
    }

    #[test]
    fn invalid_files_are_errors() {
        let mut life = Life::default();
        assert_eq!(life.add(LifeFile::Node, b"kind: Pod").unwrap_err(), "not a Node");
        assert!(life.add(LifeFile::Vm, b"x").is_err());
        assert!(life.add(LifeFile::Usual, b"{}").is_err());
        assert!(life.add(LifeFile::NodeClaim, b"\x00:\n- [").is_err());
    }
}
