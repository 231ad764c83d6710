//! Watches every NodeClaim as any client can, and keeps the state of deleted ones.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::StreamExt as _;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind};
use kube::runtime::WatchStreamExt as _;
use kube::runtime::watcher::{self, Event, watcher};
use serde_json::Value;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// Condition type of a failed bootstrap.
pub(crate) const CONDITION: &str = "CSEProvisioned";

#[derive(Debug, Clone)]
pub(crate) struct ObservedClaim {
    pub(crate) object: Value,
    /// The first version that shows the failure, and when it was observed.
    pub(crate) reported: Option<(Value, Instant)>,
    pub(crate) gone: Option<Instant>,
}

impl ObservedClaim {
    fn new(object: Value) -> Self {
        Self { object, reported: None, gone: None }
    }

    fn see(&mut self, object: Value, now: Instant) {
        if self.reported.is_none()
            && condition(&object, CONDITION).is_some_and(|one| one.status == "False")
        {
            self.reported = Some((object.clone(), now));
        }
        self.object = object;
    }

    pub(crate) fn has_joined(&self) -> bool {
        condition(&self.object, "Initialized").is_some_and(|one| one.status == "True")
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ObservedCondition<'a> {
    pub(crate) kind: &'a str,
    pub(crate) status: &'a str,
    pub(crate) reason: &'a str,
    pub(crate) message: &'a str,
}

pub(crate) fn conditions(object: &Value) -> impl Iterator<Item = ObservedCondition<'_>> {
    let all = object["status"]["conditions"].as_array().into_iter().flatten();
    all.map(|one| {
        let text = |name: &str| one[name].as_str().unwrap_or_default();
        ObservedCondition {
            kind: text("type"),
            status: text("status"),
            reason: text("reason"),
            message: text("message"),
        }
    })
}

pub(crate) fn condition<'a>(object: &'a Value, kind: &str) -> Option<ObservedCondition<'a>> {
    conditions(object).find(|one| one.kind == kind)
}

/// Watches until it is dropped.
pub(crate) struct Observer {
    claims: Arc<Mutex<BTreeMap<String, ObservedClaim>>>,
    _task: JoinSet<()>,
}

impl Observer {
    pub(crate) fn start(client: kube::Client) -> Self {
        let claims: Arc<Mutex<BTreeMap<String, ObservedClaim>>> = Arc::default();
        let mut task = JoinSet::new();
        task.spawn(watch(client, Arc::clone(&claims)));
        Self { claims, _task: task }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, ObservedClaim>> {
        self.claims.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a NodeClaim, deleted or not.
    pub(crate) fn claim(&self, name: &str) -> Option<ObservedClaim> {
        self.lock().get(name).cloned()
    }
}

async fn watch(client: kube::Client, claims: Arc<Mutex<BTreeMap<String, ObservedClaim>>>) {
    let kind = GroupVersionKind::gvk("karpenter.sh", "v1", "NodeClaim");
    let api: Api<DynamicObject> = Api::all_with(client, &ApiResource::from_gvk(&kind));
    let events = watcher(api, watcher::Config::default()).default_backoff();
    let mut events = std::pin::pin!(events);
    while let Some(event) = events.next().await {
        let (object, gone) = match event {
            Ok(Event::Apply(object) | Event::InitApply(object)) => (object, false),
            Ok(Event::Delete(object)) => (object, true),
            // The watch restarts by itself.
            Ok(Event::Init | Event::InitDone) | Err(_) => continue,
        };
        let name = object.metadata.name.clone().unwrap_or_default();
        let Ok(object) = serde_json::to_value(object) else { continue };
        let now = Instant::now();
        let mut claims = claims.lock().unwrap_or_else(PoisonError::into_inner);
        let claim = claims.entry(name).or_insert_with(|| ObservedClaim::new(Value::Null));
        claim.see(object, now);
        if gone {
            claim.gone = Some(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_form_with_a_failure_is_remembered() {
        let form = |status: &str, version: u32| {
            json!({"metadata": {"resourceVersion": version}, "status": {"conditions": [
                {"type": CONDITION, "status": status, "reason": "R", "message": "m"},
                {"type": "Initialized", "status": "Unknown"},
            ]}})
        };
        let mut claim = ObservedClaim::new(Value::Null);
        for (status, version) in [("Unknown", 1), ("False", 2), ("False", 3)] {
            claim.see(form(status, version), Instant::now());
        }
        let (reported, _) = claim.reported.clone().unwrap();
        assert_eq!(reported["metadata"]["resourceVersion"], 2);
        assert_eq!(claim.object["metadata"]["resourceVersion"], 3);
        assert!(!claim.has_joined());
    }
}
