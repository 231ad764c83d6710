//! What the resource manager answers and does, in the words of the repair.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use mooring_arm::calls::{ActivityEvent as RawEvent, ActivityQuery, DeletePool, Versions};
use mooring_arm::{
    Client, Document, Error, ErrorKind, Fate, Outcome, Priority, Progress, Raw, ResourceId,
    ResourceIdError, Started,
};
use serde_json::Value;

use crate::effects::EffectResult;
use crate::guards::{self, Scope};
use crate::observation::{
    ActivityEvent, Answer, Cluster, Instance, Nic, Node, Operation, Pool, Query, Reading, ScaleSet,
    Seen, stranger,
};
use crate::settings::Settings;

/// A call's whole time. A look that takes longer is tried again by the machine.
const READ: Duration = Duration::from_secs(45);
const WRITE: Duration = Duration::from_secs(90);
/// How far back the log is searched for the operation that runs.
const OPERATIONS: SignedDuration = SignedDuration::from_hours(24);
/// How far back if that told of none although one runs: a stuck one may be so for longer than a weekend, and a week has
/// been too short.
const STUCK: SignedDuration = SignedDuration::from_hours(14 * 24);
/// Clocks differ.
const SKEW: SignedDuration = SignedDuration::from_mins(5);
/// What a snapshot is read with: a member that an older version does not know would be lost with the pool.
const NEWEST: &str = "2026-05-01";

/// One cluster in Azure.
#[derive(Clone)]
pub(crate) struct Azure {
    client: Client,
    cluster: ResourceId,
    window: SignedDuration,
    /// Where the scale sets are, once it is known.
    node_group: Option<String>,
    /// The cluster as it was read last.
    last: Option<Cluster>,
}

impl Azure {
    pub(crate) fn new(client: &Client, settings: &Settings) -> Result<Self, ResourceIdError> {
        let target = &settings.target;
        let versions = Versions { aks: NEWEST, ..Versions::default() };
        Ok(Self {
            client: client.at(Priority::Interactive).speaking(versions),
            cluster: ResourceId::cluster(
                &target.subscription,
                &target.resource_group,
                &target.cluster,
            )?,
            window: settings.fail_window,
            node_group: None,
            last: None,
        })
    }

    /// Reads failed writes as far back as this.
    pub(crate) fn look_back(&mut self, window: SignedDuration) {
        self.window = window;
    }

