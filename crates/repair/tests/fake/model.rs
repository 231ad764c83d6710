//! The parts of the model.

use std::collections::BTreeMap;

use jiff::Timestamp;
use mooring_repair::observation as seen;
use serde_json::{Value, json};

pub struct Pool {
    pub raw: Value,
    pub set: String,
    pub wedged: bool,
    pub version: u64,
    /// What is under way: until when, and whether it is a deletion.
    pub operation: Option<(Timestamp, bool)>,
    /// The running creation will fail.
    pub doomed: bool,
}

impl Pool {
    pub fn state(&self) -> &str {
        self.raw["properties"]["provisioningState"].as_str().unwrap()
    }

    pub fn set_state(&mut self, state: &str) {
        self.version += 1;
        self.raw["properties"]["provisioningState"] = state.into();
        self.raw["properties"]["eTag"] = format!("e{}", self.version).into();
    }

    pub fn count(&self) -> usize {
        usize::try_from(self.raw["properties"]["count"].as_i64().unwrap_or(0)).unwrap()
    }
}

#[derive(Clone)]
pub struct Node {
    pub name: String,
    pub pool: String,
    pub instance: String,
    pub ready: bool,
    pub cordoned: bool,
}

impl Node {
    pub fn usable(&self) -> bool {
        self.ready && !self.cordoned
    }

    pub fn seen(&self) -> seen::Node {
        seen::Node {
            name: self.name.clone(),
            uid: format!("uid-{}", self.name),
            pool: Some(self.pool.clone()),
            provider_id: Some(format!("azure://{}", self.instance)),
            ready: self.ready,
            unschedulable: self.cordoned,
            deleting: false,
        }
    }
}

#[derive(Clone)]
pub struct Pod {
    pub name: String,
    pub app: String,
    pub kind: &'static str,
    pub node: Option<String>,
    pub serves_at: Option<Timestamp>,
    pub ends_at: Option<Timestamp>,
}

impl Pod {
    pub fn serving(&self, now: Timestamp) -> bool {
        self.ends_at.is_none() && self.serves_at.is_some_and(|at| at <= now)
    }

    pub fn seen(&self, now: Timestamp) -> seen::Pod {
        let raw = json!({
            "metadata": {
                "namespace": "kube-system", "name": self.name, "uid": format!("uid-{}", self.name),
                "labels": {"app": self.app},
                "deletionTimestamp": self.ends_at.map(|at| at.to_string()),
                "ownerReferences": if self.kind == "None" { json!([]) } else {
                    json!([{"kind": self.kind, "name": self.app, "uid": self.app, "controller": true}])
                },
            },
            "spec": {"nodeName": self.node, "volumes": [{"emptyDir": {}}]},
            "status": {
                "phase": if self.serves_at.is_some_and(|at| at <= now) { "Running" } else { "Pending" },
                "conditions": [{"type": "Ready", "status": if self.serves_at.is_some_and(|at| at <= now) { "True" } else { "False" }}],
            }
        });
        seen::Pod::read(&raw).unwrap()
    }
}

/// A replicated workload with a budget that keeps `min_available` of it.
pub struct Workload {
    pub app: &'static str,
    pub replicas: usize,
    pub min_available: usize,
}

impl Workload {
    pub fn budget(&self, pods: &[Pod], now: Timestamp) -> seen::Pdb {
        let healthy = pods.iter().filter(|pod| pod.app == self.app && pod.serving(now)).count();
        let number = |n: usize| i64::try_from(n).unwrap();
        seen::Pdb {
            namespace: "kube-system".into(),
            name: format!("{}-budget", self.app),
            selector: seen::Selector::read(&json!({"matchLabels": {"app": self.app}})),
            allowed: number(healthy.saturating_sub(self.min_available)),
            expected: number(self.replicas),
            desired: number(self.min_available),
            healthy: number(healthy),
        }
    }
}

pub type Pools = BTreeMap<String, Pool>;
