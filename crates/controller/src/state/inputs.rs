//! Inputs about NodeClaims and leadership.

use std::collections::HashSet;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use mooring_nodes::claim::{Claim, ClaimMode};
use mooring_nodes::record::{FailureRecord, RecordDocument};
use mooring_nodes::verdict::registration::was_left;
use mooring_nodes::verdict::{ConditionReason, ConditionStatus, messages};

use super::condition_write::HeldVerdict;
use super::machine::{State, sorted};
use super::messages::Action;
use super::reads::EVENT_TTL;
use super::reconcile::rank;
use super::tracked::{RecordedFailure, TrackedClaim};

/// Each deleted NodeClaim costs some reads within seconds, so more than this means that nothing can be read.
const MAX_DELETED: usize = 1000;
/// Age up to which a record may lack its events.
const UNFINISHED_WINDOW: SignedDuration = SignedDuration::from_mins(15);

impl State {
    /// Updates a NodeClaim: lists may be stale, and events are repeated or late.
    pub(super) fn update_claim(
        &mut self,
        mut claim: Claim,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        self.settings.scope.confine(&mut claim);
        let uid = Arc::clone(&claim.uid);
        let recorded = self.recorded.get(&*uid).filter(|recorded| recorded.counts_for(&claim));
        let is_new = !self.claims.contains_key(&uid);
        let tracked = match self.claims.get_mut(&uid) {
            Some(tracked) if tracked.claim.is_newer_than(&claim) => return,
            Some(tracked) => {
                if let Some(at) = tracked.deleted_at.take() {
                    self.deleted.remove(&(at, Arc::clone(&uid)));
                }
                tracked.claim = Arc::new(claim);
                tracked
            }
            None => self.claims.entry(Arc::clone(&uid)).or_insert_with(|| TrackedClaim::new(claim)),
        };
        // The verdict of another leader counts: other replicas follow the object, and a leader never replaces
        // a verdict by one of lower rank.
        let current = adopted(&tracked.claim, now);
        let more = current.as_ref().map(|held| rank(held.reason)) > tracked.reason().map(rank);
        let recalled = recorded.and_then(|recorded| recorded.verdict(tracked, now));
        if !self.leads || more {
            tracked.held = recalled.or(current);
        } else if tracked.held.is_none() {
            tracked.held = recalled;
        }
        if let Some(held) = tracked.held.take() {
            tracked.hold(held);
        }
        clear_unconfirmed(tracked);
        self.process_claim(&uid, now);
        if is_new && !self.early_events.is_empty() {
            self.take_early(&uid, now);
        }
        self.reconcile(&uid, now, actions);
    }

    /// Counts a joined node, and handles a deletion as a trigger. A registered node joined, even if its
    /// bootstrap was not read.
    pub(super) fn process_claim(&mut self, uid: &Arc<str>, now: Timestamp) {
        let timeout = self.settings.registration_timeout;
        let Some(tracked) = self.claims.get_mut(uid) else { return };
        if tracked.has_joined() && !tracked.counted {
            tracked.counted = true;
            if let Some(image) = tracked.claim.image_key() {
                self.fleet.count(&image, None);
                self.fleet_changed = true;
            }
            self.count_joined(uid, now);
        }
        let Some(tracked) = self.claims.get_mut(uid) else { return };
        let given_up = tracked.claim.deleted.is_some() && tracked.claim.registered.is_none();
        if given_up && !tracked.is_explained(timeout, now) && tracked.claim.vm.is_some() {
            tracked.work().history.since_trigger.get_or_insert(0);
        }
    }

    /// Removes a deleted NodeClaim. One that is not explained is kept until it is.
    pub(super) fn remove_claim(
        &mut self,
        uid: &Arc<str>,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let timeout = self.settings.registration_timeout;
        let Some(tracked) = self.claims.get_mut(uid) else { return };
        let unexplained = !tracked.is_explained(timeout, now)
            && tracked.claim.registered.is_none()
            && (tracked.claim.vm.is_some()
                || tracked.work.as_ref().is_some_and(|work| work.event.is_some()));
        if tracked.deleted_at.is_some() {
            return;
        }
        if !unexplained {
            self.forget(uid);
            return;
        }
        tracked.deleted_at = Some(now);
        tracked.work().history.since_trigger.get_or_insert(0);
        self.deleted.insert((now, Arc::clone(uid)));
        if self.deleted.len() > MAX_DELETED
            && let Some((_, oldest)) = self.deleted.first().cloned()
        {
            self.dropped.deleted += 1;
            self.forget(&oldest);
        }
        self.reconcile(uid, now, actions);
    }

