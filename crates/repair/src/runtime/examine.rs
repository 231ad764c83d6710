//! Detects a wedge and plans a rebuild, without changes.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use mooring_workflow::approval::ApprovalToken;
use mooring_workflow::workflow::View as _;
use mooring_workflow::{CheckResult, Outcome, Reading, live};

use super::operator::{Grace, Operator};
use super::permissions::read_access_rules;
use super::{adapter, capacity};
use crate::checks::{
    self, CLUSTER_STATE, CLUSTER_UID, Capacity, FAILING_WRITES, MISSING_NODES, OTHER_OPERATION,
    OTHER_POOLS, PDB, WORKLOADS,
};
use crate::names::{PURPOSE, PURPOSE_TAG, SOURCE_TAG};
use crate::observation::{Answer, ClusterView, Pool, Query, pool_name_of_id};
use crate::operation::{self, deletions};
use crate::plan::{self, Plan, PlanError};
use crate::pool::temporary_pool::TemporaryPool;
use crate::present::report::{DetectionReport, SkippedPool, detect, other_pools, queries};
use crate::settings::Settings;
use crate::start::resume::{ResumeBasis, resume_basis};
use crate::workflow::{RepairRun as _, Run};

/// First pause while waiting for permissions.
const FIRST_PAUSE: SignedDuration = SignedDuration::from_secs(5);

pub struct Examined {
    pub report: DetectionReport,
    pub plan: Result<Plan, PlanError>,
    /// Checks of the plan whose reads are not permitted.
    pub denied: Vec<CheckResult>,
}

impl Operator {
    /// Waits for permissions, for at most this time in all: new role assignments take time to propagate.
    pub fn wait_for_permissions(&mut self, limit: SignedDuration, report: Box<dyn FnMut(&str)>) {
        self.grace = Some(Grace { limit, left: limit, pause: FIRST_PAUSE, report });
    }

    /// Waits for a permission of Azure if the result depends on it. Returns true if its read is to be repeated.
    async fn wait_for_permission(&mut self, report: &DetectionReport, why: &str) -> bool {
        let is_decided = report.detection.checks.iter().any(|check| check.outcome == Outcome::Fail);
        let Some(grace) = &mut self.grace else { return false };
        if is_decided || !grace.left.is_positive() || *self.process.stop.borrow() {
            return false;
        }
        let seconds = grace.limit.as_secs();
        (grace.report)(&format!("waiting up to {seconds}s for a permission: {why}"));
        let pause = grace.pause.min(grace.left);
        grace.left -= pause;
        grace.pause *= 2;
        live::pause(pause, &self.process.stop).await;
        true
    }

    async fn read_into(&mut self, view: &mut ClusterView, query: &Query) {
        let kube =
            if query.is_of_kubernetes() { self.kube().await } else { Err(String::new().into()) };
        let kube = kube.map_err(|unreached| unreached.why().to_owned());
        let now = self.process.now();
        let answer = adapter::read(&mut self.azure, kube.as_ref(), query, now).await;
        let source = usize::from(!query.is_of_kubernetes());
        self.sources[source].add(now, self.process.now(), answer.error());
        if let Answer::Uid(Reading::Known(uid)) = &answer {
            self.uid = Some(uid.clone());
        }
        view.take(answer);
    }

    pub async fn detect(&mut self) -> DetectionReport {
        self.detect_into(&mut ClusterView::default()).await
    }

    /// Evaluates all pools of the cluster with the same reads. Fails if the pools cannot be listed.
    pub async fn detect_all(
        &mut self,
    ) -> Result<(Vec<DetectionReport>, Vec<SkippedPool>), DetectionReport> {
        let mut view = ClusterView::default();
        let first = self.detect_into(&mut view).await;
        let Some(pools) = view.pools.as_ref().and_then(Reading::known).cloned() else {
            return Err(first);
        };
        let (mut reports, mut skipped) = (Vec::new(), Vec::new());
        let selected = self.settings.target.pool.clone();
        for (pool, why) in all_pools(&pools) {
            if let Some(why) = why {
                skipped.push(SkippedPool { pool, why });
                continue;
            }
            self.select_pool(&pool);
            reports.push(self.detect_into(&mut view).await);
        }
        self.select_pool(&selected);
        Ok((reports, skipped))
    }

