//! Initial states.

use jiff::SignedDuration;
use mooring_repair::observation::AksOperation;
use mooring_repair::settings::Settings;
use serde_json::json;

use super::cloud::{Cloud, node, pod};
use super::model::Workload;
use crate::common::target;

pub(crate) type Scenario = (&'static str, fn() -> Cloud);

/// States in which the repair finishes.
pub(crate) const CURABLE: [Scenario; 5] = [
    ("wedged", Cloud::wedged),
    ("old operation", old_operation),
    ("dead node", dead_node),
    ("budget that clears", budget_that_clears),
    ("no node left", no_node_left),
];

/// States in which it stops for an operator.
pub(crate) const STUCK: [Scenario; 3] = [
    ("budget that never clears", budget_that_never_clears),
    ("temporary nodes that never come", || barren("systmp")),
    ("new nodes that never come", || barren("system")),
];

pub(crate) fn settings() -> Settings {
    Settings::new(target("system"))
}

/// The same with an override.
pub(crate) fn overriding(name: &str) -> Settings {
    let mut settings = settings();
    settings.add_override(&format!("{name}=ticket 7")).unwrap();
    settings
}

/// An operation has been stuck for half an hour and must be aborted.
pub(crate) fn old_operation() -> Cloud {
    let mut cloud = Cloud::wedged();
    cloud.cluster_state = "Updating".into();
    let started = (cloud.now - SignedDuration::from_mins(30)).to_string();
    cloud.operation =
        AksOperation::read(&json!({"name": "o", "status": "InProgress", "startTime": started}));
    cloud
}

/// A node never confirms the deletion of a pod.
pub(crate) fn dead_node() -> Cloud {
    let mut cloud = Cloud::wedged();
    let mut dead = node("system", "aks-system-0", 1);
    dead.ready = false;
    cloud.nodes.push(dead);
    let mut stuck = pod("stuck", "stuck", "StatefulSet", "aks-system-0-1");
    stuck.ends_at = Some(jiff::Timestamp::MAX);
    cloud.pods.push(stuck);
    cloud
}

/// No node of the pool is Ready, and their pods are still listed.
pub(crate) fn no_node_left() -> Cloud {
    let mut cloud = Cloud::wedged();
    cloud.set_ready("system", false, jiff::Timestamp::UNIX_EPOCH);
    cloud
}

/// The nodes of a new pool never join.
pub(crate) fn barren(pool: &'static str) -> Cloud {
    let mut cloud = Cloud::wedged();
    cloud.barren = Some(pool);
    cloud
}

/// A PDB allows no eviction until a third pod is Ready.
pub(crate) fn budget_that_clears() -> Cloud {
    let mut cloud = Cloud::wedged();
    cloud.workloads.push(Workload { app: "slow", replicas: 3, min_available: 2 });
    for name in ["slow-a", "slow-b", "slow-c"] {
        cloud.pods.push(pod(name, "slow", "ReplicaSet", "aks-system-0-0"));
    }
    let late = cloud.now + SignedDuration::from_secs(40);
    cloud.pods.last_mut().unwrap().serves_at = Some(late);
    cloud
}

/// A PDB never allows a disruption.
pub(crate) fn budget_that_never_clears() -> Cloud {
    let mut cloud = Cloud::wedged();
    cloud.workloads.push(Workload { app: "rigid", replicas: 1, min_available: 1 });
    cloud.pods.push(pod("rigid-a", "rigid", "ReplicaSet", "aks-system-0-0"));
    cloud
}
