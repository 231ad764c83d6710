//! The NodePool condition about the registration of its last nodes.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Value, json};

use super::client::Client;
use super::event;
use crate::kubernetes::Key;
use crate::kubernetes::store::objects::{list, text, time};

const NODE_POOLS: &str = "nodepools.karpenter.sh";
const HEALTHY: &str = "NodeRegistrationHealthy";
/// Number of outcomes kept, and failures among them that make a NodePool unhealthy.
const REMEMBERED: usize = 4;
const TOO_MANY: usize = 2;

/// Last outcomes by NodePool: true if a node registered in time.
#[derive(Debug, Default)]
pub(super) struct Pools(BTreeMap<String, VecDeque<bool>>);

impl Pools {
    /// Records an outcome for the NodePool of a NodeClaim. A change of the condition is an event.
    pub(super) fn remember(&mut self, claim: &Value, registered: bool, client: &mut Client<'_>) {
        let name = text(claim, &["metadata", "labels", "karpenter.sh/nodepool"]);
        let pool = client.kubernetes.get(NODE_POOLS, &Key::new(None, name));
        let Some(pool) = pool.cloned() else { return };
        let conditions = list(&pool, &["status", "conditions"]);
        let before = conditions.iter().find(|one| text(one, &["type"]) == HEALTHY);
        let was = before.map_or("Unknown", |one| text(one, &["status"]));
        // After a restart only the condition remains of the outcomes.
        let outcomes = self.0.entry(name.to_owned()).or_insert_with(|| match was {
            "True" => [true].into(),
            "False" => [false, false].into(),
            _ => VecDeque::new(),
        });
        outcomes.push_back(registered);
        if outcomes.len() > REMEMBERED {
            outcomes.pop_front();
        }
        let is_healthy = outcomes.iter().filter(|registered| !**registered).count() < TOO_MANY;
        // A failure alone does not make a NodePool healthy, nor a success an unhealthy one worse.
        let status = if is_healthy { "True" } else { "False" };
        if is_healthy != registered || was == status {
            return;
        }
        let (reason, message) =
            if is_healthy { (HEALTHY.to_owned(), String::new()) } else { why_failed(claim) };
        let condition = json!({
            "type": HEALTHY, "status": status, "reason": reason, "message": message,
            "lastTransitionTime": time(client.now), "observedGeneration": 1,
        });
        let others = conditions.iter().filter(|one| text(one, &["type"]) != HEALTHY).cloned();
        let all: Vec<Value> = others.chain([condition.clone()]).collect();
        let change = json!({
            "metadata": {"resourceVersion": pool["metadata"]["resourceVersion"]},
            "status": {"conditions": all},
        });
        let path = format!("/apis/karpenter.sh/v1/nodepools/{name}/status");
        client.patch(&path, &change);
        let body = event::transition("NodePool", &pool, &condition, was, client.now);
        client.create(event::EVENTS, &body);
    }
}

/// Returns reason and message of a failed NodeClaim: those of its launch if it did not launch.
fn why_failed(claim: &Value) -> (String, String) {
    let conditions = list(claim, &["status", "conditions"]);
    let launched = conditions.iter().find(|one| text(one, &["type"]) == "Launched");
    match launched.filter(|one| text(one, &["status"]) != "True") {
        Some(one) => (text(one, &["reason"]).to_owned(), text(one, &["message"]).to_owned()),
        None => ("RegistrationFailed".to_owned(), "Failed to register node".to_owned()),
    }
}
