//! Snapshots of the controller: its own NodeClaims, and objects that it may read. No page causes a read of Azure.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use mooring_controller::notify::Notifications;
use mooring_controller::record::{self, counts};
use mooring_controller::run::{Api, Clock, Health, View, ViewRequest};
use mooring_inventory::{ClaimItem, ControllerState, Facts, Inventory, NodeItem};
use mooring_page::{ControllerDetails, Live, Mode, Snapshot};
use mooring_workflow::published::{ClusterIdentity, Source, SourceName, SourceState};
use mooring_workflow::status::RunStatus;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::runs;
use crate::cluster::list_nodes;

/// At most two snapshots per second.
const PAUSE: Duration = Duration::from_millis(500);
const LEASE_PAUSE: Duration = Duration::from_secs(5);
/// Journals are read this often during a run, and otherwise as [`SLOW_PAUSE`].
const RUNS_PAUSE: Duration = Duration::from_secs(2);
/// The record is read again after a change, but not more often.
const RECORD_PAUSE: Duration = Duration::from_secs(1);
/// Objects that rarely change, or cost much.
const SLOW_PAUSE: Duration = Duration::from_secs(15);

/// Parts of the running controller.
pub(crate) struct Feed {
    pub(crate) client: kube::Client,
    pub(crate) api: Api,
    pub(crate) views: mpsc::Sender<ViewRequest>,
    pub(crate) clock: Clock,
    pub(crate) health: Arc<Health>,
    pub(crate) notifications: Notifications,
    pub(crate) namespace: String,
    pub(crate) instance: String,
    pub(crate) identity: ClusterIdentity,
}

/// Objects that were read, and when.
#[derive(Default)]
struct Known {
    /// Without its NodeClaims.
    view: Option<View>,
    claims: Vec<ClaimItem>,
    lease: Option<Value>,
    lease_at: Option<Instant>,
    record: Option<record::Document>,
    record_error: Option<String>,
    record_at: Option<Instant>,
    counts: Option<Arc<counts::Document>>,
    nodes: Vec<NodeItem>,
    version: Option<String>,
    slow_at: Option<Instant>,
    runs: Option<Vec<RunStatus>>,
    runs_at: Option<Instant>,
}

/// Publishes snapshots while a page is open. Ends with the controller.
pub(crate) async fn follow(live: Arc<Live>, feed: Feed) {
    let mut known = Known::default();
    loop {
        live.wanted().await;
        let is_due = feed.refresh(&mut known).await;
        if is_due && let Some(snapshot) = feed.snapshot(&known) {
            live.publish(snapshot);
        }
        tokio::time::sleep(PAUSE).await;
    }
}

fn is_due(at: Option<Instant>, pause: Duration) -> bool {
    at.is_none_or(|at| at.elapsed() >= pause)
}

impl Feed {
    /// Reads what may have changed. Returns true if a new snapshot is due.
    async fn refresh(&self, known: &mut Known) -> bool {
        let (reply, answer) = oneshot::channel();
        let seen = known.view.as_ref().map_or(0, |view| view.generation);
        let is_sent = self.views.send(ViewRequest { seen, reply }).await.is_ok();
        let view = if is_sent { answer.await.ok().flatten() } else { None };
        let has_changed = view.is_some();
        if let Some(mut view) = view {
            let claims = std::mem::take(&mut view.claims).into_iter();
            let item = |claim| ClaimItem { claim, launch_error: None, is_initialized: false };
            known.claims = claims.map(item).collect();
            known.view = Some(view);
        }
        let mut is_read = false;
        if is_due(known.lease_at, LEASE_PAUSE) {
            let path = format!(
                "/apis/coordination.k8s.io/v1/namespaces/{}/leases/mooring",
                self.namespace
            );
            known.lease = self.get(&path).await.ok().flatten();
            known.lease_at = Some(Instant::now());
            is_read = true;
        }
        let pause = if has_changed { RECORD_PAUSE } else { SLOW_PAUSE };
        if is_due(known.record_at, pause) {
            self.read_record(known).await;
            is_read = true;
        }
        if is_due(known.slow_at, SLOW_PAUSE) {
            self.read_slow(known).await;
            is_read = true;
        }
        let is_running = known.runs.iter().flatten().any(|run| run.step.is_some());
        if is_due(known.runs_at, if is_running { RUNS_PAUSE } else { SLOW_PAUSE }) {
            known.runs_at = Some(Instant::now());
            known.runs = runs::read(&self.client, &self.namespace).await;
            is_read = true;
        }
        has_changed || is_read
    }

