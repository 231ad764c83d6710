//! The steps that verify pools and workloads.

use std::collections::BTreeMap;

use super::{clear_operation, drain};
use crate::checks::{IP_ADDRESSES, WORKLOADS, deleted_pool, enough_nodes, wanted};
use crate::observation::{Addresses, Nic, Pod, Pool, Query, ScaleSet};
use crate::plan::Step;
use crate::pool::pool_body;
use crate::workflow::{Context, Halt, Progress, RepairRun as _, Unknown, Workload};
use mooring_workflow::Reading;
use mooring_workflow::plural::counted;

/// Ensures that all nodes of the temporary pool are Ready and have IP addresses.
pub(super) fn temporary(context: &Context<'_>) -> Progress {
    let name = context.run.temporary();
    let mut evidence = vec![enough_nodes(context, &name)?];
    let Some(set) = context.scale_set(&name)? else {
        return Err(context.wait(format!("for the scale set of pool {name}")));
    };
    evidence.push(addresses(context, &name, set)?);
    Ok(evidence)
}

/// Ensures that the pool is empty, and that evicted workloads run on other nodes.
pub(super) fn workloads(context: &Context<'_>, drain: Step, pool: &str) -> Progress {
    // A node may have joined, recovered, or been uncordoned since the drain.
    drain::ensure_empty(context, pool)?;
    let mut missing = Vec::new();
    for (uid, workload, serving) in lagging(context, drain, pool)? {
        if serving < desired_replicas(context, uid, workload)? {
            missing
                .push(format!("{} ({serving} of {} pods Ready)", workload.name, workload.serving));
        }
    }
    if missing.is_empty() {
        let former = context.run.facts.workloads.get(&drain).map_or(0, BTreeMap::len);
        return Ok(vec![format!("{} running on other nodes", counted(former, "workload"))]);
    }
    if let Some(reason) = context.settings.overrides.get(WORKLOADS) {
        return Ok(vec![format!(
            "overridden: {reason}; not running on other nodes: {}",
            missing.join(", ")
        )]);
    }
    Err(context.wait(format!("for pods to run on other nodes: {}", missing.join(", "))))
}

/// Returns workloads with fewer Ready pods outside the pool than before the drain: identity, workload, and Ready pods.
pub(super) fn lagging<'a>(
    context: &Context<'a>,
    drain: Step,
    pool: &str,
) -> Result<Vec<(&'a str, &'a Workload, usize)>, Unknown> {
    let (pods, nodes) = (context.pods()?, context.nodes_of(pool)?);
    let here = |pod: &&Pod| nodes.iter().any(|node| pod.node.as_deref() == Some(&node.name));
    let elsewhere: Vec<_> = pods.iter().filter(|pod| !here(pod)).collect();
    let former = context.run.facts.workloads.get(&drain).into_iter().flatten();
    let serving = former
        .map(|(uid, one)| (uid.as_str(), one, drain::serving(elsewhere.iter().copied(), uid)));
    Ok(serving.filter(|(_, workload, serving)| *serving < workload.serving).collect())
}

pub(super) fn replicas(workload: &Workload) -> Option<Query> {
    let name = &workload.name;
    let kinds = ["/ReplicaSet/", "/StatefulSet/"];
    kinds.iter().any(|kind| name.contains(kind)).then(|| Query::Replicas(name.clone()))
}

/// Returns the number of pods that must be Ready: as many as before, unless the workload was rolled out, scaled down or
/// deleted since.
fn desired_replicas(
    context: &Context<'_>,
    uid: &str,
    workload: &Workload,
) -> Result<usize, Unknown> {
    let Some(query) = replicas(workload) else { return Ok(workload.serving) };
    Ok(match context.view.replicas.get(&workload.name) {
        None => return Err(Unknown::NotRead(query)),
        Some(Reading::NotFound) => 0,
        Some(Reading::Known(replicas)) if replicas.uid != uid => 0,
        Some(Reading::Known(replicas)) => replicas.wanted.min(workload.serving),
        Some(_) => workload.serving,
    })
}

pub(super) fn rebuilt<'a>(context: &Context<'a>) -> Result<(&'a Pool, &'a ScaleSet), Halt> {
    let name = context.run.pool();
    let Some(pool) = context.pool(name)? else { return Err(deleted_pool(context, name)) };
    if pool.state() != "Succeeded" {
        return Err(context.wait(format!("for pool {name}, which is {}", pool.state())));
    }
    let Some(set) = context.scale_set(name)? else {
        return Err(context.wait(format!("for the scale set of pool {name}")));
    };
    if context.plan().is_on(&set.id) {
        return Err(context.wait(format!("for pool {name} to be on a new scale set")));
    }
    if set.state != "Succeeded" {
        return Err(
            context.wait(format!("for a successful write to {}, which is {}", set.name, set.state))
        );
    }
    Ok((pool, set))
}

/// Verifies the new scale set, a successful write, IP addresses, and the state of the cluster.
pub(super) fn pool(context: &Context<'_>) -> Progress {
    let name = context.run.pool();
    let (pool, set) = rebuilt(context)?;
    let mut evidence = vec![format!("scale set {} is new and its last write succeeded", set.name)];
    evidence.push(addresses(context, name, set)?);
    let different = pool_body::differences(&context.plan().pool_body, &pool.raw);
    if !different.is_empty() {
        evidence.push(format!("differs from the snapshot in {}", different.join(", ")));
    }
    evidence.extend(clear_operation::reconcile_cluster(context, false)?);
    Ok(evidence)
}

/// Ensures that no interface has an empty list of IP addresses. One without a list proves nothing.
pub(super) fn addresses(context: &Context<'_>, pool: &str, set: &ScaleSet) -> Result<String, Halt> {
    let Some(nics) = context.nics(set)? else {
        let reason = &context.settings.overrides[IP_ADDRESSES];
        return Ok(format!("IP addresses of {} were not read; overridden: {reason}", set.name));
    };
    let of = |wanted: fn(&Nic) -> bool| nics.iter().filter(|nic| wanted(nic)).count();
    let empty = of(|nic| nic.addresses == Addresses::Empty);
    let with = of(|nic| matches!(nic.addresses, Addresses::Some(_)));
    let missing = with == 0 && wanted(context, pool)? > 0;
    if empty > 0 || missing {
        if let Some(reason) = context.settings.overrides.get(IP_ADDRESSES) {
            return Ok(format!(
                "interfaces of {}: {empty} without an IP address, {with} with one; overridden: {reason}",
                set.name
            ));
        }
        return Err(context.wait(format!(
            "for IP addresses; interfaces of {}: {empty} without, {with} with one",
            set.name
        )));
    }
    Ok(format!("{} of {}, all with IP addresses", counted(with, "interface"), set.name))
}