    /// Drops deleted `NodeClaim`s that are too old for an event.
    pub(super) fn forget_deleted(&mut self, now: Timestamp) {
        while let Some((at, uid)) = self.deleted.first().cloned() {
            if now.duration_since(at) <= EVENT_TTL {
                return;
            }
            self.forget(&uid);
        }
    }

    /// Handles a complete list: a NodeClaim that is not in it was deleted.
    pub(super) fn listed(
        &mut self,
        uids: &HashSet<Arc<str>>,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        for uid in sorted(self.claims.keys().filter(|uid| !uids.contains(*uid))) {
            self.remove_claim(&uid, now, actions);
        }
    }

    pub(super) fn forget(&mut self, uid: &Arc<str>) {
        self.queue.remove(uid);
        self.event_queue.remove(uid);
        if let Some(at) = self.claims.remove(uid).and_then(|tracked| tracked.deleted_at) {
            self.deleted.remove(&(at, Arc::clone(uid)));
        }
    }

    pub(super) fn load_record(&mut self, document: &RecordDocument) {
        for entry in document.entries() {
            self.count_recorded(entry);
        }
        self.unfinished = document.entries().cloned().collect();
    }

    /// Counts a failure by image, once, and remembers that it is in the record.
    pub(super) fn count_recorded(&mut self, entry: &FailureRecord) {
        let known = self.recorded.get(&entry.uid);
        if known.is_some_and(|known| known.at == entry.at && known.message == entry.message) {
            return;
        }
        // The record is bounded by the size of a ConfigMap; this only by time.
        if self.recorded.len() >= 8192
            && let Some(newest) = self.recorded.values().map(|recorded| recorded.at).max()
        {
            self.recorded.retain(|_, recorded| {
                newest.duration_since(recorded.at) < SignedDuration::from_hours(1)
            });
        }
        if let Some(image) = entry.image.as_ref().filter(|_| entry.blames_image()) {
            self.fleet.count(image, Some(&entry.cause));
            self.fleet.failed_at(image, &entry.cause, entry.at);
            self.affected.insert(image.clone(), (entry.node_class.clone(), entry.pool.clone()));
            self.fleet_changed = true;
        }
        let recorded = RecordedFailure {
            at: entry.at,
            reason: ConditionReason::parse(&entry.reason),
            message: entry.message.clone(),
            is_idle: entry.is_idle,
        };
        self.recorded.insert(entry.uid.clone(), recorded);
    }

    /// Requested writes may not have happened, so this replica returns to the state of the API server, as
    /// after a restart.
    fn step_down(&mut self, now: Timestamp) {
        let fresh = Self::new(self.settings.clone(), now);
        let before = std::mem::replace(self, fresh);
        self.dropped = before.dropped();
        self.objects = before.objects;
        (self.rate_limit, self.event_rate_limit) = (before.rate_limit, before.event_rate_limit);
        (self.early_events, self.deleted) = (before.early_events, before.deleted);
        self.nodes = before.nodes;
        self.nodes.forget_reports();
        for tracked in before.claims.into_values() {
            let uid = Arc::clone(&tracked.claim.uid);
            let event = tracked.work.and_then(|work| work.event);
            if tracked.deleted_at.is_none() {
                self.update_claim(Arc::unwrap_or_clone(tracked.claim), now, &mut Vec::new());
            } else {
                let mut fresh = TrackedClaim {
                    deleted_at: tracked.deleted_at,
                    ..TrackedClaim::new(tracked.claim)
                };
                fresh.work().history.since_trigger = Some(0);
                self.claims.insert(Arc::clone(&uid), fresh);
            }
            if let Some(event) = event {
                self.take_event(&uid, event, now);
            }
        }
    }