    pub(crate) fn cluster_id(&self) -> &ResourceId {
        &self.cluster
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Answers a question about Azure; none if it is one about Kubernetes.
    pub(crate) async fn observe(&mut self, query: &Query, now: Timestamp) -> Option<Answer> {
        let client = self.client.within(READ);
        Some(match query {
            Query::Cluster => Answer::Cluster(self.read_cluster().await),
            Query::Pools => {
                Answer::Pools(listed(client.agent_pools(&self.cluster).await, Pool::read))
            }
            Query::ScaleSets => Answer::ScaleSets(match self.group().await {
                Ok(group) => {
                    let subscription = self.cluster.subscription();
                    listed(client.scale_sets(subscription, &group).await, ScaleSet::read)
                }
                Err(missing) => missing.of(),
            }),
            Query::Instances(set) => {
                let reading = match self.scale_set(set).await {
                    Ok(id) => listed(client.scale_set_vms(&id).await, Instance::read),
                    Err(missing) => missing.of(),
                };
                Answer::Instances(set.clone(), reading)
            }
            Query::Nics(set) => {
                let reading = match self.scale_set(set).await {
                    Ok(id) => listed(client.scale_set_nics(&id).await, Nic::read),
                    Err(missing) => missing.of(),
                };
                Answer::Nics(set.clone(), reading)
            }
            Query::Events => Answer::Events(self.events(now).await),
            Query::LatestOperation => Answer::LatestOperation(
                match read(client.latest_operation(&self.cluster).await, |raw| {
                    Some(Operation::read(raw))
                }) {
                    // The endpoint is a preview; without it the activity log tells.
                    Reading::NotFound => Reading::Known(None),
                    other => other,
                },
            ),
            Query::Operation(token) => {
                Answer::Operation(token.clone(), self.operation(token).await)
            }
            Query::Nodes | Query::Pods | Query::Pdbs => return None,
        })
    }

    async fn read_cluster(&mut self) -> Reading<Cluster> {
        let found = self.client.within(READ).cluster(&self.cluster).await;
        let reading = match found {
            Err(error) if error.is_not_found() && !no_cluster(&error) => {
                Reading::Failed(error.to_string())
            }
            found => read(found, Cluster::read),
        };
        if let Reading::Known(cluster) = &reading {
            self.node_group.clone_from(&cluster.node_resource_group);
            self.last = Some(cluster.clone());
        }
        reading
    }

    /// The node resource group.
    async fn group(&mut self) -> Result<String, Missing> {
        if self.node_group.is_none() {
            match self.read_cluster().await {
                Reading::Known(_) => {}
                Reading::NotFound => return Err(Missing::NotFound),
                Reading::Denied(code) => return Err(Missing::Denied(code)),
                Reading::Throttled(why) => return Err(Missing::Throttled(why)),
                Reading::Failed(why) => return Err(Missing::Failed(why)),
            }
        }
        let none = || Missing::Failed("the cluster has no node resource group yet".to_owned());
        self.node_group.clone().ok_or_else(none)
    }

    /// The nodes, if they are of this cluster: a kubeconfig may be of another one.
    pub(crate) async fn own(&mut self, nodes: Reading<Vec<Node>>) -> Reading<Vec<Node>> {
        let Reading::Known(list) = &nodes else { return nodes };
        let group = match self.group().await {
            Ok(group) => {
                format!("/subscriptions/{}/resourceGroups/{group}", self.cluster.subscription())
            }
            Err(missing) => return missing.of(),
        };
        match stranger(list, &group) {
            None => nodes,
            // It will not become another one by waiting.
            Some(node) => Reading::Denied(format!(
                "they are another cluster's: {} is not in {group}; --kubeconfig must be of this one",
                node.name
            )),
        }
    }

    async fn scale_set(&mut self, name: &str) -> Result<ResourceId, Missing> {
        let group = self.group().await?;
        let path = format!("virtualMachineScaleSets/{name}");
        ResourceId::of(self.cluster.subscription(), &group, "Microsoft.Compute", &path)
            .map_err(|error| Missing::Failed(error.to_string()))
    }

    /// Writes of scale sets within the window, and operations of the cluster as far back as is needed.
    async fn events(&mut self, now: Timestamp) -> Reading<Vec<ActivityEvent>> {
        let group = match self.group().await {
            Ok(group) => group,
            Err(missing) => return missing.of(),
        };
        let own_group = self.cluster.resource_group().unwrap_or_default().to_owned();
        let mut all = Vec::new();
        for (group, back) in [(&group, self.window), (&own_group, OPERATIONS)] {
            match self.log(group, back, now).await {
                Reading::Known(events) => all.extend(events),
                other => return other,
            }
        }
        let untold = self.last.as_ref().is_some_and(|last| guards::is_untold(last, &all));
        if untold && let Reading::Known(older) = self.log(&own_group, STUCK, now).await {
            all.extend(older);
        }
        Reading::Known(all)
    }

    /// The activity log of a resource group.
    async fn log(
        &self,
        group: &str,
        back: SignedDuration,
        now: Timestamp,
    ) -> Reading<Vec<ActivityEvent>> {
        let from = now.checked_sub(back + SKEW).unwrap_or(Timestamp::MIN);
        let to = now.checked_add(SKEW).unwrap_or(Timestamp::MAX);
        let query = ActivityQuery::of_group(group, from, to);
        let client = self.client.within(READ);
        let found: Result<Vec<Raw<RawEvent>>, Error> =
            client.activity_log(self.cluster.subscription(), &query).await;
        listed(found, ActivityEvent::read)
    }

    /// How an operation stands that this run, or the one that it resumes, has begun.
    async fn operation(&self, token: &str) -> Reading<Operation> {
        let Ok(mut operation) = serde_json::from_str::<mooring_arm::Operation>(token) else {
            return Reading::Failed("the token cannot be read".to_owned());
        };
        let (status, refusal) = match self.client.within(READ).poll(&mut operation).await {
            Ok(Progress::Running { .. }) => ("InProgress", None),
            Ok(Progress::Done(Outcome::Succeeded(_))) => ("Succeeded", None),
            Ok(Progress::Done(Outcome::Failed(refusal))) => ("Failed", Some(refusal)),
            Ok(Progress::Done(Outcome::Canceled(refusal) | Outcome::Replaced { refusal, .. })) => {
                ("Canceled", Some(refusal))
            }
            Ok(Progress::Done(Outcome::Lost { .. })) => return Reading::NotFound,
            Err(error) => return Missing::of_error(&error).of(),
        };
        let codes = refusal.iter().flat_map(|refusal| refusal.codes().map(str::to_owned));
        Reading::Known(Operation {
            name: operation.correlation_id().to_owned(),
            status: status.to_owned(),
            started: Some(operation.started()),
            ended: None,
            pool: None,
            codes: codes.collect(),
        })
    }

    pub(crate) async fn put_pool(&self, pool: &str, body: &Value) -> EffectResult {
        let (id, body) = match (self.pool(pool), Document::of(body)) {
            (Ok(id), Ok(body)) => (id, body),
            (Err(error), _) => return invalid(&error.to_string()),
            (_, Err(error)) => return invalid(&error.to_string()),
        };
        began(self.client.within(WRITE).put_agent_pool(&id, &body, None).await)
    }

    /// Deletes a pool. Budgets were respected by the drain before; what they still hold then are pods of dead
    /// nodes, on which the service would wait for ever.
    pub(crate) async fn delete_pool(&self, pool: &str, if_match: Option<&str>) -> EffectResult {
        let id = match self.pool(pool) {
            Ok(id) => id,
            Err(error) => return invalid(&error.to_string()),
        };
        let how = DeletePool {
            ignore_pod_disruption_budget: true,
            if_match: if_match.map(str::to_owned),
        };
        match began(self.client.within(WRITE).delete_agent_pool(&id, &how).await) {
            EffectResult::Refused { status: 404, .. } => EffectResult::AlreadyDone,
            other => other,
        }
    }

    /// Aborts the operation if it is still the one that runs. Azure's call names no operation and takes no
    /// condition, so it is looked at right before: what is left of the race is one round trip.
    pub(crate) async fn abort(
        &mut self,
        scope: &Scope,
        operation: &str,
        now: Timestamp,
    ) -> EffectResult {
        if !self.still_runs(scope, operation, now).await {
            return EffectResult::Refused {
                status: 409,
                code: "AnotherOperation".to_owned(),
                message: format!("{operation} is no longer what runs"),
                retry_after: None,
            };
        }
        let client = self.client.within(WRITE);
        match scope {
            Scope::Cluster => began(client.abort_cluster(&self.cluster).await),
            Scope::Pool(pool) => match self.pool(pool) {
                Ok(id) => began(client.abort_agent_pool(&id).await),
                Err(error) => invalid(&error.to_string()),
            },
        }
    }

    async fn still_runs(&mut self, scope: &Scope, operation: &str, now: Timestamp) -> bool {
        let mut seen = Seen::default();
        // The log is asked only if the operations endpoint does not tell: it is slow, and late.
        for query in [Query::Cluster, Query::Pools, Query::LatestOperation, Query::Events] {
            if let Some(answer) = self.observe(&query, now).await {
                seen.take(answer);
            }
            if seen.latest_operation.is_some() && guards::is_running(&seen, scope, operation) {
                return true;
            }
        }
        false
    }

    pub(crate) async fn tag(&self, name: &str, value: &str) -> EffectResult {
        let tags = BTreeMap::from([(name.to_owned(), value.to_owned())]);
        match self.client.within(WRITE).merge_tags(&self.cluster, &tags).await {
            Ok(_) => EffectResult::Done,
            Err(error) => refused(&error),
        }
    }

    fn pool(&self, name: &str) -> Result<ResourceId, ResourceIdError> {
        self.cluster.child("agentPools", name)
    }
}

/// Why a question has no answer.
pub(super) enum Missing {
    NotFound,
    Denied(String),
    Throttled(String),
    Failed(String),
}

impl Missing {
    pub(super) fn of_error(error: &Error) -> Self {
        let code = || {
            let refusal = error.refusal();
            let code = refusal.and_then(|refusal| refusal.code.clone());
            let code = code.unwrap_or_else(|| error.reason().to_owned());
            match refusal.and_then(|refusal| missing_right(&refusal.message)) {
                Some(right) => format!("{code}: needs {right}"),
                None => code,
            }
        };
        match &error.kind {
            ErrorKind::NotFound(_) => Self::NotFound,
            // A policy forbids what is asked for and not who asks; a token that was not accepted may be the next time.
            ErrorKind::Forbidden(refusal) if !refusal.has_code("RequestDisallowedByPolicy") => {
                Self::Denied(code())
            }
            _ if error.is_throttled() => Self::Throttled(error.to_string()),
            _ => Self::Failed(error.to_string()),
        }
    }

