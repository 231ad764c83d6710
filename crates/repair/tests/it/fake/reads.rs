//! Reads of the model.

use jiff::{SignedDuration, Timestamp};
use mooring_repair::observation as seen;
use mooring_repair::observation::{
    ActivityEvent, Addresses, ClusterView, Instance, ManagedCluster, Nic, Replicas, ScaleSet,
};
use mooring_workflow::Reading;
use serde_json::json;

use super::cloud::{CLUSTER, Cloud, SETS};
use super::model::{Node, Pool, Workload};

/// Seconds between two failed writes, and how late the log is.
const CADENCE: i64 = 180;
const LAG: SignedDuration = SignedDuration::from_mins(5);

impl Cloud {
    /// The cluster and its pools.
    pub(crate) fn read_all(&self) -> ClusterView {
        ClusterView {
            cluster: self.read_cluster().into(),
            pools: self.read_pools().into(),
            scale_sets: self.read_scale_sets().into(),
            ..ClusterView::default()
        }
    }

    /// The same with nodes, pods and PDBs.
    pub(crate) fn read_kubernetes(&self) -> ClusterView {
        ClusterView {
            nodes: self.read_nodes().into(),
            pods: self.read_pods().into(),
            pdbs: self.read_pdbs().into(),
            ..self.read_all()
        }
    }

    pub(crate) fn read_replicas(&self, name: &str) -> Reading<Replicas> {
        let is_named = |app: &str| name == format!("kube-system/ReplicaSet/{app}");
        let found = self.workloads.iter().find(|workload| is_named(workload.app));
        found.map_or(Reading::NotFound, |workload| {
            Reading::Known(Replicas { uid: workload.app.to_owned(), wanted: workload.replicas })
        })
    }

    pub(crate) fn read_cluster(&self) -> Reading<ManagedCluster> {
        Reading::Known(ManagedCluster {
            id: CLUSTER.into(),
            state: self.cluster_state.clone(),
            node_resource_group: Some("MC".into()),
            version: Some("1.35.4".into()),
            location: None,
            tags: self.cluster_tags.clone(),
            max_pools: Some(100),
            pods_in_subnet: false,
            disk_encryption_set: None,
            kubelet_identity: None,
        })
    }

    pub(crate) fn read_pools(&self) -> Reading<Vec<seen::Pool>> {
        let pools = self.pools.iter();
        let seen = |(name, pool): (&String, &Pool)| seen::Pool {
            name: name.clone(),
            raw: pool.raw.clone(),
        };
        Reading::Known(pools.map(seen).collect())
    }

    pub(crate) fn read_scale_sets(&self) -> Reading<Vec<ScaleSet>> {
        let seen = |(name, pool): (&String, &Pool)| ScaleSet {
            id: format!("{SETS}/{}", pool.set),
            name: pool.set.clone(),
            pool: Some(name.clone()),
            state: if pool.wedged { "Failed" } else { "Succeeded" }.into(),
            created: None,
            accelerated: Some(true),
        };
        Reading::Known(self.pools.iter().map(seen).collect())
    }

    fn pool_on(&self, set: &str) -> Option<&Pool> {
        self.pools.values().find(|pool| pool.set == set)
    }

    pub(crate) fn read_instances(&self, set: &str) -> Reading<Vec<Instance>> {
        let instance = |index| Instance {
            id: format!("{SETS}/{set}/virtualMachines/{index}"),
            created: Some(self.now.checked_sub(SignedDuration::from_hours(1)).unwrap()),
            failures: vec![],
        };
        Reading::Known((0..self.pool_on(set).map_or(0, Pool::count)).map(instance).collect())
    }

    pub(crate) fn read_nics(&self, set: &str) -> Reading<Vec<Nic>> {
        let is_wedged = self.pool_on(set).is_some_and(|pool| pool.wedged);
        let nic = |index| Nic {
            instance: Some(format!("{SETS}/{set}/virtualMachines/{index}")),
            addresses: if is_wedged { Addresses::Empty } else { Addresses::Some },
        };
        Reading::Known((0..self.pool_on(set).map_or(0, Pool::count)).map(nic).collect())
    }

    pub(crate) fn read_events(&self) -> Reading<Vec<ActivityEvent>> {
        if self.mute {
            return Reading::Failed("HTTP 503".into());
        }
        Reading::Known(self.pools.values().flat_map(|pool| self.writes(pool)).collect())
    }

    pub(crate) fn read_operation(&self, token: &str) -> Reading<Vec<String>> {
        self.failed.get(token).cloned().map_or(Reading::NotFound, Reading::Known)
    }

    pub(crate) fn read_nodes(&self) -> Reading<Vec<seen::Node>> {
        Reading::Known(self.nodes.iter().map(Node::seen).collect())
    }

    pub(crate) fn read_pods(&self) -> Reading<Vec<seen::Pod>> {
        Reading::Known(self.pods.iter().map(|pod| pod.seen(self.now)).collect())
    }

    pub(crate) fn read_pdbs(&self) -> Reading<Vec<seen::Pdb>> {
        let budget = |workload: &Workload| workload.budget(&self.pods, self.now);
        Reading::Known(self.workloads.iter().map(budget).collect())
    }

    /// A wedge fails every three minutes until its operation is aborted, and the log is late; a write of any other set
    /// succeeds at once.
    fn writes(&self, pool: &Pool) -> Vec<ActivityEvent> {
        let event = |operation: String, status: &str, second: i64| {
            ActivityEvent::read(&json!({
                "eventDataId": format!("{operation} {status}"), "operationId": operation, "correlationId": "shared",
                "operationName": {"value": "Microsoft.Compute/virtualMachineScaleSets/write"},
                "resourceId": format!("{SETS}/{}", pool.set), "status": {"value": status},
                "eventTimestamp": Timestamp::from_second(second).unwrap().to_string(),
                "properties": {"statusMessage": {"error": {"code": "ResourceOperationFailure", "details": [
                    {"code": "NetworkingInternalOperationError", "message": "Unknown network allocation error."}]}}},
            }))
            .unwrap()
        };
        if !pool.wedged {
            return vec![event("good".into(), "Succeeded", self.now.as_second())];
        }
        let shown = self.now - LAG;
        let last = self.failing_until.unwrap_or(shown).min(shown).as_second() / CADENCE;
        (last - 11..=last).map(|turn| event(turn.to_string(), "Failed", turn * CADENCE)).collect()
    }
}
