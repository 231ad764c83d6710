//! The report of `detect`.

use std::fmt;

use jiff::Timestamp;
use serde::Serialize;

use crate::checks;
use crate::checks::verdict::{Detection, WedgeVerdict, verdict};
use crate::observation::{ClusterView, Pool};
use crate::operation::{OngoingOperation, OperationScope, running};
use crate::settings::Settings;
use crate::temporary_pool::TemporaryPool;
use crate::workflow::Services;
use mooring_workflow::reading::{Reading, once};

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DetectionReport {
    #[serde(skip)]
    pub at: Timestamp,
    #[serde(skip)]
    pub cluster: String,
    #[serde(rename = "name")]
    pub pool: String,
    /// The cluster does not exist; a pipeline treats that as a future rollout.
    #[serde(skip)]
    pub greenfield: bool,
    #[serde(flatten)]
    pub detection: Detection,
    /// The running operation, if identified.
    pub operation: Option<RunningOperation>,
    /// Temporary pool of an unfinished run.
    pub temporary_pool: Option<TemporaryPool>,
    /// Names of all pools, if the pool is not among them and no run has deleted it.
    #[serde(skip)]
    pub other_pools: Option<Vec<String>>,
}

/// A pool that `detect` cannot evaluate: stopped, or of another type or mode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkippedPool {
    #[serde(rename = "name")]
    pub pool: String,
    #[serde(rename = "explanation")]
    pub why: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunningOperation {
    /// Id in the operations endpoint or the activity log.
    #[serde(rename = "operationId")]
    pub id: String,
    #[serde(rename = "startedAt")]
    pub since: Timestamp,
    /// None for an operation of the cluster.
    pub pool: Option<String>,
    /// Too recent to abort.
    #[serde(rename = "isTooRecent")]
    pub left_alone: bool,
    pub seconds: i64,
}

impl RunningOperation {
    fn of(view: &ClusterView, settings: &Settings, now: Timestamp) -> Option<Self> {
        let OngoingOperation::One { id, started, scope } = running(view) else { return None };
        let age = now.duration_since(started);
        Some(Self {
            id,
            since: started,
            pool: match scope {
                OperationScope::Cluster => None,
                OperationScope::Pool(pool) => Some(pool),
            },
            left_alone: age < settings.limits.operation_age,
            seconds: age.as_secs(),
        })
    }
}

impl fmt::Display for RunningOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "operation {} on ", self.id)?;
        match &self.pool {
            Some(pool) => write!(f, "pool {pool}")?,
            None => f.write_str("the cluster")?,
        }
        write!(f, " has been running for {}m", self.seconds / 60)?;
        if self.left_alone { f.write_str("; too recent to abort") } else { Ok(()) }
    }
}

/// Makes the reads of `detect` that a view lacks.
pub async fn read(services: &impl Services, view: &ClusterView, settings: &Settings) {
    if *once(&view.cluster, services.cluster()).await == Reading::NotFound {
        return;
    }
    checks::read_verdict(services, view, &settings.target.pool).await;
    once(&view.uid, services.uid()).await;
    if running(view) != OngoingOperation::Nothing {
        once(&view.latest_operation, services.latest_operation()).await;
    }
}

pub fn detect(view: &ClusterView, settings: &Settings, now: Timestamp) -> DetectionReport {
    let greenfield = matches!(view.cluster.get(), Some(Reading::NotFound));
    let detection = if greenfield {
        Detection { verdict: WedgeVerdict::Unknown, checks: Vec::new() }
    } else {
        let checks = checks::evaluate(view, settings, now);
        Detection { verdict: verdict(&checks), checks }
    };
    let pools = view.pools.get().and_then(Reading::known);
    let name = &settings.target.pool;
    let temporary_pool = pools.and_then(|pools| TemporaryPool::of(pools, name));
    DetectionReport {
        at: now,
        cluster: settings.target.cluster.clone(),
        pool: settings.target.pool.clone(),
        greenfield,
        detection,
        operation: RunningOperation::of(view, settings, now),
        other_pools: pools.and_then(|pools| other_pools(pools, name)),
        temporary_pool,
    }
}

/// Returns the names of all pools if none has this name and no run has deleted it. AKS Automatic does not list its system
/// pool.
pub(crate) fn other_pools(pools: &[Pool], name: &str) -> Option<Vec<String>> {
    let is_listed =
        pools.iter().any(|pool| pool.name == name) || TemporaryPool::of(pools, name).is_some();
    let is_complete = pools.iter().any(Pool::is_system);
    (is_complete && !is_listed).then(|| pools.iter().map(|pool| pool.name.clone()).collect())
}
