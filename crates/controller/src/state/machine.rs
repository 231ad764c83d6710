//! The state and its transition.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use mooring_arm::Bucket;
use mooring_nodes::claim::Claim;
use mooring_nodes::images::FleetWatch;
use mooring_nodes::record::FailureRecord;
use mooring_nodes::record::counts::CountedNode;

use crate::observation::karpenter::ProvisioningError;
use crate::schedule::{EVENT_READS, Queue, controller_limits};
use crate::settings::Settings;
use crate::state::counting::Counting;
use crate::state::messages::{Action, DropCounts, Input, QueueLengths};
use crate::state::tracked::{RecordedFailure, TrackedClaim, TrackedNodes};
use crate::verdict::event::RegardingKind;

#[derive(Debug)]
pub struct State {
    pub(super) settings: Settings,
    pub(super) leads: bool,
    pub(super) claims: HashMap<Arc<str>, TrackedClaim>,
    /// True after the first list of NodeClaims.
    is_listed: bool,
    /// Deleted `NodeClaim`s that are not explained yet, by time of deletion.
    pub(super) deleted: BTreeSet<(Timestamp, Arc<str>)>,
    pub(super) queue: Queue,
    /// Reads requested by events; in addition to those in `queue`.
    pub(super) event_queue: Queue,
    pub(super) event_rate_limit: Bucket,
    /// NodeClaims whose patch is to be retried.
    pub(super) rewrites: BTreeSet<(Timestamp, Arc<str>)>,
    pub(super) rate_limit: Bucket,
    pub(super) swept_at: Option<Timestamp>,
    /// Uids of pools and node classes for events.
    pub(super) objects: HashMap<(RegardingKind, String), String>,
    /// Recorded failures by uid of the NodeClaim.
    pub(super) recorded: HashMap<String, RecordedFailure>,
    /// Recorded failures whose other writes may be missing.
    pub(super) unfinished: Vec<FailureRecord>,
    /// Events about `NodeClaim`s that were not observed yet: the two watches are not synchronized.
    pub(super) early_events: VecDeque<ProvisioningError>,
    pub(super) fleet: FleetWatch,
    /// Node class and pool of a failing image.
    pub(super) affected: HashMap<String, (String, String)>,
    pub(super) fleet_changed: bool,
    pub(super) dropped: DropCounts,
    pub(super) deferred: DeferredWrites,
    pub(super) nodes: TrackedNodes,
    pub(super) counting: Counting,
}

impl State {
    /// Returns an empty state that does not lead.
    #[must_use]
    pub fn new(settings: Settings, now: Timestamp) -> Self {
        Self {
            settings,
            leads: false,
            claims: HashMap::new(),
            is_listed: false,
            deleted: BTreeSet::new(),
            queue: Queue::default(),
            event_queue: Queue::default(),
            event_rate_limit: Bucket::full(EVENT_READS, now),
            rewrites: BTreeSet::new(),
            rate_limit: Bucket::full(controller_limits().reads, now),
            swept_at: None,
            objects: HashMap::new(),
            recorded: HashMap::new(),
            unfinished: Vec::new(),
            early_events: VecDeque::new(),
            fleet: FleetWatch::default(),
            affected: HashMap::new(),
            fleet_changed: false,
            dropped: DropCounts::default(),
            deferred: DeferredWrites::default(),
            nodes: TrackedNodes::default(),
            counting: Counting::default(),
        }
    }

    pub fn handle(&mut self, input: Input, now: Timestamp) -> Vec<Action> {
        let mut actions = Vec::new();
        match input {
            // Requested in an earlier term.
            Input::Observed { .. }
            | Input::SweepResult(_)
            | Input::Inspected { .. }
            | Input::Patched { .. }
            | Input::Deferred(_)
            | Input::CountsFailed(_)
                if !self.leads => {}
            Input::Claim(claim) => self.update_claim(*claim, now, &mut actions),
            Input::ClaimDeleted(uid) => self.remove_claim(&uid, now, &mut actions),
            Input::Listed(uids) => {
                self.is_listed = true;
                self.listed(&uids, now, &mut actions);
            }
            Input::Object { kind, name, uid } => {
                self.objects.insert((kind, name), uid);
            }
            Input::Node(node) => self.nodes.add(node),
            Input::NodeDeleted { name, uid } => self.nodes.remove(&name, &uid),
            Input::Nodes(nodes) => self.nodes.replace(nodes),
            Input::GivenUp(event) => self.handle_provisioning_error(event, now, &mut actions),
            Input::Record(document) => self.load_record(&document),
            Input::Counts(stored) => self.counting.load(stored, now),
            Input::CountsFailed(outcomes) => self.counting.requeue(outcomes, now),
            Input::Observed { uid, observation } => {
                self.observe(&uid, &observation, now, &mut actions);
            }
            Input::SweepResult(result) => self.sweep(&result, now, &mut actions),
            Input::Inspected { uid, request } => self.inspected(&uid, request, now, &mut actions),
            Input::Patched { uid, result } => self.patched(&uid, result, now, &mut actions),
            Input::Deferred(writes) => self.deferred.requeue(writes, now),
            Input::Leads(leads) => self.set_leader(leads, now, &mut actions),
            Input::Tick => {}
        }
        self.forget_deleted(now);
        self.report_nodes(now, &mut actions);
        self.plan(now, &mut actions);
        self.write_counts(now, &mut actions);
        self.deferred.merge_into(&mut actions, now);
        actions
    }

