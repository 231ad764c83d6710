//! Queries, and their results since the last change.

use mooring_workflow::Reading;
use std::collections::BTreeMap;

use mooring_workflow::workflow::View;

use super::{
    ActivityEvent, AksOperation, Instance, ManagedCluster, Nic, Node, Pdb, Pod, Pool, Replicas,
    ScaleSet,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Query {
    Cluster,
    Pools,
    /// The scale sets of the node resource group.
    ScaleSets,
    /// The instances of a scale set, with their instance views.
    Instances(String),
    Nics(String),
    /// The activity log: scale-set writes of the node resource group, and all writes on the cluster.
    Events,
    LatestOperation,
    /// The operation of a resume token.
    Operation(String),
    /// The uid of the namespace `kube-system`, which identifies a cluster.
    Uid,
    Nodes,
    Pods,
    Pdbs,
    /// Desired replicas of a `ReplicaSet` or `StatefulSet`, by `namespace/kind/name`.
    Replicas(String),
}

/// The result of the [`Query`] of the same name.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    Cluster(Reading<ManagedCluster>),
    Pools(Reading<Vec<Pool>>),
    ScaleSets(Reading<Vec<ScaleSet>>),
    Instances(String, Reading<Vec<Instance>>),
    Nics(String, Reading<Vec<Nic>>),
    Events(Reading<Vec<ActivityEvent>>),
    LatestOperation(Reading<Option<AksOperation>>),
    Operation(String, Reading<AksOperation>),
    Uid(Reading<String>),
    Nodes(Reading<Vec<Node>>),
    Pods(Reading<Vec<Pod>>),
    Pdbs(Reading<Vec<Pdb>>),
    Replicas(String, Reading<Replicas>),
}

impl Query {
    /// Returns true for reads of the Kubernetes API; the others are of Azure.
    pub fn is_of_kubernetes(&self) -> bool {
        matches!(self, Self::Uid | Self::Nodes | Self::Pods | Self::Pdbs | Self::Replicas(_))
    }
}

impl Answer {
    /// Returns the reason if the read failed.
    pub fn error(&self) -> Option<String> {
        match self {
            Self::Cluster(reading) => reading.error(),
            Self::Pools(reading) => reading.error(),
            Self::ScaleSets(reading) => reading.error(),
            Self::Instances(_, reading) => reading.error(),
            Self::Nics(_, reading) => reading.error(),
            Self::Events(reading) => reading.error(),
            Self::LatestOperation(reading) => reading.error(),
            Self::Operation(_, reading) => reading.error(),
            Self::Uid(reading) => reading.error(),
            Self::Nodes(reading) => reading.error(),
            Self::Pods(reading) => reading.error(),
            Self::Pdbs(reading) => reading.error(),
            Self::Replicas(_, reading) => reading.error(),
        }
    }
}

/// Results since the last change or wait.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClusterView {
    pub cluster: Option<Reading<ManagedCluster>>,
    pub pools: Option<Reading<Vec<Pool>>>,
    pub scale_sets: Option<Reading<Vec<ScaleSet>>>,
    pub instances: BTreeMap<String, Reading<Vec<Instance>>>,
    pub nics: BTreeMap<String, Reading<Vec<Nic>>>,
    pub events: Option<Reading<Vec<ActivityEvent>>>,
    pub latest_operation: Option<Reading<Option<AksOperation>>>,
    pub operations: BTreeMap<String, Reading<AksOperation>>,
    pub uid: Option<Reading<String>>,
    pub nodes: Option<Reading<Vec<Node>>>,
    pub pods: Option<Reading<Vec<Pod>>>,
    pub pdbs: Option<Reading<Vec<Pdb>>>,
    pub replicas: BTreeMap<String, Reading<Replicas>>,
}

impl View<Query, Answer> for ClusterView {
    fn has(&self, query: &Query) -> bool {
        match query {
            Query::Cluster => self.cluster.is_some(),
            Query::Pools => self.pools.is_some(),
            Query::ScaleSets => self.scale_sets.is_some(),
            Query::Instances(set) => self.instances.contains_key(set),
            Query::Nics(set) => self.nics.contains_key(set),
            Query::Events => self.events.is_some(),
            Query::LatestOperation => self.latest_operation.is_some(),
            Query::Operation(token) => self.operations.contains_key(token),
            Query::Uid => self.uid.is_some(),
            Query::Nodes => self.nodes.is_some(),
            Query::Pods => self.pods.is_some(),
            Query::Pdbs => self.pdbs.is_some(),
            Query::Replicas(workload) => self.replicas.contains_key(workload),
        }
    }

