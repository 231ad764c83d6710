//! What the model answers.

use jiff::SignedDuration;
use mooring_repair::guards::SIGNATURE;
use mooring_repair::observation::{
    self as seen, ActivityEvent, Addresses, Answer, Cluster, Instance, Nic, Query, Reading,
    Replicas, ScaleSet, Seen,
};

use super::cloud::{CLUSTER, Cloud, SETS};
use super::model::{Node, Pool};

impl Cloud {
    /// The cluster and its pools.
    pub fn looked_at(&self) -> Seen {
        let mut seen = Seen::default();
        for query in [Query::Cluster, Query::Pools, Query::ScaleSets] {
            seen.take(self.observe(&query));
        }
        seen
    }

    pub fn observe(&self, query: &Query) -> Answer {
        let id = |set: &str| format!("{SETS}/{set}");
        let of = |set: &str| self.pools.values().find(|pool| pool.set == set);
        match query {
            Query::Cluster => Answer::Cluster(Reading::Known(Cluster {
                id: CLUSTER.into(),
                state: self.cluster_state.clone(),
                node_resource_group: Some("MC".into()),
                version: Some("1.35.4".into()),
                location: None,
                tags: self.cluster_tags.clone(),
                max_pools: Some(100),
                pods_in_subnet: false,
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
                            instance: None,
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
            Query::Nodes => {
                Answer::Nodes(Reading::Known(self.nodes.iter().map(Node::seen).collect()))
            }
            Query::Pods => Answer::Pods(Reading::Known(
                self.pods.iter().map(|pod| pod.seen(self.now)).collect(),
            )),
            Query::Replicas(name) => {
                let found = self
                    .workloads
                    .iter()
                    .find(|workload| name == &format!("kube-system/ReplicaSet/{}", workload.app));
                let replicas = found.map(|workload| Replicas {
                    uid: workload.app.to_owned(),
                    wanted: workload.replicas,
                });
                Answer::Replicas(name.clone(), replicas.map_or(Reading::NotFound, Reading::Known))
            }
            Query::Pdbs => Answer::Pdbs(Reading::Known(
                self.workloads
                    .iter()
                    .map(|workload| workload.budget(&self.pods, self.now))
                    .collect(),
            )),
        }
    }

    /// A wedge fails all the time; a write of any other set succeeds at once.
    fn writes(&self, pool: &Pool) -> Vec<ActivityEvent> {
        let (status, codes, all) = if pool.wedged {
            ("Failed", vec![SIGNATURE.to_owned()], 12)
        } else {
            ("Succeeded", vec![], 1)
        };
        let event = |minute| ActivityEvent {
            correlation: format!("c{minute}"),
            operation: "Microsoft.Compute/virtualMachineScaleSets/write".into(),
            resource: format!("{SETS}/{}", pool.set),
            status: status.into(),
            at: self.now.checked_sub(SignedDuration::from_mins(minute)).unwrap(),
            caller: None,
            codes: codes.clone(),
        };
        (0..all).map(event).collect()
    }
}
