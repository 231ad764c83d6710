//! Detects a wedge and plans a rebuild, without changes.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use mooring_workflow::approval::ApprovalToken;
use mooring_workflow::published::SourceName;
use mooring_workflow::reading::once;
use mooring_workflow::{CheckResult, Outcome, Reading, live};

use super::capacity;
use super::operator::{Grace, Operator};
use super::permissions::read_access_rules;
use crate::checks::{self, Capacity};
use crate::names::{PURPOSE, PURPOSE_TAG, SOURCE_TAG};
use crate::observation::{ClusterView, Pool, pool_name_of_id};
use crate::operation::{self, deletions};
use crate::plan::{self, Plan, PlanError};
use crate::present::report::{DetectionReport, SkippedPool, detect, other_pools, read};
use crate::settings::Settings;
use crate::start::resume::{ResumeBasis, resume_basis};
use crate::temporary_pool::TemporaryPool;
use crate::workflow::{Run, Services as _, first_abort};

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

    pub async fn detect(&mut self) -> DetectionReport {
        self.detect_into(&mut ClusterView::default()).await
    }

    /// Evaluates all pools of the cluster with the same reads. Fails if the pools cannot be listed.
    pub async fn detect_all(
        &mut self,
    ) -> Result<(Vec<DetectionReport>, Vec<SkippedPool>), DetectionReport> {
        let mut view = ClusterView::default();
        let first = self.detect_into(&mut view).await;
        let Some(pools) = view.pools.get().and_then(Reading::known).cloned() else {
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
        if self.uid.is_none() {
            self.uid = self.live.uid().await.known().cloned();
        }
        self.uid.clone()
    }

    async fn detect_into(&mut self, view: &mut ClusterView) -> DetectionReport {
        loop {
            // Its reads are joined, so its future is large.
            Box::pin(read(&self.live, view, &self.settings)).await;
            if let Some(Reading::Known(uid)) = view.uid.get() {
                self.uid = Some(uid.clone());
            }
            let report = detect(view, &self.settings, self.process.now());
            let denied = view.denied().find(|(source, ..)| *source == SourceName::Azure);
            let Some(why) = denied.map(|(.., why)| why.to_owned()) else { return report };
            if !self.wait_for_permission(&report, &why).await {
                return report;
            }
            *view = ClusterView::default();
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
        let aborted = unfinished.and_then(first_abort);
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
        if !report.greenfield {
            once(&view.pods, self.live.pods()).await;
            once(&view.pdbs, self.live.pdbs()).await;
        }
        let capacity = Box::pin(self.read_capacity(&view)).await;
        let expires = expires.unwrap_or_else(|| ApprovalToken::expiry(self.process.now()));
        let checks = &report.detection.checks;
        let plan = plan::build(&view, &self.settings, &capacity, checks, expires);
        Examined { plan, denied: denied(&view, &capacity), report }
    }

    async fn read_capacity(&self, view: &ClusterView) -> Capacity {
        let target = &self.settings.target;
        let cluster = view.cluster.get().and_then(Reading::known);
        let pools = view.pools.get().and_then(Reading::known);
        let pool = pools.and_then(|pools| pools.iter().find(|pool| pool.name == target.pool));
        match (cluster, pool) {
            (Some(cluster), Some(pool)) => {
                let client = &self.live.client;
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
        match self.live.pools().await {
            Reading::Known(pools) => Ok(resume_basis(state, &pools)),
            other => Err(format!("the pools {}", other.missing().unwrap_or_default())),
        }
    }

    /// Extends the window of the activity log to that of the checks and the age of the run.
    pub(super) fn extend_window(&mut self, settings: &Settings, since: SignedDuration) {
        let back = settings.fail_window.saturating_add(settings.limits.overall);
        let back = back.saturating_add(since.max(SignedDuration::ZERO));
        self.live.window.set(back);
    }

    /// Returns true if Azure does not find the cluster.
    pub async fn is_absent(&mut self) -> bool {
        matches!(self.live.cluster().await, Reading::NotFound)
    }

    /// Returns the names of all pools, if the pool is not among them and no run has deleted it.
    pub async fn other_pools(&mut self) -> Option<Vec<String>> {
        other_pools(self.live.pools().await.known()?, &self.settings.target.pool)
    }

    /// Returns true if Karpenter has a NodePool with the name of the pool.
    pub async fn is_node_pool(&mut self) -> bool {
        let pool = self.settings.target.pool.clone();
        match self.live.kube().await {
            Ok(kube) => matches!(kube.node_pool(&pool).await, Reading::Known(())),
            Err(_) => false,
        }
    }

    /// Returns the temporary pool of an unfinished run, regardless of its journal.
    pub async fn temporary_pool(&mut self) -> Option<TemporaryPool> {
        TemporaryPool::of(self.live.pools().await.known()?, &self.settings.target.pool)
    }
}

/// Returns the checks of a plan whose reads are not permitted.
fn denied(view: &ClusterView, capacity: &Capacity) -> Vec<CheckResult> {
    let of_view = view.denied().map(|(_, check, why)| (check, why));
    let mut denied: Vec<CheckResult> = of_view
        .chain(capacity.denied())
        .map(|(check, why)| {
            CheckResult::new(check, Outcome::Unknown, format!("not permitted ({why})"))
        })
        .collect();
    // One permission is read at many scopes.
    denied.dedup();
    denied
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
