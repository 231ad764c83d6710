//! Snapshots of the controller: its own NodeClaims, and objects that it may read. No page causes a read of Azure.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use mooring_controller::run::{Api, Clock, Health, StateView, ViewRequest};
use mooring_nodes::record::{self, counts};
use mooring_nodes::{
    Claim, ClusterFacts, ControllerState, DocsUrl, Inventory, Karpenter, NodeItem, Reads,
};
use mooring_page::{ControllerDetails, Live, PageMode, Snapshot};
use mooring_workflow::Reading;
use mooring_workflow::published::{ClusterIdentity, Source, SourceName, SourceState};
use mooring_workflow::status::RunStatus;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::cluster::{list_nodes, read_karpenter, read_runs, reading};

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
    pub(crate) namespace: String,
    pub(crate) instance: String,
    pub(crate) identity: ClusterIdentity,
    pub(crate) docs: DocsUrl,
}

/// Objects that were read, and when.
#[derive(Default)]
struct Known {
    /// Without its NodeClaims.
    view: Option<StateView>,
    claims: Reading<Vec<Arc<Claim>>>,
    lease: Reading<Value>,
    lease_at: Option<Instant>,
    record: Reading<Arc<record::RecordDocument>>,
    record_at: Option<Instant>,
    counts: Reading<Arc<counts::CountsDocument>>,
    nodes: Reading<Vec<NodeItem>>,
    karpenter: Karpenter,
    version: Option<String>,
    slow_at: Option<Instant>,
    runs: (Vec<RunStatus>, Reading<()>),
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
            known.claims = Reading::of(view.claims.take(), "they are being listed");
            known.view = Some(view);
        }
        let mut is_read = false;
        if is_due(known.lease_at, LEASE_PAUSE) {
            let path = format!(
                "/apis/coordination.k8s.io/v1/namespaces/{}/leases/mooring",
                self.namespace
            );
            known.lease = self.get(&path).await;
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
        let is_running = known.runs.0.iter().any(|run| run.step.is_some());
        if is_due(known.runs_at, if is_running { RUNS_PAUSE } else { SLOW_PAUSE }) {
            known.runs_at = Some(Instant::now());
            let client = mooring_k8s::Client::new(self.client.clone());
            known.runs = read_runs(&self.api, &client, &self.namespace).await;
            is_read = true;
        }
        has_changed || is_read
    }

    /// Reads an object.
    async fn get(&self, path: &str) -> Reading<Value> {
        reading(self.api.json(path).await.map(Some))
    }

    async fn read_record(&self, known: &mut Known) {
        known.record_at = Some(Instant::now());
        let read = self.get(&record::path(&self.namespace)).await;
        known.record = parsed(read, record::RecordDocument::from_config_map);
    }

    async fn read_slow(&self, known: &mut Known) {
        known.slow_at = Some(Instant::now());
        let counts = self.get(&counts::path(&self.namespace)).await;
        known.counts = parsed(counts, counts::CountsDocument::from_config_map);
        let nodes = list_nodes(&self.api).await;
        known.nodes = reading(nodes.map(|listed| listed.map(|listed| listed.items)));
        known.karpenter = read_karpenter(&self.api).await.0;
        if known.version.is_none() {
            let version = self.get("/version").await;
            let version = version.known().and_then(|one| one["gitVersion"].as_str());
            known.version = version.map(str::to_owned);
        }
    }

    /// Merges what is known; none before the first view.
    fn snapshot(&self, known: &Known) -> Option<Snapshot> {
        let view = known.view.as_ref()?;
        let now = (self.clock)();
        let controller = self.controller(known, now);
        let mut inventory = Inventory::merge(&known.claims, &known.nodes, &known.record, now);
        // A watch that fails shows what was there before.
        if let Err(why) = self.health.readyz(now) {
            inventory.reads.claims = Reading::Failed(why);
        }
        inventory.counts = known.counts.known().cloned();
        if known.counts.has_failed() {
            inventory.reads.record = known.counts.outcome();
        }
        let nodes = known.nodes.known().map(Vec::as_slice).unwrap_or_default();
        let mut facts = ClusterFacts {
            identity: self.identity.clone(),
            region: nodes.iter().find_map(NodeItem::region),
            version: known.version.clone(),
            sources: sources(&inventory.reads, &controller, now),
            inventory,
            karpenter: known.karpenter.clone(),
            has_karpenter: true,
            lost: nodes.iter().filter_map(|node| node.lost(now)).collect(),
            controller,
            record: known.record.known().cloned(),
            runs: Vec::new(),
            warnings: Vec::new(),
            now,
        };
        let mode = if view.leads { PageMode::Leader } else { PageMode::Follower };
        let details = Some(self.details(view, now));
        facts.set_runs(known.runs.0.clone(), known.runs.1.clone());
        Some(Snapshot { facts, mode, details, docs: self.docs.clone() })
    }

    fn controller(&self, known: &Known, now: Timestamp) -> ControllerState {
        let mut state = ControllerState {
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            ..ControllerState::unknown(self.namespace.clone())
        };
        match &known.lease {
            Reading::Known(lease) => state.add_lease(lease, now),
            Reading::NotFound => state.state = "not-running",
            unread => state.error = unread.missing(),
        }
        state
    }

    fn details(&self, view: &StateView, now: Timestamp) -> ControllerDetails {
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
        }
    }
}

