//! What was read for one decision.

use std::cell::OnceCell;

use mooring_workflow::published::SourceName;
use mooring_workflow::reading::{Named, Reading};

use super::{
    ActivityEvent, AksOperation, Instance, ManagedCluster, Nic, Node, Pdb, Pod, Pool, Replicas,
    ScaleSet,
};
use crate::names::{
    CLUSTER_STATE, CLUSTER_UID, FAILING_WRITES, MISSING_NODES, OTHER_OPERATION, OTHER_POOLS, PDB,
};

/// The results of the reads of one decision: each is made at most once, and an empty one was not made.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClusterView {
    pub cluster: OnceCell<Reading<ManagedCluster>>,
    pub pools: OnceCell<Reading<Vec<Pool>>>,
    /// The scale sets of the node resource group.
    pub scale_sets: OnceCell<Reading<Vec<ScaleSet>>>,
    /// The instances of a scale set, with their instance views.
    pub instances: Named<Vec<Instance>>,
    pub nics: Named<Vec<Nic>>,
    /// The activity log: scale-set writes of the node resource group, and all writes on the cluster.
    pub events: OnceCell<Reading<Vec<ActivityEvent>>>,
    pub latest_operation: OnceCell<Reading<Option<AksOperation>>>,
    /// Error codes of the operations of resume tokens.
    pub operations: Named<Vec<String>>,
    /// The uid of the namespace `kube-system`, which identifies a cluster.
    pub uid: OnceCell<Reading<String>>,
    pub nodes: OnceCell<Reading<Vec<Node>>>,
    pub pods: OnceCell<Reading<Vec<Pod>>>,
    pub pdbs: OnceCell<Reading<Vec<Pdb>>>,
    /// Desired replicas of a `ReplicaSet` or `StatefulSet`, by `namespace/kind/name`.
    pub replicas: Named<Replicas>,
}

/// Returns a value that was read, or why it is unknown.
pub(crate) fn known<'a, T>(reading: Option<&'a Reading<T>>, what: &str) -> Result<&'a T, String> {
    match reading {
        Some(Reading::Known(value)) => Ok(value),
        Some(other) => Err(format!("{what} {}", other.missing().unwrap_or_default())),
        None => Err(format!("{what} not read")),
    }
}

/// Returns the reason of a read that is not permitted.
pub(crate) fn denied<T>(reading: Option<&Reading<T>>) -> Option<&str> {
    match reading {
        Some(Reading::Denied(why)) => Some(why),
        _ => None,
    }
}

/// A read that is not permitted: its source, the check that depends on it, and why.
type Denied<'a> = (SourceName, &'static str, &'a str);

impl ClusterView {
    /// Returns the reads that are not permitted.
    pub(crate) fn denied(&self) -> impl Iterator<Item = Denied<'_>> {
        let (azure, cluster) = (SourceName::Azure, SourceName::Cluster);
        let first = [
            (azure, CLUSTER_STATE, denied(self.cluster.get())),
            (azure, OTHER_POOLS, denied(self.pools.get())),
            (azure, FAILING_WRITES, denied(self.scale_sets.get())),
            (azure, FAILING_WRITES, denied(self.events.get())),
            (cluster, MISSING_NODES, denied(self.nodes.get())),
        ];
        let instances = self.instances.entries();
        let instances = instances.map(move |(_, one)| (azure, MISSING_NODES, denied(Some(one))));
        let nics = self.nics.entries();
        let nics = nics.map(move |(_, one)| (azure, FAILING_WRITES, denied(Some(one))));
        let last = [
            (cluster, CLUSTER_UID, denied(self.uid.get())),
            (azure, OTHER_OPERATION, denied(self.latest_operation.get())),
            (cluster, PDB, denied(self.pods.get())),
            (cluster, PDB, denied(self.pdbs.get())),
        ];
        let all = first.into_iter().chain(instances).chain(nics).chain(last);
        all.filter_map(|(source, check, why)| Some((source, check, why?)))
    }

    /// Returns the newest scale set of a pool, by AKS's tag; none if it is unknown or does not exist.
    pub fn scale_set_of(&self, pool: &str) -> Option<&ScaleSet> {
        let sets = self.scale_sets.get()?.known()?;
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
                ClusterView { scale_sets: Reading::Known(sets).into(), ..ClusterView::default() };
            assert_eq!(view.scale_set_of("system").map(|set| set.name.as_str()), wanted);
        }
    }
}
