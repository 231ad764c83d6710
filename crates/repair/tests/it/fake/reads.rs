//! Reads of the model.

use jiff::{SignedDuration, Timestamp};
use mooring_repair::observation as seen;
use mooring_repair::observation::{
    ActivityEvent, Addresses, Answer, ClusterView, Instance, ManagedCluster, Nic, Query, Replicas,
    ScaleSet,
};
use mooring_workflow::Reading;
use mooring_workflow::workflow::View as _;

use serde_json::json;

use super::cloud::{CLUSTER, Cloud, SETS};
use super::model::{Node, Pool};

/// Seconds between two failed writes, and how late the log is.
const CADENCE: i64 = 180;
const LAG: SignedDuration = SignedDuration::from_mins(5);

impl Cloud {
    /// The cluster and its pools.
    pub(crate) fn read_all(&self) -> ClusterView {
        let mut seen = ClusterView::default();
        for query in [Query::Cluster, Query::Pools, Query::ScaleSets] {
            seen.take(self.observe(&query));
        }
        seen
    }

    fn replicas(&self, name: &str) -> Reading<Replicas> {
        let is_named = |app: &str| name == format!("kube-system/ReplicaSet/{app}");
        let found = self.workloads.iter().find(|workload| is_named(workload.app));
        found.map_or(Reading::NotFound, |workload| {
            Reading::Known(Replicas { uid: workload.app.to_owned(), wanted: workload.replicas })
        })
    }

    pub(crate) fn observe(&self, query: &Query) -> Answer {
        let id = |set: &str| format!("{SETS}/{set}");
        let of = |set: &str| self.pools.values().find(|pool| pool.set == set);
        match query {
            Query::Cluster => Answer::Cluster(Reading::Known(ManagedCluster {
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
            })),
            Query::Pools => Answer::Pools(Reading::Known(
                self.pools
                    .iter()
                    .map(|(name, pool)| seen::Pool { name: name.clone(), raw: pool.raw.clone() })
                    .collect(),
            )),
            Query::ScaleSets => Answer::ScaleSets(Reading::Known(
                self.pools
                    .iter()
                    .map(|(name, pool)| ScaleSet {
                        id: id(&pool.set),
                        name: pool.set.clone(),
                        pool: Some(name.clone()),
                        state: if pool.wedged { "Failed" } else { "Succeeded" }.into(),
                        capacity: None,
                        created: None,
                        accelerated: Some(true),
                    })
                    .collect(),
            )),
            Query::Instances(set) => Answer::Instances(
                set.clone(),
                Reading::Known(
                    (0..of(set).map_or(0, Pool::count))
                        .map(|index| Instance {
                            id: format!("{}/virtualMachines/{index}", id(set)),
                            created: Some(
                                self.now.checked_sub(SignedDuration::from_hours(1)).unwrap(),
                            ),
                            statuses: vec![],
                        })
                        .collect(),
                ),
            ),
            Query::Nics(set) => Answer::Nics(
                set.clone(),
                Reading::Known(
                    (0..of(set).map_or(0, Pool::count))
                        .map(|index| Nic {
                            name: format!("nic{index}"),
                            instance: Some(format!("{}/virtualMachines/{index}", id(set))),
                            addresses: if of(set).is_some_and(|pool| pool.wedged) {
                                Addresses::Empty
                            } else {
                                Addresses::Some(1)
                            },
                        })
                        .collect(),
                ),
            ),
            Query::Events if self.mute => Answer::Events(Reading::Failed("HTTP 503".into())),
            Query::Events => Answer::Events(Reading::Known(
                self.pools.values().flat_map(|pool| self.writes(pool)).collect(),
            )),
            Query::LatestOperation => {
                Answer::LatestOperation(Reading::Known(self.operation.clone()))
            }
            Query::Operation(token) => {
                let ended = self.failed.get(token).cloned();
                Answer::Operation(token.clone(), ended.map_or(Reading::NotFound, Reading::Known))
            }
            Query::Uid => Answer::Uid(Reading::Known("kube-system-uid".to_owned())),
            Query::Nodes => {
                Answer::Nodes(Reading::Known(self.nodes.iter().map(Node::seen).collect()))
            }
            Query::Pods => Answer::Pods(Reading::Known(
                self.pods.iter().map(|pod| pod.seen(self.now)).collect(),
            )),
            Query::Replicas(name) => Answer::Replicas(name.clone(), self.replicas(name)),
            Query::Pdbs => Answer::Pdbs(Reading::Known(
                self.workloads
                    .iter()
                    .map(|workload| workload.budget(&self.pods, self.now))
                    .collect(),
            )),
        }
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