    pub(super) fn of<T>(self) -> Reading<T> {
        match self {
            Self::NotFound => Reading::NotFound,
            Self::Denied(code) => Reading::Denied(code),
            Self::Throttled(why) => Reading::Throttled(why),
            Self::Failed(why) => Reading::Failed(why),
        }
    }
}

/// True if Azure says that there is no such cluster, yet. A subscription, a version of the API or an address that is not
/// there is a mistake.
pub(super) fn no_cluster(error: &Error) -> bool {
    const CODES: [&str; 3] = ["ResourceNotFound", "ResourceGroupNotFound", "NotFound"];
    let says = |code: &&str| error.refusal().is_some_and(|refusal| refusal.has_code(code));
    error.is_not_found() && CODES.iter().any(says)
}

/// The action that somebody may not do, out of the sentence that says so.
fn missing_right(message: &str) -> Option<String> {
    let (_, rest) = message.split_once("to perform action '")?;
    rest.split_once('\'').map(|(action, _)| mooring_contract::shown(action))
}

fn read<V, T>(
    result: Result<Raw<V>, Error>,
    parse: impl FnOnce(&Value) -> Option<T>,
) -> Reading<T> {
    match result {
        Ok(raw) => serde_json::from_str(raw.text())
            .ok()
            .and_then(|value: Value| parse(&value))
            .map_or_else(|| Reading::Failed("unreadable answer".to_owned()), Reading::Known),
        Err(error) => Missing::of_error(&error).of(),
    }
}

/// The entries of a list that can be read; the others are skipped.
fn listed<V, T>(
    result: Result<Vec<Raw<V>>, Error>,
    parse: impl Fn(&Value) -> Option<T>,
) -> Reading<Vec<T>> {
    match result {
        Ok(list) => Reading::Known(
            list.iter()
                .filter_map(|raw| serde_json::from_str(raw.text()).ok())
                .filter_map(|value: Value| parse(&value))
                .collect(),
        ),
        Err(error) => Missing::of_error(&error).of(),
    }
}

fn began(result: Result<Started, Error>) -> EffectResult {
    match result {
        Ok(Started::Running(operation)) => {
            EffectResult::Started { token: serde_json::to_string(&operation).unwrap_or_default() }
        }
        Ok(Started::Done(Outcome::Succeeded(_))) => EffectResult::Done,
        Ok(Started::Done(outcome)) => {
            EffectResult::Unknown { why: format!("it ended as {outcome:?}") }
        }
        Err(error) => refused(&error),
    }
}

fn refused(error: &Error) -> EffectResult {
    // A conflict after a lost answer may be with our own request: only looking tells.
    if error.fate == Fate::Unknown {
        return EffectResult::Unknown { why: error.to_string() };
    }
    let retry_after = match &error.kind {
        ErrorKind::Throttled { retry_after: Some(pause), .. } => {
            SignedDuration::try_from(*pause).ok()
        }
        _ => None,
    };
    match error.refusal() {
        Some(refusal) => EffectResult::Refused {
            status: refusal.status,
            code: refusal.code.clone().unwrap_or_else(|| error.reason().to_owned()),
            message: refusal.message.clone(),
            retry_after,
        },
        None if matches!(error.kind, ErrorKind::Invalid(_)) => invalid(&error.to_string()),
        // Nothing was sent: no network, no token, no time, no budget. Later, perhaps.
        None => EffectResult::Refused {
            status: 503,
            code: error.reason().to_owned(),
            message: error.to_string(),
            retry_after: None,
        },
    }
}

fn invalid(why: &str) -> EffectResult {
    EffectResult::Refused {
        status: 400,
        code: "Invalid".to_owned(),
        message: why.to_owned(),
        retry_after: None,
    }
}

#[cfg(test)]
mod tests {
    use mooring_arm::Refusal;