    /// Returns when to call with [`Input::Tick`] without another input.
    pub fn wake_at(&self, now: Timestamp) -> Option<Timestamp> {
        if !self.leads {
            return None;
        }
        let soon = now.saturating_add(SignedDuration::from_millis(200)).ok();
        let budget = soon.filter(|_| self.is_held_back());
        let event_budget = soon.filter(|_| self.event_queue.waiting() > 0);
        let event = self.event_queue.next_at();
        let rewrite = self.rewrites.first().map(|(at, _)| *at);
        let node = self.nodes.next_at();
        let (sweep, write) = (self.next_sweep(now), self.deferred.next_at());
        let counts = self.counting.next_at();
        [self.queue.next_at(), rewrite, budget, event, event_budget, sweep, node, write, counts]
            .into_iter()
            .flatten()
            .min()
    }

    pub fn leads(&self) -> bool {
        self.leads
    }

    /// Returns the NodeClaims that exist; none before their first list.
    pub fn existing_claims(&self) -> Option<Vec<Arc<Claim>>> {
        let existing = self.claims.values().filter(|tracked| tracked.deleted_at.is_none());
        self.is_listed.then(|| existing.map(|tracked| Arc::clone(&tracked.claim)).collect())
    }

    pub fn lengths(&self) -> QueueLengths {
        QueueLengths {
            claims: self.claims.len(),
            pending: self.queue.len(),
            waiting: self.queue.waiting(),
            nodes_without_provider_id: self.nodes.reported(),
        }
    }

    pub fn dropped(&self) -> DropCounts {
        let writes = self.dropped.writes + self.deferred.lost() + self.counting.lost();
        DropCounts { writes, ..self.dropped }
    }

    /// Returns the bytes kept for each NodeClaim, table included, shared texts excluded.
    pub fn bytes_per_claim(&self) -> usize {
        // A table keeps one extra byte for each place, and fills at most 7 of 8 places.
        let place = size_of::<(Arc<str>, TrackedClaim)>() + 1;
        let own: usize = self.claims.values().map(TrackedClaim::heap).sum();
        (self.claims.capacity() * 8 / 7 * place + own) / self.claims.len().max(1)
    }

    /// Counts a failure. Before the record can drop it, the counts are written: half of the kept failures of a pool
    /// are the most that wait.
    pub(super) fn count_failure(&mut self, entry: &FailureRecord, now: Timestamp) {
        let max_failures = (self.settings.failures_kept / 2).max(1);
        self.counting.add(CountedNode::of_failure(entry), max_failures, now);
    }

    pub(super) fn count_joined(&mut self, uid: &Arc<str>, now: Timestamp) {
        let Some(TrackedClaim { claim, .. }) = self.claims.get(uid) else { return };
        let Some(at) = claim.registered.filter(|at| self.leads && self.counting.is_open(*at))
        else {
            return;
        };
        let pool = claim.pool.as_deref().unwrap_or_default();
        let image = claim.image_key().unwrap_or_default();
        self.counting.add(CountedNode::new(uid, at, pool, &image, None), usize::MAX, now);
    }

    /// Counts outcomes that the last leader may not have written. A recorded failure comes before a later
    /// registration.
    pub(super) fn count_existing(&mut self, now: Timestamp) {
        let mut recorded: Vec<FailureRecord> = self.unfinished.clone();
        recorded.sort_by_key(|entry| entry.at);
        for entry in &recorded {
            self.count_failure(entry, now);
        }
        let joined = self.claims.iter().filter(|(_, tracked)| tracked.has_joined());
        for uid in sorted(joined.map(|(uid, _)| uid)) {
            self.count_joined(&uid, now);
        }
    }

    pub(super) fn write_counts(&mut self, now: Timestamp, actions: &mut Vec<Action>) {
        if self.leads
            && let Some(outcomes) = self.counting.take_due(now)
        {
            actions.push(Action::Count(outcomes));
        }
    }
}

/// Returns uids sorted, so that the same state gives the same actions in the same order.
pub(super) fn sorted<'a>(uids: impl Iterator<Item = &'a Arc<str>>) -> Vec<Arc<str>> {
    let mut uids: Vec<Arc<str>> = uids.cloned().collect();
    uids.sort_unstable();
    uids
}