/// Parses a document of a `ConfigMap`.
fn parsed<T, E: ToString>(
    object: Reading<Value>,
    parse: impl Fn(&Value) -> Result<T, E>,
) -> Reading<Arc<T>> {
    match object.found() {
        Ok(None) => Reading::NotFound,
        Ok(Some(object)) => match parse(&object) {
            Ok(document) => Reading::Known(Arc::new(document)),
            Err(error) => Reading::Failed(error.to_string()),
        },
        Err(unread) => unread,
    }
}

fn sources(reads: &Reads, controller: &ControllerState, now: Timestamp) -> Vec<Source> {
    let source = |name, reads: &[&Reading<()>]| {
        let error = reads.iter().find_map(|reading| reading.error());
        let state = match reads.iter().any(|reading| reading.is_known()) {
            _ if error.is_some() => SourceState::Failed,
            false => SourceState::Absent,
            true if name == SourceName::Record && !controller.is_running() => SourceState::Stale,
            true => SourceState::Read,
        };
        Source { state, error, ..Source::new(name) }
    };
    let cluster = source(SourceName::Cluster, &[&reads.claims, &reads.nodes]);
    let record = source(SourceName::Record, &[&reads.record]);
    vec![
        Source { at: Some(now), ..cluster },
        Source { at: controller.renewed_at, ..record },
        Source::new(SourceName::Azure),
    ]
}

#[cfg(test)]
mod tests {
    use mooring_nodes::Claim;

    use super::*;
    use crate::fixtures::{Server, at, now};

    const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/ops/leases/mooring";

    fn lease() -> Value {
        let renewed = "2026-11-17T09:13:59.000000Z";
        serde_json::json!({"spec": {"holderIdentity": "p-1", "renewTime": renewed}})
    }

    fn feed(server: &Server) -> (Feed, mpsc::Receiver<ViewRequest>) {
        let (views, requests) = mpsc::channel(1);
        let feed = Feed {
            client: server.client(),
            api: Api::new(server.client()),
            views,
            clock: Arc::new(now),
            health: Arc::new(Health::new(now())),
            namespace: "ops".to_owned(),
            instance: "p-1".to_owned(),
            identity: ClusterIdentity::default(),
            docs: DocsUrl::default(),
        };
        (feed, requests)
    }

    fn view(generation: u64) -> StateView {
        let claim = Claim::placeholder(&"u".into(), "c", None, Some("of-claim"), now());
        let (lengths, arm) = Default::default();
        StateView { generation, leads: true, claims: Some(vec![claim.into()]), lengths, arm }
    }

    #[test]
    fn objects_are_read_again_after_their_pause() {
        assert!(is_due(None, Duration::MAX));
        assert!(is_due(Some(Instant::now()), Duration::ZERO));
        assert!(!is_due(Some(Instant::now()), Duration::from_hours(1)));
    }