    fn take(&mut self, answer: Answer) {
        match answer {
            Answer::Cluster(reading) => self.cluster = Some(reading),
            Answer::Pools(reading) => self.pools = Some(reading),
            Answer::ScaleSets(reading) => self.scale_sets = Some(reading),
            Answer::Instances(set, reading) => drop(self.instances.insert(set, reading)),
            Answer::Nics(set, reading) => drop(self.nics.insert(set, reading)),
            Answer::Events(reading) => self.events = Some(reading),
            Answer::LatestOperation(reading) => self.latest_operation = Some(reading),
            Answer::Operation(token, reading) => drop(self.operations.insert(token, reading)),
            Answer::Uid(reading) => self.uid = Some(reading),
            Answer::Nodes(reading) => self.nodes = Some(reading),
            Answer::Pods(reading) => self.pods = Some(reading),
            Answer::Pdbs(reading) => self.pdbs = Some(reading),
            Answer::Replicas(workload, reading) => drop(self.replicas.insert(workload, reading)),
        }
    }
}

impl ClusterView {
    /// Returns the reason why a read is not permitted; none if it is, or was not tried.
    pub(crate) fn denied(&self, query: &Query) -> Option<&str> {
        fn why<T>(reading: Option<&Reading<T>>) -> Option<&str> {
            match reading {
                Some(Reading::Denied(why)) => Some(why),
                _ => None,
            }
        }
        match query {
            Query::Cluster => why(self.cluster.as_ref()),
            Query::Pools => why(self.pools.as_ref()),
            Query::ScaleSets => why(self.scale_sets.as_ref()),
            Query::Instances(set) => why(self.instances.get(set)),
            Query::Nics(set) => why(self.nics.get(set)),
            Query::Events => why(self.events.as_ref()),
            Query::LatestOperation => why(self.latest_operation.as_ref()),
            Query::Operation(token) => why(self.operations.get(token)),
            Query::Uid => why(self.uid.as_ref()),
            Query::Nodes => why(self.nodes.as_ref()),
            Query::Pods => why(self.pods.as_ref()),
            Query::Pdbs => why(self.pdbs.as_ref()),
            Query::Replicas(workload) => why(self.replicas.get(workload)),
        }
    }

    /// Returns the newest scale set of a pool, by AKS's tag; none if it is unknown or does not exist.
    pub fn scale_set_of(&self, pool: &str) -> Option<&ScaleSet> {
        let sets = self.scale_sets.as_ref()?.known()?;
        let mut of_pool = sets.iter().filter(|set| set.pool.as_deref() == Some(pool));
        let mut newest = of_pool.next()?;
        for set in of_pool {
            match (set.created, newest.created) {
                (Some(this), Some(other)) if this != other => {
                    newest = if this > other { set } else { newest };
                }
                _ => return None,
            }
        }
        Some(newest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newest_scale_set_backs_the_pool() {
        let set = |name: &str, created: Option<&str>| ScaleSet {
            id: name.to_owned(),
            name: name.to_owned(),
            pool: Some("system".to_owned()),
            state: String::new(),
            capacity: None,
            created: created.map(|at| at.parse().unwrap()),
            accelerated: None,
        };
        let (old, new) = (Some("2026-05-01T00:00:00Z"), Some("2026-05-26T00:00:00Z"));
        for (sets, wanted) in [
            (vec![], None),
            (vec![set("a", None)], Some("a")),
            (vec![set("a", old), set("b", new)], Some("b")),
            (vec![set("b", new), set("a", old)], Some("b")),
            (vec![set("a", None), set("b", new)], None),
            (vec![set("a", new), set("b", None)], None),
            (vec![set("a", new), set("b", new)], None),
        ] {
            let view =
                ClusterView { scale_sets: Some(Reading::Known(sets)), ..ClusterView::default() };
            assert_eq!(view.scale_set_of("system").map(|set| set.name.as_str()), wanted);
        }
    }
}
