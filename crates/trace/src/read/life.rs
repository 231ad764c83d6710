//! Objects of the cluster and of Azure, and the failure record.

use jiff::Timestamp;
use serde_json::Value;

use super::{MAX_MESSAGE, MAX_NAME};
use crate::escape::tidy;
use crate::model::life::NodeLife;

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
        assert_eq!(extension("ProvisioningState/transitioning"), (None, false));
    }
}
