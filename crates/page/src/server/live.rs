//! The latest snapshot, and the interest in it.

use std::hash::{DefaultHasher, Hasher as _};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mooring_nodes::status::ClusterStatus;
use mooring_nodes::{Fleet, JoinState};
use serde::Serialize;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::Instant;

use crate::model::Snapshot;
use crate::view::TimeRange;

/// Streams of one server. Further pages poll.
pub const MAX_STREAMS: usize = 16;

/// Snapshots are not built longer than this after the last request.
const INTEREST: Duration = Duration::from_secs(30);
/// A request waits this long for a current snapshot.
const WAIT: Duration = Duration::from_secs(1);
/// Bars of joining nodes grow in steps of this many seconds.
const STEP: i64 = 5;

/// Kinds of changes, in the order of their importance.
pub(crate) const TOPICS: [&str; 6] = ["status", "fleet", "failure", "node", "run", "controller"];

/// A snapshot with the revisions of its parts.
pub(crate) struct Published {
    pub(crate) snapshot: Snapshot,
    /// Grows with each change, also over restarts.
    pub(crate) revision: u64,
    hashes: [u64; TOPICS.len()],
    /// Revision of the last change of each topic.
    changed: [u64; TOPICS.len()],
    at: Instant,
}

impl Published {
    /// Returns the topics that changed after a revision.
    pub(crate) fn changed_since(&self, revision: u64) -> Vec<&'static str> {
        let topics = TOPICS.into_iter().zip(self.changed);
        topics.filter(|(_, changed)| *changed > revision).map(|(topic, _)| topic).collect()
    }
}

/// The latest snapshot. One is kept, shared by all requests and streams.
pub struct Live {
    latest: watch::Sender<Option<Arc<Published>>>,
    error: Mutex<Option<String>>,
    /// Time of the last request.
    asked: Mutex<Option<Instant>>,
    wanted: Notify,
    /// Places of streams.
    streams: Arc<Semaphore>,
}

impl Default for Live {
    fn default() -> Self {
        Self {
            latest: watch::Sender::new(None),
            error: Mutex::default(),
            asked: Mutex::default(),
            wanted: Notify::new(),
            streams: Arc::new(Semaphore::new(MAX_STREAMS)),
        }
    }
}

impl Live {
    /// Replaces the snapshot.
    pub fn publish(&self, snapshot: Snapshot) {
        *lock(&self.error) = None;
        let hashes = hashes(&snapshot);
        let before = self.latest.borrow().clone();
        let floor = u64::try_from(snapshot.facts.now.as_millisecond()).unwrap_or_default();
        let revision = match &before {
            Some(before) if before.hashes == hashes => before.revision,
            before => floor.max(before.as_ref().map_or(0, |before| before.revision) + 1),
        };
        let changed = std::array::from_fn(|topic| match &before {
            Some(before) if before.hashes[topic] == hashes[topic] => before.changed[topic],
            _ => revision,
        });
        let published = Published { snapshot, revision, hashes, changed, at: Instant::now() };
        self.latest.send_replace(Some(Arc::new(published)));
    }

    /// Reports that the cluster cannot be read. The last snapshot stays, with a warning and its time.
    pub fn fail(&self, why: String) {
        let last = self.latest.borrow().clone();
        if let Some(last) = last {
            let mut snapshot = last.snapshot.clone();
            let since = snapshot.facts.now.strftime("%H:%M:%S UTC");
            snapshot.facts.warnings = vec![format!("not current since {since}: {why}")];
            self.publish(snapshot);
        }
        *lock(&self.error) = Some(why);
    }

    pub(crate) fn error(&self) -> Option<String> {
        lock(&self.error).clone()
    }

    /// Returns true if a page is open.
    pub fn is_wanted(&self) -> bool {
        let asked = *lock(&self.asked);
        self.streams.available_permits() < MAX_STREAMS
            || asked.is_some_and(|at| at.elapsed() < INTEREST)
    }

    /// Waits until a page is open.
    pub async fn wanted(&self) {
        while !self.is_wanted() {
            self.wanted.notified().await;
        }
    }

    fn ask(&self) {
        *lock(&self.asked) = Some(Instant::now());
        self.wanted.notify_one();
    }

    /// Returns the latest snapshot; waits for a moment if none is current.
    pub(crate) async fn current(&self) -> Option<Arc<Published>> {
        let was_wanted = self.is_wanted();
        self.ask();
        let mut latest = self.latest.subscribe();
        let known = latest.borrow_and_update().clone();
        if was_wanted && known.is_some() {
            return known;
        }
        let is_recent = |published: &Arc<Published>| published.at.elapsed() < WAIT;
        if known.as_ref().is_some_and(is_recent) {
            return known;
        }
        let _ = tokio::time::timeout(WAIT, latest.changed()).await;
        latest.borrow().clone()
    }

    /// Returns the place of a stream and the snapshots to come; none if all places are taken.
    pub(super) fn open_stream(
        &self,
    ) -> Option<(OwnedSemaphorePermit, watch::Receiver<Option<Arc<Published>>>)> {
        let place = Arc::clone(&self.streams).try_acquire_owned().ok()?;
        self.ask();
        Some((place, self.latest.subscribe()))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns a hash of the content of each topic, without times of reads.
fn hashes(snapshot: &Snapshot) -> [u64; TOPICS.len()] {
    let facts = &snapshot.facts;
    let since = TimeRange::Week.start(facts.now);
    let filter = mooring_nodes::Filter { since: Some(since), ..Default::default() };
    let inventory = facts.inventory.filtered(&filter);
    let fleet = Fleet::of(&inventory, None);
    let status = ClusterStatus::of(facts, &filter, &inventory, &fleet);
    let failures: Vec<_> = inventory.nodes.iter().filter(|node| node.is_failed()).collect();
    let joining: Vec<_> =
        inventory.nodes.iter().filter(|node| node.state == JoinState::Joining).collect();
    let moment = (!joining.is_empty()).then(|| facts.now.as_second() / STEP);
    let mut controller = facts.controller.clone();
    controller.renewed_at = None;
    let sources: Vec<_> =
        facts.sources.iter().map(|one| (one.name, one.state, &one.error)).collect();
    let details = snapshot.details.as_ref().map(|one| (&one.instance, &one.error));
    [
        hash(&(&status.findings, &status.pools, &facts.warnings)),
        hash(&fleet),
        hash(&failures),
        hash(&(&joining, moment)),
        hash(&facts.runs),
        hash(&(controller, sources, details)),
    ]
}

/// Hashes JSON as it is written: that of a large cluster has megabytes.
struct HashWriter(DefaultHasher);

impl io::Write for HashWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn hash(value: &impl Serialize) -> u64 {
    let mut writer = HashWriter(DefaultHasher::new());
    // Plain data into a hasher: cannot fail.
    let _ = serde_json::to_writer(&mut writer, value);
    writer.0.finish()
}