    use super::*;

    #[test]
    fn a_right_is_missing_only_if_azure_says_so() {
        let refusal = |code: &str| Refusal { code: Some(code.into()), ..Refusal::default() };
        let denied = |kind| {
            let error = Error { kind, fate: Fate::NotDone, call: Box::default() };
            matches!(Missing::of_error(&error), Missing::Denied(_))
        };
        assert!(denied(ErrorKind::Forbidden(refusal("AuthorizationFailed"))));
        assert!(denied(ErrorKind::Forbidden(refusal("LinkedAuthorizationFailed"))));
        assert!(!denied(ErrorKind::Forbidden(refusal("RequestDisallowedByPolicy"))));
        assert!(!denied(ErrorKind::Unauthorized(refusal("InvalidAuthenticationToken"))));
        let refusal = refusal("TooManyRequests");
        assert!(!denied(ErrorKind::Throttled { refusal, retry_after: None }));
        assert!(!denied(ErrorKind::Deadline("an answer")));
    }

    #[test]
    fn only_a_cluster_that_azure_does_not_know_is_one_to_come() {
        for (code, absent) in [
            (Some("ResourceNotFound"), true),
            (Some("ResourceGroupNotFound"), true),
            (Some("NotFound"), true),
            (Some("SubscriptionNotFound"), false),
            (Some("InvalidResourceType"), false),
            (None, false),
        ] {
            let refusal = Refusal { code: code.map(str::to_owned), ..Refusal::default() };
            let kind = ErrorKind::NotFound(refusal);
            let error = Error { kind, fate: Fate::NotDone, call: Box::default() };
            assert_eq!(no_cluster(&error), absent, "{code:?}");
        }
    }
}