/// With a record entry, two events and a condition for each failure, this is 4,096 failures.
const MAX_WRITES: usize = 16_384;
const BATCH: usize = 256;
const PAUSE: SignedDuration = SignedDuration::from_secs(1);

/// Writes that wait for space in the write queue.
///
/// While any waits, new writes queue after it: the record is written before its events, and both before the condition.
#[derive(Debug, Default)]
pub(super) struct DeferredWrites {
    writes: VecDeque<Action>,
    retry_at: Option<Timestamp>,
    lost: u64,
}

impl DeferredWrites {
    /// Requeues writes that were not accepted, before all that wait.
    pub(super) fn requeue(&mut self, writes: Vec<Action>, now: Timestamp) {
        for write in writes.into_iter().rev() {
            self.writes.push_front(write);
        }
        self.retry_at = now.checked_add(PAUSE).ok();
        self.limit();
    }

    /// Replaces the writes among actions by those that come first.
    pub(super) fn merge_into(&mut self, actions: &mut Vec<Action>, now: Timestamp) {
        if self.writes.is_empty() {
            return;
        }
        self.writes.extend(actions.extract_if(.., |action| action.is_write()));
        self.limit();
        if self.retry_at.is_some_and(|at| at > now) {
            return;
        }
        actions.extend(self.writes.drain(..BATCH.min(self.writes.len())));
        self.retry_at = (!self.writes.is_empty()).then(|| now.checked_add(PAUSE).ok()).flatten();
    }

    pub(super) fn next_at(&self) -> Option<Timestamp> {
        self.retry_at
    }

    pub(super) fn lost(&self) -> u64 {
        self.lost
    }

    fn limit(&mut self) {
        while self.writes.len() > MAX_WRITES {
            self.writes.pop_back();
            self.lost += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::event::{Event, Regarding};

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn write(number: usize) -> Action {
        let name = number.to_string();
        let regarding = Regarding { kind: RegardingKind::NodePool, name, uid: None };
        let (note, key) = (String::new(), String::new());
        Action::Event(Event { regarding, reason: "CSEFailed", note, key, at: at(0) })
    }

    fn writes(numbers: std::ops::Range<usize>) -> Vec<Action> {
        numbers.map(write).collect()
    }

    fn numbers(actions: &[Action]) -> Vec<usize> {
        let number = |action: &Action| match action {
            Action::Event(event) => event.regarding.name.parse().unwrap(),
            other => panic!("{other:?}"),
        };
        actions.iter().map(number).collect()
    }

    #[test]
    fn writes_keep_their_order_when_requeued() {
        let mut deferred = DeferredWrites::default();
        deferred.requeue(writes(0..3), at(0));
        assert_eq!(deferred.next_at(), Some(at(1)));
        let mut actions = writes(3..5);
        deferred.merge_into(&mut actions, at(0));
        assert!(actions.is_empty(), "{actions:?}");
        let mut actions = writes(5..6);
        deferred.merge_into(&mut actions, at(1));
        assert_eq!(numbers(&actions), [0, 1, 2, 3, 4, 5]);
        assert_eq!(deferred.next_at(), None);
        deferred.requeue(actions, at(1));
        let mut actions = writes(6..7);
        deferred.merge_into(&mut actions, at(2));
        assert_eq!(numbers(&actions), [0, 1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn reads_are_not_delayed_by_waiting_writes() {
        let mut deferred = DeferredWrites::default();
        deferred.requeue(writes(0..1), at(0));
        let mut actions =
            vec![write(1), Action::ImageFails { image: "i".into(), cause: "c".into() }];
        deferred.merge_into(&mut actions, at(0));
        assert!(matches!(actions.as_slice(), [Action::ImageFails { .. }]), "{actions:?}");
    }

    #[test]
    fn each_attempt_has_one_batch_and_the_rest_follows() {
        let mut deferred = DeferredWrites::default();
        deferred.requeue(writes(0..BATCH + 1), at(0));
        let mut first = Vec::new();
        deferred.merge_into(&mut first, at(1));
        assert_eq!(numbers(&first), (0..BATCH).collect::<Vec<_>>());
        assert_eq!(deferred.next_at(), Some(at(2)));
        let mut rest = Vec::new();
        deferred.merge_into(&mut rest, at(2));
        assert_eq!(numbers(&rest), [BATCH]);
        assert_eq!(deferred.next_at(), None);
    }

    #[test]
    fn writes_above_the_limit_are_counted() {
        let mut deferred = DeferredWrites::default();
        deferred.requeue(writes(0..MAX_WRITES), at(0));
        assert_eq!(deferred.lost(), 0);
        deferred.merge_into(&mut writes(0..2), at(0));
        assert_eq!((deferred.lost(), deferred.writes.len()), (2, MAX_WRITES));
    }
}
