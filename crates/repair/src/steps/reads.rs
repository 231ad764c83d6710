//! What each step and check depends on. While something is being waited for, only that is read.
//!
//! A list goes as far as the view shows what else is needed. What it depends on itself comes first, so that a view is
//! complete after four rounds.

use mooring_workflow::Phase;

use super::context::Context;
use super::{clear_operation, drain, pools, rollback, verify};
use crate::checks::{self, enough_nodes};
use crate::effects::Effect;
use crate::observation::{ClusterView, Query};
use crate::operation::{self, Running};
use crate::plan::Step;
use crate::workflow::RepairRun as _;

/// What the current step depends on.
pub(super) fn of_step(context: &Context<'_>) -> Vec<Query> {
    let run = context.run;
    if run.phase == Phase::Aborting {
        return rollback(context);
    }
    let temporary = run.temporary();
    match run.step() {
        None => vec![Query::Pools],
        Some(Step::Snapshot) => vec![Query::Pools, Query::ScaleSets],
        Some(Step::Settle) => settling(context),
        Some(Step::Recheck) => {
            let mut reads = vec![Query::Cluster];
            if clear_operation::ensure_not_canceling(context).is_ok() {
                reads.extend(verdict(context));
            }
            reads
        }
        Some(Step::CreateTemporary) => pool_written(context, &temporary),
        Some(Step::ProveTemporary) => {
            let mut reads = nodes(context, &temporary);
            if enough_nodes(context, &temporary).is_ok() {
                reads.extend(interfaces(context, &temporary));
            }
            reads
        }
        Some(Step::CordonPool | Step::CordonTemporary) => vec![Query::Nodes],
        Some(Step::DrainPool) => drained(context, Step::DrainPool, run.pool()),
        Some(Step::ProvePlacement) => placed(context, Step::DrainPool, run.pool()),
        Some(Step::DeletePool) => pool_deleted(context),
        Some(Step::RecreatePool) => {
            let mut reads = pool_written(context, run.pool());
            reads.extend(pool_and_scale_set(context));
            reads
        }
        Some(Step::AwaitNodes) => nodes(context, run.pool()),
        Some(Step::VerifyCure) => rebuilt(context),
        Some(Step::DrainTemporary) => drained(context, Step::DrainTemporary, &temporary),
        Some(Step::DeleteTemporary) => temporary_deleted(context, &temporary),
        Some(Step::TouchCluster) => vec![Query::Cluster],
    }
}

pub(super) fn settling(context: &Context<'_>) -> Vec<Query> {
    let mut reads = vec![Query::Cluster, Query::Pools];
    let known = clear_operation::ensure_not_canceling(context).is_ok() && context.pools().is_ok();
    if known && operation::running(context.view) != Running::Nothing {
        reads.extend([Query::LatestOperation, Query::Events]);
    }
    reads
}

/// What the checks of the verdict depend on.
pub(crate) fn verdict(context: &Context<'_>) -> Vec<Query> {
    of_verdict(context.view, context.run.pool())
}

/// The same without a run.
pub(crate) fn of_verdict(view: &ClusterView, pool: &str) -> Vec<Query> {
    let mut reads =
        vec![Query::Cluster, Query::Pools, Query::ScaleSets, Query::Events, Query::Nodes];
    reads.extend(scale_set(view, pool));
    reads
}

fn scale_set(view: &ClusterView, pool: &str) -> Vec<Query> {
    let set = view.scale_set_of(pool).map(|set| set.name.clone());
    set.map(|set| vec![Query::Instances(set.clone()), Query::Nics(set)]).unwrap_or_default()
}

pub(crate) fn pools(_: &Context<'_>) -> Vec<Query> {
    vec![Query::Pools]
}

/// The pool, and the scale set that it is on.
pub(crate) fn pool_and_scale_set(context: &Context<'_>) -> Vec<Query> {
    let mut reads = vec![Query::Pools];
    if let Ok(Some(_)) = context.pool(context.run.pool()) {
        reads.push(Query::ScaleSets);
    }
    reads
}

/// What shows that the pool's scale set cannot be written.
pub(crate) fn writes(context: &Context<'_>) -> Vec<Query> {
    let pool = context.run.pool();
    let mut reads = pool_and_scale_set(context);
    if let (Ok(Some(_)), Ok(Some(_))) = (context.pool(pool), context.scale_set(pool)) {
        reads.push(Query::Events);
        reads.extend(scale_set(context.view, pool));
    }
    reads
}

