//! The steps that verify pools and workloads.

use std::collections::BTreeMap;

use mooring_workflow::plural::counted;
use mooring_workflow::{NotRead, Reading};

use super::drain::serving;
use crate::names::{IP_ADDRESSES, WORKLOADS};
use crate::observation::{Addresses, Nic, Pod, Pool, ScaleSet};
use crate::plan::Step;
use crate::pool_body;
use crate::workflow::{Context, Decision, Services, Workload};

impl<S: Services> Context<'_, S> {
    /// Done once all nodes of the temporary pool are Ready and have IP addresses.
    pub(super) async fn verify_temporary(&self) -> Result<Decision, NotRead> {
        let name = self.temporary();
        let evidence = match self.enough_nodes(&name).await? {
            Decision::Done(evidence) => evidence,
            other => return Ok(other),
        };
        let (Some(pool), Some(set)) = (self.pool(&name).await?, self.scale_set(&name).await?)
        else {
            return Ok(self.wait(format!("for the scale set of pool {name}")));
        };
        Ok(self.addresses(pool, set).await?.after(evidence))
    }

    /// Done once the pool is empty, and evicted workloads run on other nodes.
    pub(super) async fn verify_workloads(
        &self,
        drain: Step,
        pool: &str,
    ) -> Result<Decision, NotRead> {
        // A node may have joined, recovered, or been uncordoned since the drain.
        if let Some(other) = self.empty(pool).await?.unless_done() {
            return Ok(other);
        }
        let (pods, nodes) = (self.pods().await?, self.nodes_of(pool).await?);
        let is_here = |pod: &Pod| nodes.iter().any(|node| pod.is_on(node));
        let elsewhere: Vec<_> = pods.iter().filter(|pod| !is_here(pod)).collect();
        let former = self.run.facts.workloads.get(&drain);
        let mut missing = Vec::new();
        for (uid, workload) in former.into_iter().flatten() {
            let serving = serving(elsewhere.iter().copied(), uid);
            if serving < workload.serving && serving < self.desired_replicas(uid, workload).await {
                let (name, before) = (&workload.name, workload.serving);
                missing.push(format!("{name} ({serving} of {before} pods Ready)"));
            }
        }
        if missing.is_empty() {
            let former = counted(former.map_or(0, BTreeMap::len), "workload");
            return Ok(super::done(format!("{former} running on other nodes")));
        }
        let missing = missing.join(", ");
        Ok(match self.settings.overrides.get(WORKLOADS) {
            Some(reason) => {
                super::done(format!("overridden: {reason}; not running on other nodes: {missing}"))
            }
            None => self.wait(format!("for pods to run on other nodes: {missing}")),
        })
    }

    /// Returns the number of pods that must be Ready: as many as before, unless the workload was rolled out, scaled down or
    /// deleted since.
    async fn desired_replicas(&self, uid: &str, workload: &Workload) -> usize {
        let name = &workload.name;
        if !["/ReplicaSet/", "/StatefulSet/"].iter().any(|kind| name.contains(kind)) {
            return workload.serving;
        }
        match self.replicas(name).await {
            Reading::NotFound => 0,
            Reading::Known(replicas) if replicas.uid != uid => 0,
            Reading::Known(replicas) => replicas.wanted.min(workload.serving),
            _ => workload.serving,
        }
    }

    /// Verifies the new scale set, a successful write, IP addresses, and the state of the cluster.
    pub(super) async fn verify_pool(&self) -> Result<Decision, NotRead> {
        let name = self.name();
        let Some(pool) = self.pool(name).await? else { return Ok(self.deleted_pool(name)) };
        if pool.state() != "Succeeded" {
            return Ok(self.wait(format!("for pool {name}, which is {}", pool.state())));
        }
        let Some(set) = self.scale_set(name).await? else {
            return Ok(self.wait(format!("for the scale set of pool {name}")));
        };
        if self.plan().is_on(&set.id) {
            return Ok(self.wait(format!("for pool {name} to be on a new scale set")));
        }
        if set.state != "Succeeded" {
            let (set, state) = (&set.name, &set.state);
            return Ok(self.wait(format!("for a successful write to {set}, which is {state}")));
        }
        let mut evidence =
            vec![format!("scale set {} is new and its last write succeeded", set.name)];
        match self.addresses(pool, set).await? {
            Decision::Done(more) => evidence.extend(more),
            other => return Ok(other),
        }
        let different = pool_body::differences(&self.plan().pool_body, &pool.raw);
        if !different.is_empty() {
            evidence.push(format!("differs from the snapshot in {}", different.join(", ")));
        }
        Ok(self.reconcile_cluster(false).await?.after(evidence))
    }

    /// Done if no interface has an empty list of IP addresses. One without a list proves nothing.
    async fn addresses(&self, pool: &Pool, set: &ScaleSet) -> Result<Decision, NotRead> {
        let reason = self.settings.overrides.get(IP_ADDRESSES);
        let Some(nics) = self.nics(set).await? else {
            let reason = reason.map_or("", String::as_str);
            return Ok(super::done(format!(
                "IP addresses of {} were not read; overridden: {reason}",
                set.name
            )));
        };
        let of = |wanted: fn(&Nic) -> bool| nics.iter().filter(|nic| wanted(nic)).count();
        let empty = of(|nic| nic.addresses == Addresses::Empty);
        let with = of(|nic| matches!(nic.addresses, Addresses::Some));
        let missing = with == 0 && self.wanted(pool).await? > 0;
        if empty == 0 && !missing {
            let with = counted(with, "interface");
            return Ok(super::done(format!("{with} of {}, all with IP addresses", set.name)));
        }
        Ok(match reason {
            Some(reason) => super::done(format!(
                "interfaces of {}: {empty} without an IP address, {with} with one; overridden: {reason}",
                set.name
            )),
            None => self.wait(format!(
                "for IP addresses; interfaces of {}: {empty} without, {with} with one",
                set.name
            )),
        })
    }
}
