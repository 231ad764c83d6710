//! Reads of each step. A step that waits reads only what it waits for.
//!
//! A list includes what the view shows to be needed; a view is complete after four rounds.

use mooring_workflow::Phase;

use super::{clear_operation, drain, pools, rollback, verify};
use crate::checks::reads::{nodes, pool_and_scale_set, verdict};
use crate::checks::{self, enough_nodes};
use crate::observation::Query;
use crate::plan::Step;
use crate::workflow::effects::Effect;
use crate::workflow::{Context, RepairRun as _};

pub(super) fn of_step(context: &Context<'_>) -> Vec<Query> {
    let run = context.run;
    if run.phase == Phase::Aborting {
        return rollback(context);
    }
    let temporary = run.temporary();
    match run.step() {
        None => vec![Query::Pools],
        Some(Step::Snapshot) => vec![Query::Pools, Query::ScaleSets],
        Some(Step::ClearOperation) => clear_operation::settling(context),
        Some(Step::Recheck) => {
            let mut reads = vec![Query::Cluster];
            if clear_operation::ensure_not_canceling(context).is_ok() {
                reads.extend(verdict(context));
            }
            reads
        }
        Some(Step::CreateTemporary) => pool_written(context, &temporary),
        Some(Step::VerifyTemporary) => {
            let mut reads = nodes(context, &temporary);
            if enough_nodes(context, &temporary).is_ok() {
                reads.extend(interfaces(context, &temporary));
            }
            reads
        }
        Some(Step::CordonPool | Step::CordonTemporary) => vec![Query::Nodes],
        Some(Step::DrainPool) => drained(context, Step::DrainPool, run.pool()),
        Some(Step::VerifyWorkloads) => placed(context, Step::DrainPool, run.pool()),
        Some(Step::DeletePool) => pool_deleted(context),
        Some(Step::RecreatePool) => {
            let mut reads = pool_written(context, run.pool());
            reads.extend(pool_and_scale_set(context));
            reads
        }
        Some(Step::WaitForNodes) => nodes(context, run.pool()),
        Some(Step::VerifyPool) => rebuilt(context),
        Some(Step::DrainTemporary) => drained(context, Step::DrainTemporary, &temporary),
        Some(Step::DeleteTemporary) => temporary_deleted(context, &temporary),
        Some(Step::ReconcileCluster) => vec![Query::Cluster],
    }
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
        reads.extend(checks::reads_before(context, &drain::evict(pod)));
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

fn pool_written(context: &Context<'_>, name: &str) -> Vec<Query> {
    let mut reads = vec![Query::Pools];
    if let Ok(Some(pool)) = context.pool(name)
        && pool.state() == "Failed"
    {
        reads.extend(pools::operation(context, &Effect::key_of_put(name)));
    }
    reads
}

/// Reads only the pool while it is being deleted.
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
