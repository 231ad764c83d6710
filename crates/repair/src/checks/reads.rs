//! Reads that checks depend on.

use crate::observation::{ClusterView, Query};
use crate::plan::Step;
use crate::workflow::{Context, RepairRun as _};

pub(crate) fn verdict(context: &Context<'_>) -> Vec<Query> {
    of_verdict(context.view, context.run.pool())
}

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

pub(crate) fn pool_and_scale_set(context: &Context<'_>) -> Vec<Query> {
    let mut reads = vec![Query::Pools];
    if let Ok(Some(_)) = context.pool(context.run.pool()) {
        reads.push(Query::ScaleSets);
    }
    reads
}

/// Returns the reads that show failing writes of the pool's scale set.
pub(crate) fn writes(context: &Context<'_>) -> Vec<Query> {
    let pool = context.run.pool();
    let mut reads = pool_and_scale_set(context);
    if let (Ok(Some(_)), Ok(Some(_))) = (context.pool(pool), context.scale_set(pool)) {
        reads.push(Query::Events);
        reads.extend(scale_set(context.view, pool));
    }
    reads
}

/// Returns the reads of the pool that receives the pods.
pub(crate) fn replacement(context: &Context<'_>) -> Vec<Query> {
    nodes(context, &context.run.replacement())
}

/// Returns the reads of a pool's nodes and of its desired count.
pub(crate) fn nodes(context: &Context<'_>, name: &str) -> Vec<Query> {
    let mut reads = vec![Query::Pools, Query::Nodes];
    if name == context.run.pool()
        && let Ok(Some(pool)) = context.pool(name)
        && !pool.autoscaled()
        && !context.run.has_done(Step::VerifyPool)
    {
        // The desired count depends on whether this run created the pool.
        reads.push(Query::ScaleSets);
    }
    reads
}
