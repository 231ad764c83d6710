//! Azure as the services of a repair: what their reads share, and the writes.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use mooring_arm::calls::{ActivityQuery, DeletePool};
use mooring_arm::{
    AzureError, Client, OperationOutcome, OperationProgress, ResourceId, ResourceIdError,
};
use serde_json::Value;

use super::responses::{
    began, invalid, is_misconfigured, listed, missing, no_cluster, read, refused,
};
use super::services::LiveServices;
use crate::observation::{ActivityEvent, ClusterView, ManagedCluster, Node, foreign_node};
use crate::operation;
use crate::operation::OperationScope;
use crate::workflow::Services as _;
use crate::workflow::effects::Precondition;
use mooring_workflow::reading::once;
use mooring_workflow::{EffectResult, Reading};

/// Timeout of a read, which the workflow retries.
const READ_TIMEOUT: Duration = Duration::from_secs(45);
const WRITE: Duration = Duration::from_secs(90);
/// Part of the log that is searched for the running operation.
const OPERATION_WINDOW: SignedDuration = SignedDuration::from_hours(24);
/// The same if an operation is running but was not found: operations have been stuck for more than a week.
const STUCK_OPERATION_WINDOW: SignedDuration = SignedDuration::from_hours(14 * 24);
/// The log keeps 90 days, and rejects longer queries.
const MAX_WINDOW: SignedDuration = SignedDuration::from_hours(89 * 24);
const SKEW: SignedDuration = SignedDuration::from_mins(5);

impl LiveServices {
    /// Returns the client of reads.
    pub(super) fn reads(&self) -> Client {
        self.client.within(READ_TIMEOUT)
    }

    /// Fails if Azure gives no token, rejects it, or does not know the subscription: settings or credentials are wrong.
    /// Other errors show in the reads.
    pub(super) async fn ensure_access(&self) -> Result<(), String> {
        match self.reads().cluster::<Value>(&self.cluster).await {
            Err(error) if is_misconfigured(&error) => Err(error.to_string()),
            _ => Ok(()),
        }
    }

    pub(super) async fn read_cluster(&self) -> Reading<ManagedCluster> {
        let reading = match self.reads().cluster(&self.cluster).await {
            Err(error) if error.is_not_found() && !no_cluster(&error) => {
                Reading::Failed(error.to_string())
            }
            found => read(found, ManagedCluster::read),
        };
        if let Reading::Known(cluster) = &reading {
            self.last.replace(Some(cluster.clone()));
        }
        reading
    }

    /// Returns the node resource group.
    pub(super) async fn group<T>(&self) -> Result<String, Reading<T>> {
        let known =
            || self.last.borrow().as_ref().and_then(|last| last.node_resource_group.clone());
        if let Some(group) = known() {
            return Ok(group);
        }
        if self.read_cluster().await.found()?.is_none() {
            return Err(Reading::NotFound);
        }
        let none = || Reading::Failed("the cluster has no node resource group yet".to_owned());
        known().ok_or_else(none)
    }

    pub(super) async fn scale_set<T>(&self, name: &str) -> Result<ResourceId, Reading<T>> {
        let group = self.group().await?;
        let path = format!("virtualMachineScaleSets/{name}");
        ResourceId::of(self.cluster.subscription(), &group, "Microsoft.Compute", &path)
            .map_err(|error| Reading::Failed(error.to_string()))
    }

    /// Returns the nodes if they belong to this cluster: a kubeconfig may be that of another one.
    pub(super) async fn own(&self, nodes: Vec<Node>) -> Result<Vec<Node>, Reading<Vec<Node>>> {
        let group = self.group().await?;
        let group =
            format!("/subscriptions/{}/resourceGroups/{group}", self.cluster.subscription());
        match foreign_node(&nodes, &group) {
            None => Ok(nodes),
            // Waiting does not change it.
            Some(node) => Err(Reading::Denied(format!(
                "they belong to another cluster: {} is not in {group}; check --kubeconfig",
                node.name
            ))),
        }
    }

    /// Reads writes to scale sets within the window, and operations of the cluster as far back as needed.
    pub(super) async fn read_events(
        &self,
    ) -> Result<Vec<ActivityEvent>, Reading<Vec<ActivityEvent>>> {
        let (group, now) = (self.group().await?, self.now());
        let own_group = self.cluster.resource_group().unwrap_or_default().to_owned();
        let mut all = Vec::new();
        for (group, back) in [(&group, self.window.get()), (&own_group, OPERATION_WINDOW)] {
            match self.log(group, back, now).await {
                Reading::Known(events) => all.extend(events),
                other => return Err(other),
            }
        }
        let last = self.last.borrow().clone();
        let untold = last.is_some_and(|last| operation::has_unknown_operation(&last, &all));
        if untold
            && let Reading::Known(older) = self.log(&own_group, STUCK_OPERATION_WINDOW, now).await
        {
            all.extend(older);
        }
        Ok(all)
    }

    async fn log(
        &self,
        group: &str,
        back: SignedDuration,
        now: Timestamp,
    ) -> Reading<Vec<ActivityEvent>> {
        let back = back.min(MAX_WINDOW).saturating_add(SKEW);
        let from = now.checked_sub(back).unwrap_or(Timestamp::MIN);
        let to = now.checked_add(SKEW).unwrap_or(Timestamp::MAX);
        let query = ActivityQuery::of_group(group, from, to);
        let found = self.reads().activity_log(self.cluster.subscription(), &query).await;
        // Events without a time, operation or resource are of other kinds.
        let events = listed(found, |raw| Some(ActivityEvent::read(raw)));
        events.map(|events| events.iter().flatten().cloned().collect())
    }