/// The nodes of the pool that takes the pods.
pub(crate) fn replacement(context: &Context<'_>) -> Vec<Query> {
    nodes(context, &checks::replacement(context.run))
}

/// A pool's nodes, and how many it should have.
fn nodes(context: &Context<'_>, name: &str) -> Vec<Query> {
    let mut reads = vec![Query::Pools, Query::Nodes];
    if name == context.run.pool()
        && let Ok(Some(pool)) = context.pool(name)
        && !pool.autoscaled()
        && !context.run.has_done(Step::VerifyCure)
    {
        // How many depends on whether this run created it.
        reads.push(Query::ScaleSets);
    }
    reads
}

fn interfaces(context: &Context<'_>, pool: &str) -> Vec<Query> {
    let set = context.view.scale_set_of(pool).map(|set| Query::Nics(set.name.clone()));
    [Query::ScaleSets].into_iter().chain(set).collect()
}

fn drained(context: &Context<'_>, step: Step, pool: &str) -> Vec<Query> {
    if context.run.facts.workloads.contains_key(&step) {
        return emptied(context, pool);
    }
    vec![Query::Nodes, Query::Pods]
}

fn emptied(context: &Context<'_>, pool: &str) -> Vec<Query> {
    let mut reads = vec![Query::Nodes, Query::Pods, Query::Pdbs];
    if let Ok(here) = drain::evictable_pods(context, pool)
        && let Some((pod, _)) = here.first()
    {
        reads.extend(checks::reads(context, &drain::evict(pod)));
    }
    reads
}

fn placed(context: &Context<'_>, step: Step, pool: &str) -> Vec<Query> {
    let mut reads = emptied(context, pool);
    if context.has_all(&reads) && drain::ensure_empty(context, pool).is_ok() {
        let lagging = verify::lagging(context, step, pool).unwrap_or_default();
        reads.extend(lagging.iter().filter_map(|(_, workload, _)| verify::replicas(workload)));
    }
    reads
}

/// The pool, and why the last write of it failed.
fn pool_written(context: &Context<'_>, name: &str) -> Vec<Query> {
    let mut reads = vec![Query::Pools];
    if let Ok(Some(pool)) = context.pool(name)
        && pool.state() == "Failed"
    {
        reads.extend(pools::operation(context, &Effect::key_of_put(name)));
    }
    reads
}

/// The pool alone while it is being deleted.
fn pool_deleted(context: &Context<'_>) -> Vec<Query> {
    let name = context.run.pool();
    let mut reads = vec![Query::Pools];
    if let Ok(Some(pool)) = context.pool(name)
        && pool.state() != "Deleting"
    {
        reads.push(Query::ScaleSets);
        if !pool.busy() {
            reads.extend(placed(context, Step::DrainPool, name));
            reads.extend(pools::operation(context, &Effect::key_of_deletion(name)));
        }
    }
    reads
}

fn temporary_deleted(context: &Context<'_>, name: &str) -> Vec<Query> {
    let mut reads = vec![Query::Pools];
    if let Ok(Some(pool)) = context.pool(name)
        && context.belongs_to_run(pool)
        && !pool.busy()
    {
        reads.extend(placed(context, Step::DrainTemporary, name));
        reads.extend(pools::operation(context, &Effect::key_of_deletion(name)));
    }
    reads
}

fn rebuilt(context: &Context<'_>) -> Vec<Query> {
    let name = context.run.pool();
    let mut reads = vec![Query::Pools];
    if let Ok(Some(pool)) = context.pool(name)
        && pool.state() == "Succeeded"
    {
        reads.push(Query::ScaleSets);
    }
    if let Ok((_, set)) = verify::rebuilt(context) {
        reads.extend(interfaces(context, name));
        if verify::addresses(context, name, set).is_ok() {
            reads.push(Query::Cluster);
        }
    }
    reads
}

fn rollback(context: &Context<'_>) -> Vec<Query> {
    let mut reads = vec![Query::Pools];
    if context.run.deletion().is_some() {
        reads.extend(pool_and_scale_set(context));
    }
    if context.has_all(&reads) && rollback::ensure_not_deleted(context).is_ok() {
        reads.push(Query::Nodes);
        if let Ok(Some(pool)) = context.pool(&context.run.temporary())
            && context.belongs_to_run(pool)
            && !pool.busy()
        {
            reads.push(Query::Pods);
        }
    }
    reads
}
