//! The parts of the model.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use mooring_repair::observation as seen;
use serde_json::{Value, json};

#[derive(Clone)]
pub(crate) struct Pool {
    pub(crate) raw: Arc<Value>,
    pub(crate) set: String,
    pub(crate) wedged: bool,
    pub(crate) version: u64,
    /// Running operation: its end, and true for a deletion.
    pub(crate) operation: Option<(Timestamp, bool)>,
    /// Final state of the running operation.
    pub(crate) doomed: Option<&'static str>,
}

impl Pool {
    pub(crate) fn state(&self) -> &str {
        self.raw["properties"]["provisioningState"].as_str().unwrap()
    }

    pub(crate) fn etag(&self) -> Option<&str> {
        self.raw["properties"]["eTag"].as_str()
    }

    pub(crate) fn set_state(&mut self, state: &str) {
        self.version += 1;
        let tag = format!("e{}", self.version);
        let properties = &mut self.edit()["properties"];
        properties["provisioningState"] = state.into();
        properties["eTag"] = tag.into();
    }

    pub(crate) fn edit(&mut self) -> &mut Value {
        Arc::make_mut(&mut self.raw)
    }

    pub(crate) fn count(&self) -> usize {
        usize::try_from(self.raw["properties"]["count"].as_i64().unwrap_or(0)).unwrap()
    }
}

#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) pool: String,
    pub(crate) instance: String,
    pub(crate) ready: bool,
    pub(crate) since: Timestamp,
    pub(crate) cordoned: bool,
}

impl Node {
    pub(crate) fn usable(&self) -> bool {
        self.ready && !self.cordoned
    }

    pub(crate) fn seen(&self) -> seen::Node {
        seen::Node {
            name: self.name.clone(),
            uid: format!("uid-{}", self.name),
            pool: Some(self.pool.clone()),
            provider_id: Some(format!("azure://{}", self.instance)),
            ready: self.ready,
            since: Some(self.since),
            unschedulable: self.cordoned,
            deleting: false,
            tainted: false,
        }
    }
}

#[derive(Clone)]
pub(crate) struct Pod {
    pub(crate) name: String,
    pub(crate) app: String,
    pub(crate) kind: &'static str,
    pub(crate) node: Option<String>,
    pub(crate) serves_at: Option<Timestamp>,
    /// Its node is not Ready.
    pub(crate) lame: bool,
    pub(crate) ends_at: Option<Timestamp>,
}

impl Pod {
    pub(crate) fn serving(&self, now: Timestamp) -> bool {
        !self.lame && self.ends_at.is_none() && self.serves_at.is_some_and(|at| at <= now)
    }

    pub(crate) fn seen(&self, now: Timestamp) -> seen::Pod {
        let runs = self.serves_at.is_some_and(|at| at <= now);
        seen::Pod {
            namespace: "kube-system".into(),
            name: self.name.clone(),
            uid: format!("uid-{}", self.name),
            node: self.node.clone(),
            phase: if runs { "Running" } else { "Pending" }.into(),
            ready: runs && !self.lame,
            deleting: self.ends_at,
            controller: (self.kind != "None").then(|| seen::PodController {
                kind: self.kind.into(),
                name: self.app.clone(),
                uid: self.app.clone(),
            }),
            mirror: false,
            local_data: true,
            labels: [("app".to_owned(), self.app.clone())].into(),
            ignores_cordon: false,
            tolerates_critical: true,
            created: None,
        }
    }
}

/// A replicated workload with a PDB with `min_available`.
#[derive(Clone)]
pub(crate) struct Workload {
    pub(crate) app: &'static str,
    pub(crate) replicas: usize,
    pub(crate) min_available: usize,
}

impl Workload {
    pub(crate) fn budget(&self, pods: &[Pod], now: Timestamp) -> seen::Pdb {
        let healthy = pods.iter().filter(|pod| pod.app == self.app && pod.serving(now)).count();
        seen::Pdb::read(&json!({
            "metadata": {"namespace": "kube-system", "name": format!("{}-budget", self.app)},
            "spec": {"selector": {"matchLabels": {"app": self.app}}},
            "status": {
                "disruptionsAllowed": healthy.saturating_sub(self.min_available),
                "expectedPods": self.replicas, "desiredHealthy": self.min_available,
                "currentHealthy": healthy,
            },
        }))
        .unwrap()
    }
}

pub(crate) type Pools = BTreeMap<String, Pool>;