    /// Reads the error codes of an operation that this run started.
    pub(super) async fn read_operation(&self, token: &str) -> Reading<Vec<String>> {
        let mut operation = match kept(token, self.cluster.subscription()) {
            Ok(operation) => operation,
            Err(why) => return Reading::Failed(why),
        };
        let codes = |refusal: AzureError| refusal.codes().map(str::to_owned).collect();
        match self.reads().poll(&mut operation).await {
            Ok(
                OperationProgress::Running { .. }
                | OperationProgress::Done(OperationOutcome::Succeeded(_)),
            ) => Reading::Known(Vec::new()),
            Ok(OperationProgress::Done(
                OperationOutcome::Failed(refusal)
                | OperationOutcome::Canceled(refusal)
                | OperationOutcome::Replaced { refusal, .. },
            )) => Reading::Known(codes(refusal)),
            Ok(OperationProgress::Done(OperationOutcome::Lost { .. })) => Reading::NotFound,
            Err(error) => missing(&error),
        }
    }

    pub(super) async fn put_pool(
        &self,
        pool: &str,
        body: &Value,
        only: Option<&Precondition>,
    ) -> EffectResult {
        let id = match self.pool_id(pool) {
            Ok(id) => id,
            Err(error) => return invalid(&error.to_string()),
        };
        let client = self.client.within(WRITE);
        began(match only {
            Some(Precondition::IfAbsent) => client.create_agent_pool(&id, body).await,
            Some(Precondition::IfMatch(tag)) => client.put_agent_pool(&id, body, Some(tag)).await,
            None => client.put_agent_pool(&id, body, None).await,
        })
    }

    /// Deletes a pool. The drain honored PDBs; those that still block are for pods of dead nodes, on which the service would
    /// wait indefinitely.
    pub(super) async fn delete_pool(&self, pool: &str, if_match: Option<&str>) -> EffectResult {
        let id = match self.pool_id(pool) {
            Ok(id) => id,
            Err(error) => return invalid(&error.to_string()),
        };
        let how = DeletePool {
            ignore_pod_disruption_budget: true,
            if_match: if_match.map(str::to_owned),
        };
        began(self.client.within(WRITE).delete_agent_pool(&id, &how).await).or_gone()
    }

    /// Aborts the operation if it is still running. Azure's call has no operation id and no precondition, so it is read right
    /// before: the race is one round trip.
    pub(super) async fn abort(&self, scope: &OperationScope, operation: &str) -> EffectResult {
        if !self.still_runs(scope, operation).await {
            let message = format!("{operation} is no longer running");
            return EffectResult::refused(409, "AnotherOperation", message);
        }
        let client = self.client.within(WRITE);
        match scope {
            OperationScope::Cluster => began(client.abort_cluster(&self.cluster).await),
            OperationScope::Pool(pool) => match self.pool_id(pool) {
                Ok(id) => began(client.abort_agent_pool(&id).await),
                Err(error) => invalid(&error.to_string()),
            },
        }
    }

    async fn still_runs(&self, scope: &OperationScope, operation: &str) -> bool {
        let view = ClusterView::default();
        once(&view.cluster, self.cluster()).await;
        once(&view.pools, self.pools()).await;
        once(&view.latest_operation, self.latest_operation()).await;
        if operation::is_running(&view, scope, operation) {
            return true;
        }
        // The log is slow and late, so it is read only if the operations endpoint has no result.
        once(&view.events, Box::pin(self.events())).await;
        operation::is_running(&view, scope, operation)
    }

    pub(super) async fn tag(&self, name: &str, value: &str) -> EffectResult {
        let tags = BTreeMap::from([(name.to_owned(), value.to_owned())]);
        match self.client.within(WRITE).merge_tags(&self.cluster, &tags).await {
            Ok(_) => EffectResult::Done,
            Err(error) => refused(&error),
        }
    }

    fn pool_id(&self, name: &str) -> Result<ResourceId, ResourceIdError> {
        self.cluster.child("agentPools", name)
    }
}

/// Returns the operation of a journal record if its targets are in the cluster's subscription. Anyone who can edit the
/// journal can write a record, so others are not followed.
fn kept(token: &str, subscription: &str) -> Result<mooring_arm::Operation, String> {
    let operation: mooring_arm::Operation = serde_json::from_str(token)
        .map_err(|_| "the operation in the journal is invalid and was not read".to_owned())?;
    if !operation.is_under(subscription) {
        let why =
            "the operation in the journal is not in the cluster's subscription and was not read";
        return Err(why.to_owned());
    }
    Ok(operation)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::kept;

    #[test]
    fn operation_of_a_journal_is_read_only_below_the_subscription() {
        let record = |monitor: &str, resource: &str| {
            let record = json!({
                "kind": "write", "monitor": {"status": monitor}, "resource": resource,
                "started": "2026-05-26T14:40:00Z", "next": "2026-05-26T14:40:00Z",
                "correlation_id": "c",
            });
            kept(&record.to_string(), "s-1")
        };
        let (own, other) = ("/subscriptions/S-1/x?t=1", "/subscriptions/s-2/x");
        assert!(record(own, own).is_ok());
        for (monitor, resource, why) in [
            (other, own, "subscription"),
            (own, other, "subscription"),
            ("/providers/x", own, "subscription"),
            ("@localhost:9443/steal", own, "invalid"),
            ("//localhost:9443/steal", own, "invalid"),
            (own, "https://localhost:9443/steal", "invalid"),
        ] {
            let error = record(monitor, resource).unwrap_err();
            assert!(error.contains(why), "{monitor} {resource}: {error}");
        }
    }
}