    /// Returns the uid of the cluster, read once: the connection accepts the certificates of one cluster only.
    pub(super) async fn read_uid(&mut self) -> Option<String> {
        if self.uid.is_some() {
            return self.uid.clone();
        }
        let mut view = ClusterView::default();
        self.read_into(&mut view, &Query::Uid).await;
        view.uid.as_ref().and_then(Reading::known).cloned()
    }

    async fn detect_into(&mut self, view: &mut ClusterView) -> DetectionReport {
        loop {
            let queries = queries(view, &self.settings);
            if let Some(query) = queries.iter().find(|query| !view.has(query)) {
                self.read_into(view, query).await;
                continue;
            }
            let report = detect(view, &self.settings, self.process.now());
            let is_denied =
                |query: &Query| !query.is_of_kubernetes() && view.denied(query).is_some();
            let denied: Vec<Query> = queries.into_iter().filter(is_denied).collect();
            let why = denied.first().and_then(|query| view.denied(query)).map(str::to_owned);
            let Some(why) = why else { return report };
            if !self.wait_for_permission(&report, &why).await {
                return report;
            }
            for query in &denied {
                self.read_into(view, query).await;
            }
        }
    }

    /// Evaluates the pool and plans its rebuild. The plan can be started until `expires`, or within the hour. `unfinished` is a
    /// run that the plan would continue: its aborts count if the activity log shows them.
    pub async fn examine(
        &mut self,
        expires: Option<Timestamp>,
        unfinished: Option<&Run>,
    ) -> Examined {
        let mut view = ClusterView::default();
        let aborted = unfinished.and_then(Run::first_abort);
        if let Some(at) = aborted {
            self.extend_window(&self.settings.clone(), self.process.now().duration_since(at));
        }
        let mut report = self.detect_into(&mut view).await;
        let pool = &self.settings.target.pool;
        if let Some(at) = aborted.and_then(|since| operation::aborted(&view, pool, since)) {
            let now = self.process.now();
            let settings = self.settings.clone().after_abort(at, now);
            report = detect(&view, &settings, now);
        }
        for query in [Query::Pods, Query::Pdbs] {
            if !report.greenfield {
                self.read_into(&mut view, &query).await;
            }
        }
        let capacity = self.read_capacity(&view).await;
        let expires = expires.unwrap_or_else(|| ApprovalToken::expiry(self.process.now()));
        let checks = &report.detection.checks;
        let plan = plan::build(&view, &self.settings, &capacity, checks, expires);
        Examined { plan, denied: denied(&view, &self.settings, &capacity), report }
    }

    async fn read_capacity(&self, view: &ClusterView) -> Capacity {
        let target = &self.settings.target;
        let cluster = view.cluster.as_ref().and_then(Reading::known);
        let pools = view.pools.as_ref().and_then(Reading::known);
        let pool = pools.and_then(|pools| pools.iter().find(|pool| pool.name == target.pool));
        match (cluster, pool) {
            (Some(cluster), Some(pool)) => {
                let client = self.azure.client();
                let capacity = capacity::read_capacity(client, &target.subscription, cluster, pool);
                let needs = checks::needs(view, &self.settings, cluster, pool);
                Capacity {
                    deletions: deletions(view, &target.pool, self.process.now()),
                    rights: read_access_rules(client, &needs).await,
                    ..capacity.await
                }
            }
            _ => Capacity::unread(),
        }
    }

    /// Returns what an unfinished run can rely on in addition to its journal.
    pub async fn resume_basis(&mut self, state: &Run) -> Result<ResumeBasis, String> {
        let mut view = ClusterView::default();
        self.read_into(&mut view, &Query::Pools).await;
        match &view.pools {
            Some(Reading::Known(pools)) => Ok(resume_basis(state, pools)),
            other => {
                let why = other.as_ref().and_then(Reading::missing).unwrap_or_default();
                Err(format!("the pools {why}"))
            }
        }
    }

    /// Extends the window of the activity log to that of the checks and the age of the run.
    pub(super) fn extend_window(&mut self, settings: &Settings, since: SignedDuration) {
        let back = settings.fail_window.saturating_add(settings.limits.overall);
        let back = back.saturating_add(since.max(SignedDuration::ZERO));
        self.azure.extend_window(back);
    }

