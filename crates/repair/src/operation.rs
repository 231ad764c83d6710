//! The running operation of a cluster or pool.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::observation::{ActivityEvent, ClusterView, ManagedCluster, Pool, known};
use crate::settings::BREAKER_PERIOD;
use mooring_workflow::Reading;

const DELETE_POOL: &str = "Microsoft.ContainerService/managedClusters/agentPools/delete";

/// Resource that an operation changes, and where it can be aborted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OperationScope {
    Cluster,
    Pool(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OngoingOperation {
    Nothing,
    One {
        /// Id in the operations endpoint or the activity log.
        id: String,
        started: Timestamp,
        scope: OperationScope,
    },
    /// An operation is running but cannot be identified, with the reason.
    Unidentified(String),
}

/// Identifies the running operation by the operations endpoint, else by unfinished requests of the cluster and its pools in
/// the activity log.
///
/// The newest *cluster write* would have the wrong age if a pool operation is running, and a recent healthy operation would
/// be aborted.
pub fn running(view: &ClusterView) -> OngoingOperation {
    let busy = match busy(view) {
        Ok(false) => return OngoingOperation::Nothing,
        Ok(true) => "an operation is in progress",
        Err(why) => return OngoingOperation::Unidentified(why),
    };
    let found = match view.latest_operation.get() {
        Some(Reading::Known(Some(operation))) => match operation.started {
            Some(started) => Ok(OngoingOperation::One {
                id: operation.name.clone(),
                started,
                scope: operation.pool.clone().map_or(OperationScope::Cluster, OperationScope::Pool),
            }),
            None => Err(format!("{busy}, start time unknown")),
        },
        _ => from_events(view).map_err(|why| format!("{busy}; {why}")),
    };
    found.unwrap_or_else(OngoingOperation::Unidentified)
}

pub fn is_running(view: &ClusterView, scope: &OperationScope, operation: &str) -> bool {
    matches!(running(view), OngoingOperation::One { id, scope: found, .. } if id == operation && found == *scope)
}

fn busy(view: &ClusterView) -> Result<bool, String> {
    let cluster = known(view.cluster.get(), "the cluster")?;
    let pools = known(view.pools.get(), "pools")?;
    Ok(!is_settled(cluster) || pools.iter().any(Pool::busy))
}

fn from_events(view: &ClusterView) -> Result<OngoingOperation, String> {
    let cluster = known(view.cluster.get(), "the cluster")?;
    let events = known(view.events.get(), "the activity log")?;
    // The service runs one operation at a time: the newest replaced earlier ones.
    let newest = open(cluster, events).pop();
    let (event, scope) = newest.ok_or("the activity log shows no unfinished request")?;
    Ok(OngoingOperation::One { id: id_of(event).to_owned(), started: event.at, scope })
}

fn id_of(event: &ActivityEvent) -> &str {
    event.operation_id.as_deref().unwrap_or(&event.correlation)
}

/// Returns true if the cluster is busy with an operation that is not in these events.
pub fn has_unknown_operation(cluster: &ManagedCluster, events: &[ActivityEvent]) -> bool {
    !is_settled(cluster) && open(cluster, events).is_empty()
}

fn is_settled(cluster: &ManagedCluster) -> bool {
    is_final(&cluster.state)
}

fn is_final(state: &str) -> bool {
    matches!(state, "Succeeded" | "Failed" | "Canceled")
}

/// Returns unfinished requests, newest last.
fn open<'e>(
    cluster: &ManagedCluster,
    events: &'e [ActivityEvent],
) -> Vec<(&'e ActivityEvent, OperationScope)> {
    let has_ended = |event: &ActivityEvent| {
        let mut ends = events.iter().filter(|other| is_final(&other.status));
        ends.any(|end| end.is_of_operation(event))
    };
    let mut open: Vec<(&ActivityEvent, OperationScope)> = events
        .iter()
        .filter(|event| event.status == "Started" && !has_ended(event))
        .filter_map(|event| Some((event, scope(event, &cluster.id)?)))
        .collect();
    open.sort_by_key(|(event, _)| event.at);
    open
}

/// Returns the deletions of a pool within a day in the activity log, by any client.
pub fn deletions(view: &ClusterView, pool: &str, now: Timestamp) -> Reading<usize> {
    let (Some(Reading::Known(cluster)), Some(events)) = (view.cluster.get(), view.events.get())
    else {
        return Reading::Failed("was not read".to_owned());
    };
    let id = format!("{}/agentPools/{pool}", cluster.id);
    let is_deletion = |event: &&ActivityEvent| {
        event.is_operation(DELETE_POOL)
            && event.is_about(&id)
            && now.duration_since(event.at) < BREAKER_PERIOD
    };
    events.map(|events| {
        let deletions: Vec<_> = events.iter().filter(is_deletion).collect();
        let has_failed =
            |event: &&&ActivityEvent| matches!(event.status.as_str(), "Failed" | "Canceled");
        let failed: BTreeSet<_> =
            deletions.iter().filter(has_failed).map(|one| id_of(one)).collect();
        let all: BTreeSet<_> = deletions.iter().map(|one| id_of(one)).collect();
        all.difference(&failed).count()
    })
}

/// Returns the scope of an event that changes this cluster.
fn scope(event: &ActivityEvent, cluster: &str) -> Option<OperationScope> {
    let resource = event.resource.to_ascii_lowercase();
    let rest = resource.strip_prefix(&cluster.to_ascii_lowercase())?;
    // Listing credentials is an action, but not an operation.
    let operation = event.operation.trim().to_ascii_lowercase();
    if operation.contains("/list") || operation.ends_with("/abort/action") {
        return None;
    }
    match rest.strip_prefix("/agentpools/") {
        Some(pool) => Some(OperationScope::Pool(pool.split('/').next().unwrap_or(pool).to_owned())),
        None => rest.is_empty().then_some(OperationScope::Cluster),
    }
}

/// Returns the time of an abort of the cluster's or pool's operation at or after `since` in the activity log.
pub fn aborted(view: &ClusterView, pool: &str, since: Timestamp) -> Option<Timestamp> {
    let cluster = view.cluster.get()?.known()?;
    let events = view.events.get()?.known()?;
    let of_pool = format!("{}/agentPools/{pool}", cluster.id);
    let is_abort = |event: &&ActivityEvent| {
        event.operation.to_ascii_lowercase().ends_with("/abort/action")
            && [&cluster.id, &of_pool].iter().any(|id| id.eq_ignore_ascii_case(&event.resource))
    };
    let earliest = since.checked_sub(CLOCK_SKEW).unwrap_or(Timestamp::MIN);
    events.iter().filter(is_abort).map(|event| event.at).filter(|at| *at >= earliest).min()
}

/// Maximum difference of the clocks of the log and of the process that wrote the journal.
const CLOCK_SKEW: SignedDuration = SignedDuration::from_mins(15);