    #[tokio::test]
    async fn snapshot_is_due_after_a_change_or_a_read() {
        let server = Server::default().with(LEASE, 200, lease().to_string());
        let (feed, mut requests) = feed(&server);
        let answers = tokio::spawn(async move {
            for answer in [Some(view(7)), None, Some(view(8))] {
                let request = requests.recv().await.unwrap();
                request.reply.send(answer).unwrap();
            }
            requests.recv().await.unwrap().seen
        });
        let mut known = Known::default();
        assert!(feed.snapshot(&known).is_none(), "nothing is known");
        assert!(feed.refresh(&mut known).await);
        assert_eq!(known.lease, Reading::Known(lease()));
        assert!(known.record_at.is_some() && known.slow_at.is_some());
        assert!(!feed.refresh(&mut known).await, "nothing changed");
        assert!(feed.refresh(&mut known).await, "a view changed");
        let snapshot = feed.snapshot(&known).unwrap();
        assert_eq!(snapshot.mode, PageMode::Leader);
        let controller = &snapshot.facts.controller;
        assert_eq!((controller.state, controller.namespace.as_str()), ("running", "ops"));
        assert_eq!(controller.version.as_deref(), Some(env!("CARGO_PKG_VERSION")));
        let _ = feed.refresh(&mut known).await;
        assert_eq!(answers.await.unwrap(), 8, "the last generation is sent");
    }

    #[tokio::test]
    async fn record_counts_nodes_and_version_are_read() {
        let record = r#"{"schema": "mooring.failures/v1", "pools": {}}"#;
        let map = serde_json::json!({"data": {"failures.json": record}});
        let node = r#"{"metadata": {"name": "n"}}"#;
        let pool = r#"{"items": [{"metadata": {"name": "p"}}]}"#;
        let server = Server::default()
            .with(&record::path("ops"), 200, map.to_string())
            .with(&record::path("ops"), 404, "no")
            .with(&record::path("ops"), 500, "broken")
            .with("/api/v1/nodes?limit=500", 200, format!(r#"{{"items": [{node}]}}"#))
            .with("/apis/karpenter.sh/v1/nodepools?limit=500", 200, pool)
            .with("/version", 200, r#"{"gitVersion": "v1.33.5"}"#);
        let (feed, _requests) = feed(&server);
        let mut known = Known::default();
        feed.read_record(&mut known).await;
        assert!(known.record.is_known());
        feed.read_record(&mut known).await;
        assert_eq!(known.record, Reading::NotFound, "it was deleted");
        feed.read_record(&mut known).await;
        assert_eq!(known.record, Reading::Failed("broken".to_owned()));
        feed.read_slow(&mut known).await;
        assert_eq!(known.version.as_deref(), Some("v1.33.5"));
        assert_eq!(known.karpenter.pool_names().collect::<Vec<_>>(), ["p"]);
    }

    #[test]
    fn sources_have_the_state_of_the_record() {
        let state = |record: Reading<()>, state| {
            let controller = ControllerState {
                state,
                renewed_at: Some(at("2026-11-17T09:13:59Z")),
                ..ControllerState::unknown("ops".to_owned())
            };
            let error = record.error();
            let reads = Reads { record, ..Reads::complete() };
            let sources = sources(&reads, &controller, now());
            let [cluster, record, azure] = sources.as_slice() else { panic!("{sources:?}") };
            assert_eq!((cluster.state, cluster.at), (SourceState::Read, Some(now())));
            assert_eq!((record.at, &record.error), (controller.renewed_at, &error));
            assert_eq!(azure.state, SourceState::NotAsked);
            record.state
        };
        let known = Reading::Known(());
        assert_eq!(state(known.clone(), "running"), SourceState::Read);
        assert_eq!(state(known, "late"), SourceState::Stale);
        assert_eq!(state(Reading::NotFound, "running"), SourceState::Absent);
        assert_eq!(state(Reading::Failed("x".to_owned()), "running"), SourceState::Failed);
        let unread = Reads { nodes: Reading::Denied("x".to_owned()), ..Reads::complete() };
        let controller = ControllerState::unknown("ops".to_owned());
        assert_eq!(sources(&unread, &controller, now())[0].state, SourceState::Failed);
    }
}