    /// Returns true if Azure does not find the cluster.
    pub async fn is_absent(&mut self) -> bool {
        let mut view = ClusterView::default();
        self.read_into(&mut view, &Query::Cluster).await;
        matches!(view.cluster, Some(Reading::NotFound))
    }

    /// Returns the names of all pools, if the pool is not among them and no run has deleted it.
    pub async fn other_pools(&mut self) -> Option<Vec<String>> {
        let mut view = ClusterView::default();
        self.read_into(&mut view, &Query::Pools).await;
        other_pools(view.pools.as_ref()?.known()?, &self.settings.target.pool)
    }

    /// Returns true if Karpenter has a NodePool with the name of the pool.
    pub async fn is_node_pool(&mut self) -> bool {
        let pool = self.settings.target.pool.clone();
        match self.kube().await {
            Ok(kube) => matches!(kube.node_pool(&pool).await, Reading::Known(())),
            Err(_) => false,
        }
    }

    /// Returns the temporary pool of an unfinished run, regardless of its journal.
    pub async fn temporary_pool(&mut self) -> Option<TemporaryPool> {
        let mut view = ClusterView::default();
        self.read_into(&mut view, &Query::Pools).await;
        TemporaryPool::of(view.pools.as_ref()?.known()?, &self.settings.target.pool)
    }
}

/// Returns the checks of a plan whose reads are not permitted.
fn denied(view: &ClusterView, settings: &Settings, capacity: &Capacity) -> Vec<CheckResult> {
    let mut reads = queries(view, settings);
    reads.extend([Query::Pods, Query::Pdbs]);
    let of_view = reads.iter().filter_map(|query| Some((check_of(query), view.denied(query)?)));
    let all = of_view.chain(capacity.denied());
    let mut denied: Vec<CheckResult> = all
        .map(|(check, why)| {
            CheckResult::new(check, Outcome::Unknown, format!("not permitted ({why})"))
        })
        .collect();
    // One permission is read at many scopes.
    denied.dedup();
    denied
}

/// Returns the check that depends on a read.
fn check_of(query: &Query) -> &'static str {
    match query {
        Query::Cluster => CLUSTER_STATE,
        Query::Pools => OTHER_POOLS,
        Query::ScaleSets | Query::Nics(_) | Query::Events => FAILING_WRITES,
        Query::Instances(_) | Query::Nodes => MISSING_NODES,
        Query::LatestOperation | Query::Operation(_) => OTHER_OPERATION,
        Query::Uid => CLUSTER_UID,
        Query::Pods | Query::Pdbs => PDB,
        Query::Replicas(_) => WORKLOADS,
    }
}

/// Returns the pools to evaluate, sorted by name, each with the reason why it cannot be. A pool that a run deleted is known by
/// the tag of its temporary pool.
fn all_pools(pools: &[Pool]) -> BTreeMap<String, Option<String>> {
    let is_temporary = |pool: &&Pool| pool.tag(PURPOSE_TAG).as_deref() == Some(PURPOSE);
    let sources = pools.iter().filter(is_temporary).filter_map(|pool| pool.tag(SOURCE_TAG));
    let mut all: BTreeMap<String, Option<String>> =
        sources.filter_map(|id| Some((pool_name_of_id(&id)?.to_owned(), None))).collect();
    for pool in pools.iter().filter(|pool| !is_temporary(pool)) {
        all.insert(pool.name.clone(), pool.not_rebuildable());
    }
    all
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn all_pools_include_deleted_and_omit_temporary_ones() {
        let id = "/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/c/agentPools/gone";
        let pools = [
            json!({"name": "user", "properties": {"mode": "User", "type": "VirtualMachineScaleSets"}}),
            json!({"name": "tmpx", "properties": {"tags": {PURPOSE_TAG: PURPOSE, SOURCE_TAG: id}}}),
            json!({"name": "off", "properties": {"type": "VirtualMachineScaleSets", "powerState": {"code": "Stopped"}}}),
        ]
        .map(|pool| Pool::read(&pool).unwrap());
        let all = all_pools(&pools);
        assert_eq!(all.keys().collect::<Vec<_>>(), ["gone", "off", "user"]);
        assert_eq!((&all["gone"], &all["user"]), (&None, &None));
        assert!(all["off"].as_ref().is_some_and(|why| why.contains("stopped")), "{all:?}");
    }
}