    /// Returns an object; none if it does not exist.
    async fn get(&self, path: &str) -> Result<Option<Value>, String> {
        match self.api.get(path).await {
            Ok(text) => Ok(serde_json::from_str(&text).ok()),
            Err(error) if error.status == Some(404) => Ok(None),
            Err(error) => Err(error.what),
        }
    }

    async fn read_record(&self, known: &mut Known) {
        known.record_at = Some(Instant::now());
        let read = self.get(&record::path(&self.namespace)).await;
        let parsed = read.and_then(|object| {
            let document = object.map(|object| record::Document::from_config_map(&object));
            document.transpose().map_err(|error| error.to_string())
        });
        (known.record, known.record_error) = match parsed {
            Ok(document) => (document, None),
            Err(why) => (known.record.take(), Some(why)),
        };
    }

    async fn read_slow(&self, known: &mut Known) {
        known.slow_at = Some(Instant::now());
        let counts = self.get(&counts::path(&self.namespace)).await.ok().flatten();
        let counts = counts.and_then(|object| counts::Document::from_config_map(&object).ok());
        known.counts = counts.map(Arc::new).or_else(|| known.counts.take());
        if let Ok(Some(listed)) = list_nodes(&self.api).await {
            known.nodes = listed.items;
        }
        if known.version.is_none() {
            let version = self.get("/version").await.ok().flatten();
            let version = version.and_then(|found| found["gitVersion"].as_str().map(str::to_owned));
            known.version = version;
        }
    }

    /// Merges what is known; none before the first view.
    fn snapshot(&self, known: &Known) -> Option<Snapshot> {
        let view = known.view.as_ref()?;
        let now = (self.clock)();
        let controller = self.controller(known, now);
        let region =
            |node: &NodeItem| node.label("topology.kubernetes.io/region").map(str::to_owned);
        let facts = Facts {
            identity: self.identity.clone(),
            region: known.nodes.iter().find_map(region),
            version: known.version.clone(),
            inventory: Inventory {
                counts: known.counts.clone(),
                ..Inventory::merge(&known.claims, &known.nodes, known.record.as_ref(), now)
            },
            node_pools: node_pools(known),
            has_karpenter: true,
            lost: known.nodes.iter().filter_map(|node| node.lost(now)).collect(),
            has_versions: None,
            sources: sources(known, &controller, now),
            controller,
            record: known.record.clone(),
            warnings: Vec::new(),
            now,
        };
        let mode = if view.leads { Mode::Leader } else { Mode::Follower };
        let details = Some(self.details(view, now));
        Some(Snapshot { facts, runs: known.runs.clone(), mode, details })
    }

    fn controller(&self, known: &Known, now: Timestamp) -> ControllerState {
        let mut state = ControllerState {
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            ..ControllerState::unknown(self.namespace.clone())
        };
        if let Some(lease) = &known.lease {
            state.add_lease(lease, now);
        }
        state
    }

    fn details(&self, view: &View, now: Timestamp) -> ControllerDetails {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a small number of reads"
        )]
        let azure_reads_left = view.arm.budget_left.max(0.0) as u64;
        ControllerDetails {
            instance: self.instance.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            error: self.health.readyz(now).err(),
            pending: view.lengths.pending,
            waiting: view.lengths.waiting,
            azure_requests: view.arm.requests,
            azure_throttled: view.arm.throttled,
            azure_reads_left,
            hooks: self.notifications.statuses.all(),
        }
    }
}

/// Returns the NodePools of NodeClaims and Nodes. One that has neither is not known: the controller reads no NodePools.
fn node_pools(known: &Known) -> Vec<String> {
    let of_claims = known.claims.iter().filter_map(|item| item.claim.pool.as_deref());
    let of_nodes = known.nodes.iter().filter_map(|node| node.label("karpenter.sh/nodepool"));
    let pools: BTreeSet<&str> = of_claims.chain(of_nodes).collect();
    pools.into_iter().map(str::to_owned).collect()
}

fn sources(known: &Known, controller: &ControllerState, now: Timestamp) -> Vec<Source> {
    let cluster =
        Source { state: SourceState::Read, at: Some(now), ..Source::new(SourceName::Cluster) };
    let state = match (&known.record, &known.record_error, controller.is_running()) {
        (_, Some(_), _) => SourceState::Failed,
        (None, None, _) => SourceState::Absent,
        (Some(_), None, true) => SourceState::Read,
        (Some(_), None, false) => SourceState::Stale,
    };
    let record = Source {
        state,
        at: controller.renewed_at,
        error: known.record_error.clone(),
        ..Source::new(SourceName::Record)
    };
    vec![cluster, record, Source::new(SourceName::Azure)]
}