    pub(super) fn set_leader(&mut self, leads: bool, now: Timestamp, actions: &mut Vec<Action>) {
        match (self.leads, leads) {
            (true, false) => return self.step_down(now),
            (false, true) => self.leads = true,
            _ => return,
        }
        self.count_existing(now);
        for entry in std::mem::take(&mut self.unfinished) {
            let tracked = self.claims.get(entry.uid.as_str());
            let condition = tracked.and_then(|tracked| tracked.claim.condition.as_ref());
            let current = condition.is_some_and(|condition| *condition.reason == *entry.reason);
            if !current && now.duration_since(entry.reported_at()) < UNFINISHED_WINDOW {
                self.create_events(&entry, actions);
            }
        }
        for uid in sorted(self.claims.keys()) {
            if let Some(tracked) = self.claims.get_mut(&uid) {
                // Responses to requests of an earlier term may never arrive.
                if let Some(work) = &mut tracked.work {
                    work.reading = None;
                    work.write.expect_no_response();
                }
                // What the record says counts, and not the words of the condition.
                let recorded = self.recorded.get(&*uid);
                let recorded = recorded.filter(|recorded| recorded.counts_for(&tracked.claim));
                let is_other = |held: &HeldVerdict| {
                    held.reason.is_terminal()
                        && recorded.is_some_and(|one| one.reason != Some(held.reason))
                };
                if !tracked.held.as_ref().is_some_and(is_other)
                    && let Some(held) = recorded.and_then(|one| one.verdict(tracked, now))
                {
                    tracked.hold(held);
                }
                if tracked.work.as_ref().is_some_and(|work| work.event.is_some()) {
                    self.request_event_read(&uid, now);
                }
            }
            self.reconcile(&uid, now, actions);
        }
    }
}

/// Returns the verdict of an earlier leader, from the condition.
fn adopted(claim: &Claim, now: Timestamp) -> Option<HeldVerdict> {
    let condition = claim.condition.as_ref()?;
    let reason = ConditionReason::parse(&condition.reason)
        .filter(|reason| reason.status() == condition.status)?;
    let at = (condition.status == ConditionStatus::False).then_some(condition.since);
    let is_idle = reason == ConditionReason::NodeNotRegistered && was_left(claim, None, now);
    let message = Arc::clone(&condition.message);
    Some(HeldVerdict { reason, message, at, is_idle, was_written: true })
}

/// A node that registered did not fail, regardless of events and of the delay: Azure is read again.
pub(super) fn clear_unconfirmed(tracked: &mut TrackedClaim) {
    if tracked.claim.registered.is_none() {
        return;
    }
    if let Some(work) = &mut tracked.work {
        work.event = None;
    }
    let (reason, message) = match tracked.reason() {
        Some(ConditionReason::NodeNotRegistered)
            if tracked.claim.mode() == Some(ClaimMode::Scriptless) =>
        {
            (ConditionReason::NoCseExtension, messages::NO_EXTENSION)
        }
        Some(ConditionReason::CseFailureUnconfirmed | ConditionReason::NodeNotRegistered) => {
            (ConditionReason::CseStatusUnavailable, messages::REGISTERED)
        }
        _ => return,
    };
    tracked.held = Some(HeldVerdict::unwritten(reason, message, None));
}

impl RecordedFailure {
    /// Returns true if the verdict is about the current NodeClaim.
    fn counts_for(&self, claim: &Claim) -> bool {
        let refuted = matches!(
            self.reason,
            Some(ConditionReason::CseFailureUnconfirmed | ConditionReason::NodeNotRegistered)
        ) && claim.registered.is_some();
        self.reason.is_some() && !refuted
    }

    fn verdict(&self, tracked: &TrackedClaim, now: Timestamp) -> Option<HeldVerdict> {
        let held = HeldVerdict::unwritten(self.reason?, &self.message, Some(self.at));
        let mut held = HeldVerdict { is_idle: self.is_idle, ..held };
        if was_left(&tracked.claim, tracked.deleted_at, now) {
            held.say_idle();
        }
        Some(held)
    }
}
