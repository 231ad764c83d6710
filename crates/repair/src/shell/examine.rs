//! What is read before anything is changed: the pool is judged, and its rebuilding planned.

use jiff::{SignedDuration, Timestamp};
use mooring_workflow::Reading;
use mooring_workflow::approval::ApprovalToken;
use mooring_workflow::live;
use mooring_workflow::workflow::View as _;

use super::adapter;
use super::capacity;
use super::grace::Grace;
use super::operator::Operator;
use super::rights::rights;
use crate::checks::{self, Capacity};
use crate::observation::{ClusterView, Query};
use crate::operation::{self, deletions};
use crate::plan::{self, Plan, PlanError};
use crate::report::{DetectionReport, detect, queries};
use crate::resume::{Footing, footing};
use crate::settings::Settings;
use crate::temporary_pool::TemporaryPool;
use crate::workflow::{RepairRun as _, Run};

/// Between two looks at what may not be read yet.
const FIRST_PAUSE: SignedDuration = SignedDuration::from_secs(10);
const MAX_PAUSE: SignedDuration = SignedDuration::from_secs(60);

/// What was found before anything is changed.
pub struct Examined {
    /// The guards and the verdict.
    pub report: DetectionReport,
    /// The plan, or why there is none.
    pub plan: Result<Plan, PlanError>,
}

impl Operator {
    /// Waits this long for the right to read the activity log: one that was given a moment ago is not everywhere yet.
    pub fn await_rights(&mut self, most: SignedDuration, say: Box<dyn FnMut(&str)>) {
        self.grace = Some(Grace { most, say });
    }

    async fn look(&mut self, seen: &mut ClusterView, query: &Query) {
        let kube = match query {
            Query::Nodes | Query::Pods | Query::Pdbs | Query::Replicas(_) => self.kube().await,
            _ => Err(String::new().into()),
        };
        let kube = kube.map_err(|unreached| unreached.why().to_owned());
        let began = self.process.now();
        let mut pause = FIRST_PAUSE;
        loop {
            let now = self.process.now();
            seen.take(adapter::read(&mut self.azure, kube.as_ref(), query, now).await);
            let (Some(Reading::Denied(why)), Query::Events) = (&seen.events, query) else { return };
            let Some(grace) = &mut self.grace else { return };
            let left = grace.most - now.duration_since(began);
            if !left.is_positive() || *self.process.stop.borrow() {
                return;
            }
            let minutes = grace.most.as_mins();
            (grace.say)(&format!(
                "the activity log may not be read ({why}); a right that was just given is waited for, {minutes} minutes"
            ));
            live::pause(pause.min(left), &self.process.stop).await;
            pause = (pause * 2).min(MAX_PAUSE);
        }
    }

    /// Judges the pool, strictly reading.
    pub async fn detect(&mut self) -> DetectionReport {
        self.detect_into(&mut ClusterView::default()).await
    }

    async fn detect_into(&mut self, seen: &mut ClusterView) -> DetectionReport {
        loop {
            let queries = queries(seen, &self.settings);
            let Some(query) = queries.iter().find(|query| !seen.has(query)) else {
                return detect(seen, &self.settings, self.process.now());
            };
            self.look(seen, query).await;
        }
    }

    /// Judges the pool and plans its rebuilding, strictly reading. The plan can be begun until `expires`, or within the
    /// hour. `unfinished` is a run that the plan would continue: what it aborted counts, if Azure's own log shows it.
    pub async fn examine(
        &mut self,
        expires: Option<Timestamp>,
        unfinished: Option<&Run>,
    ) -> Examined {
        let mut seen = ClusterView::default();
        let aborted = unfinished.and_then(Run::first_abort);
        if let Some(at) = aborted {
            self.look_back(&self.settings.clone(), self.process.now().duration_since(at));
        }
        let mut report = self.detect_into(&mut seen).await;
        let pool = &self.settings.target.pool;
        if let Some(at) = aborted.and_then(|since| operation::aborted(&seen, pool, since)) {
            let now = self.process.now();
            let settings = self.settings.clone().after_abort(at, now);
            report = detect(&seen, &settings, now);
        }
        for query in [Query::Pods, Query::Pdbs] {
            if !report.greenfield {
                self.look(&mut seen, &query).await;
            }
        }
        let around = self.surroundings(&seen).await;
        let expires = expires.unwrap_or_else(|| ApprovalToken::expiry(self.process.now()));
        let guards = &report.detection.guards;
        Examined { plan: plan::build(&seen, &self.settings, &around, guards, expires), report }
    }

    async fn surroundings(&self, seen: &ClusterView) -> Capacity {
        let target = &self.settings.target;
        let cluster = seen.cluster.as_ref().and_then(Reading::known);
        let pools = seen.pools.as_ref().and_then(Reading::known);
        let pool = pools.and_then(|pools| pools.iter().find(|pool| pool.name == target.pool));
        match (cluster, pool) {
            (Some(cluster), Some(pool)) => {
                let client = self.azure.client();
                let around = capacity::surroundings(client, &target.subscription, cluster, pool);
                let needs = checks::needs(seen, &self.settings, cluster, pool);
                Capacity {
                    deletions: deletions(seen, &target.pool, self.process.now()),
                    rights: rights(client, &needs).await,
                    ..around.await
                }
            }
            _ => Capacity::unread(),
        }
    }

    /// Returns what an unfinished run can rely on besides its journal.
    pub async fn footing(&mut self, state: &Run) -> Result<Footing, String> {
        let mut seen = ClusterView::default();
        self.look(&mut seen, &Query::Pools).await;
        match &seen.pools {
            Some(Reading::Known(pools)) => Ok(footing(state, pools)),
            other => {
                let why = other.as_ref().and_then(Reading::missing).unwrap_or_default();
                Err(format!("the pools {why}"))
            }
        }
    }

    /// Reads the activity log as far back as the guards look, and as a run takes that began so long ago.
    pub(super) fn look_back(&mut self, settings: &Settings, since: SignedDuration) {
        let back = settings.fail_window.saturating_add(settings.limits.overall);
        let back = back.saturating_add(since.max(SignedDuration::ZERO));
        self.azure.look_back(back);
    }

    /// Returns true if Azure answers that there is no such cluster.
    pub async fn is_absent(&mut self) -> bool {
        let mut seen = ClusterView::default();
        self.look(&mut seen, &Query::Cluster).await;
        matches!(seen.cluster, Some(Reading::NotFound))
    }

    /// The temporary pool of a run that is not over, wherever its journal is.
    pub async fn temporary_pool(&mut self) -> Option<TemporaryPool> {
        let mut seen = ClusterView::default();
        self.look(&mut seen, &Query::Pools).await;
        TemporaryPool::of(seen.pools.as_ref()?.known()?, &self.settings.target.pool)
    }
}
