//! What was read for one decision.

use std::cell::OnceCell;

use mooring_workflow::published::SourceName;
use mooring_workflow::reading::{Named, Reading};

use super::{
    ActivityEvent, AksOperation, Instance, ManagedCluster, Nic, Node, Pdb, Pod, Pool, Replicas,
    ScaleSet,
};
use crate::check_ids::{
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
    /// The operations of resume tokens.
    pub operations: Named<AksOperation>,
    /// The uid of the namespace `kube-system`, which identifies a cluster.
    pub uid: OnceCell<Reading<String>>,
    pub nodes: OnceCell<Reading<Vec<Node>>>,
    pub pods: OnceCell<Reading<Vec<Pod>>>,
    pub pdbs: OnceCell<Reading<Vec<Pdb>>>,
    /// Desired replicas of a `ReplicaSet` or `StatefulSet`, by `namespace/kind/name`.
    pub replicas: Named<Replicas>,
}

/// A read that is not permitted.
pub(crate) struct Denied<'a> {
    pub(crate) source: SourceName,
    /// The check that depends on it.
    pub(crate) check: &'static str,
    pub(crate) why: &'a str,
}

fn denied<'a, T>(
    source: SourceName,
    check: &'static str,
    reading: Option<&'a Reading<T>>,
) -> Option<Denied<'a>> {
    match reading {
        Some(Reading::Denied(why)) => Some(Denied { source, check, why }),
        _ => None,
    }
}

impl ClusterView {
    /// Returns the reads that are not permitted.
    pub(crate) fn denied(&self) -> impl Iterator<Item = Denied<'_>> {
        let (azure, cluster) = (SourceName::Azure, SourceName::Cluster);
        let first = [
            denied(azure, CLUSTER_STATE, self.cluster.get()),
            denied(azure, OTHER_POOLS, self.pools.get()),
            denied(azure, FAILING_WRITES, self.scale_sets.get()),
            denied(azure, FAILING_WRITES, self.events.get()),
            denied(cluster, MISSING_NODES, self.nodes.get()),
        ];
        let instances = self.instances.entries();
        let instances = instances.map(move |(_, one)| denied(azure, MISSING_NODES, Some(one)));
        let nics = self.nics.entries();
        let nics = nics.map(move |(_, one)| denied(azure, FAILING_WRITES, Some(one)));
        let last = [
            denied(cluster, CLUSTER_UID, self.uid.get()),
            denied(azure, OTHER_OPERATION, self.latest_operation.get()),
            denied(cluster, PDB, self.pods.get()),
            denied(cluster, PDB, self.pdbs.get()),
        ];
        first.into_iter().chain(instances).chain(nics).chain(last).flatten()
    }

    /// Forgets what Azure did not permit, so that it is read again.
    pub(crate) fn forget_denied(&mut self) {
        fn forget<T>(cell: &mut OnceCell<Reading<T>>) {
            if matches!(cell.get(), Some(Reading::Denied(_))) {
                cell.take();
            }
        }
        forget(&mut self.cluster);
        forget(&mut self.pools);
        forget(&mut self.scale_sets);
        forget(&mut self.events);
        forget(&mut self.latest_operation);
        if self.instances.entries().any(|(_, one)| matches!(one, Reading::Denied(_))) {
            self.instances = Named::default();
        }
        if self.nics.entries().any(|(_, one)| matches!(one, Reading::Denied(_))) {
            self.nics = Named::default();
        }
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
                ClusterView { scale_sets: Reading::Known(sets).into(), ..ClusterView::default() };
            assert_eq!(view.scale_set_of("system").map(|set| set.name.as_str()), wanted);
        }
    }
}
