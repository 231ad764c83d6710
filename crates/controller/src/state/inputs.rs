//! Inputs about claims, and who leads.

use std::collections::HashSet;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::event_reads::EVENT_TTL;
use super::machine::State;
use super::messages::Action;
use super::reconcile::rank;
use super::tracked::{Held, Recorded, Tracked};
use crate::claim::Claim;
use crate::claim::mode::Mode;
use crate::record::{Document, Entry};
use crate::verdict::condition::{Reason, Status};
use crate::verdict::patch::{Wanted, is_there};
use crate::verdict::wording;

/// Deleted `NodeClaim`s that are not explained. Each costs some reads within seconds, so more than this
/// means that nothing can be read.
const MAX_DELETED: usize = 1000;
/// A record this young may lack its events.
const UNFINISHED_FOR: SignedDuration = SignedDuration::from_mins(15);

impl State {
    /// A claim as it is now, or was: lists may be stale, and events come twice or late.
    pub(super) fn see(&mut self, mut claim: Claim, now: Timestamp, actions: &mut Vec<Action>) {
        self.settings.scope.confine(&mut claim);
        let uid = Arc::clone(&claim.uid);
        let recorded = self.recorded.get(&*uid).filter(|recorded| recorded.counts_for(&claim));
        let is_new = !self.claims.contains_key(&uid);
        let tracked = match self.claims.get_mut(&uid) {
            Some(tracked) if tracked.claim.is_newer_than(&claim) => return,
            Some(tracked) => {
                if let Some(at) = tracked.gone.take() {
                    self.deleted.remove(&(at, Arc::clone(&uid)));
                }
                tracked.claim = claim;
                tracked
            }
            None => self.claims.entry(Arc::clone(&uid)).or_insert_with(|| Tracked::new(claim)),
        };
        // Another leader's verdict counts as ours: a replica that does not lead follows the object, and
        // one that does never takes back what says more.
        let stands = adopted(&tracked.claim);
        let more = stands.as_ref().map(|held| rank(held.reason)) > tracked.reason().map(rank);
        // What was appended to a recorded message since stays.
        let recalled = recorded.and_then(Recorded::held);
        let recalled = recalled.filter(|recalled| {
            stands.as_ref().is_none_or(|held| !held.message.starts_with(&*recalled.message))
        });
        if !self.leads || more {
            tracked.held = recalled.or(stands);
        } else if tracked.held.is_none() {
            tracked.held = recorded.and_then(Recorded::held);
        }
        if let Some(held) = &mut tracked.held {
            held.stood |=
                is_there(&tracked.claim, Wanted { reason: held.reason, message: &held.message });
        }
        clear_unconfirmed(tracked);
        self.notice(&uid, now);
        if is_new && !self.early_events.is_empty() {
            self.take_early(&uid, now);
        }
        self.reconcile(&uid, now, actions);
    }

    /// What follows from a claim by itself: a node that came up is counted, a deletion is a trigger. A registered
    /// node came up, whether its bootstrap has been read by then or not.
    pub(super) fn notice(&mut self, uid: &Arc<str>, now: Timestamp) {
        let patience = self.settings.registration_patience;
        let Some(tracked) = self.claims.get_mut(uid) else { return };
        let not_failed = matches!(
            tracked.reason(),
            None | Some(
                Reason::CseStatusUnavailable
                    | Reason::NoCseExtension
                    | Reason::CseNotCreated
                    | Reason::CseSucceeded
            )
        );
        let came_up = tracked.claim.registered.is_some() && not_failed;
        if came_up && !tracked.counted {
            tracked.counted = true;
            if let Some(image) = tracked.claim.image_key() {
                self.fleet.count(&image, None);
                self.fleet_changed = true;
            }
        }
        let given_up = tracked.claim.deleted.is_some() && tracked.claim.registered.is_none();
        if given_up && !tracked.is_explained(patience, now) && tracked.claim.vm.is_some() {
            tracked.work().looks.since_trigger.get_or_insert(0);
        }
    }

    /// A claim was removed. One whose end is not explained is kept until it is.
    pub(super) fn lose(&mut self, uid: &Arc<str>, now: Timestamp, actions: &mut Vec<Action>) {
        let patience = self.settings.registration_patience;
        let Some(tracked) = self.claims.get_mut(uid) else { return };
        let unexplained = !tracked.is_explained(patience, now)
            && tracked.claim.registered.is_none()
            && (tracked.claim.vm.is_some()
                || tracked.work.as_ref().is_some_and(|work| work.event.is_some()));
        if tracked.gone.is_some() {
            return;
        }
        if !unexplained {
            self.forget(uid);
            return;
        }
        tracked.gone = Some(now);
        tracked.work().looks.since_trigger.get_or_insert(0);
        self.deleted.insert((now, Arc::clone(uid)));
        if self.deleted.len() > MAX_DELETED
            && let Some((_, oldest)) = self.deleted.first().cloned()
        {
            self.dropped.deleted += 1;
            self.forget(&oldest);
        }
        self.reconcile(uid, now, actions);
    }

    /// Drops deleted `NodeClaim`s that no event can be about any more.
    pub(super) fn forget_deleted(&mut self, now: Timestamp) {
        while let Some((at, uid)) = self.deleted.first().cloned() {
            if now.duration_since(at) <= EVENT_TTL {
                return;
            }
            self.forget(&uid);
        }
    }

    /// A complete list: what is not in it was removed while nobody watched.
    pub(super) fn listed(
        &mut self,
        uids: &HashSet<Arc<str>>,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let mut missing: Vec<Arc<str>> =
            self.claims.keys().filter(|uid| !uids.contains(*uid)).cloned().collect();
        missing.sort_unstable();
        for uid in missing {
            self.lose(&uid, now, actions);
        }
    }

    pub(super) fn forget(&mut self, uid: &Arc<str>) {
        self.queue.remove(uid);
        self.event_queue.remove(uid);
        if let Some(at) = self.claims.remove(uid).and_then(|tracked| tracked.gone) {
            self.deleted.remove(&(at, Arc::clone(uid)));
        }
    }

    /// The record, as an earlier leader left it.
    pub(super) fn recall(&mut self, document: &Document) {
        for entry in document.entries() {
            self.remember(entry);
        }
        self.unfinished = document.entries().cloned().collect();
    }

    /// Counts a failure by image, once, and remembers that it is in the record.
    pub(super) fn remember(&mut self, entry: &Entry) {
        let recorded = Recorded::of(entry);
        if self
            .recorded
            .get(&entry.uid)
            .is_some_and(|known| known.at == recorded.at && known.message == recorded.message)
        {
            return;
        }
        // The record itself is bounded by what a ConfigMap holds; this only by time.
        if self.recorded.len() >= 8192
            && let Some(newest) = self.recorded.values().map(|recorded| recorded.at).max()
        {
            self.recorded.retain(|_, recorded| {
                newest.duration_since(recorded.at) < SignedDuration::from_hours(1)
            });
        }
        if let Some(image) = entry.image.as_ref().filter(|_| entry.blames_image()) {
            self.fleet.count(image, Some(&entry.cause));
            self.fleet_places.insert(image.clone(), (entry.node_class.clone(), entry.pool.clone()));
            self.fleet_changed = true;
        }
        self.recorded.insert(entry.uid.clone(), recorded);
    }

    /// What was asked for may not have been written, so this replica goes back to what the API server
    /// shows, as after a restart.
    fn step_down(&mut self, now: Timestamp) {
        let fresh = Self::new(self.settings.clone(), now);
        let before = std::mem::replace(self, fresh);
        self.dropped = before.dropped();
        self.objects = before.objects;
        (self.share, self.event_share) = (before.share, before.event_share);
        (self.early_events, self.deleted) = (before.early_events, before.deleted);
        self.nodes = before.nodes;
        self.nodes.forget_reports();
        for tracked in before.claims.into_values() {
            let uid = Arc::clone(&tracked.claim.uid);
            let event = tracked.work.and_then(|work| work.event);
            if tracked.gone.is_none() {
                self.see(tracked.claim, now, &mut Vec::new());
            } else {
                let mut fresh = Tracked { gone: tracked.gone, ..Tracked::new(tracked.claim) };
                fresh.work().looks.since_trigger = Some(0);
                self.claims.insert(Arc::clone(&uid), fresh);
            }
            if let Some(event) = event {
                self.take_event(&uid, event, now);
            }
        }
    }

    /// This replica leads, or no longer does.
    pub(super) fn lead(&mut self, leads: bool, now: Timestamp, actions: &mut Vec<Action>) {
        match (self.leads, leads) {
            (true, false) => return self.step_down(now),
            (false, true) => self.leads = true,
            _ => return,
        }
        for entry in std::mem::take(&mut self.unfinished) {
            let stands = self.claims.get(entry.uid.as_str()).is_some_and(|tracked| {
                tracked
                    .claim
                    .condition
                    .as_ref()
                    .is_some_and(|condition| *condition.message == *entry.message)
            });
            if !stands && now.duration_since(entry.at) < UNFINISHED_FOR {
                self.announce(&entry, actions);
            }
        }
        let mut uids: Vec<Arc<str>> = self.claims.keys().cloned().collect();
        // The same state gives the same actions in the same order, whatever a table's order is.
        uids.sort_unstable();
        for uid in uids {
            if let Some(tracked) = self.claims.get_mut(&uid) {
                // Answers to what an earlier term asked for may never come.
                if let Some(work) = &mut tracked.work {
                    (work.reading, work.patching) = (None, None);
                }
                let recorded = self.recorded.get(&*uid);
                let recorded = recorded.filter(|recorded| recorded.counts_for(&tracked.claim));
                if tracked.held.as_ref().is_none_or(|held| !held.reason.is_terminal())
                    && let Some(held) = recorded.and_then(Recorded::held)
                {
                    tracked.held = Some(held);
                }
                if tracked.work.as_ref().is_some_and(|work| work.event.is_some()) {
                    self.ask_by_event(&uid, now);
                }
            }
            self.reconcile(&uid, now, actions);
        }
    }
}

/// A verdict of an earlier leader's, as it stands on the object.
fn adopted(claim: &Claim) -> Option<Held> {
    let condition = claim.condition.as_ref()?;
    let reason =
        Reason::parse(&condition.reason).filter(|reason| reason.status() == condition.status)?;
    let unconfirmed =
        reason.status() == Status::False && wording::is_unconfirmed(&condition.message);
    let reason = if unconfirmed { Reason::CseFailureUnconfirmed } else { reason };
    Some(Held { reason, message: Arc::clone(&condition.message), stood: true })
}

/// A node that registered did not fail, whatever an event said and however late it was: Azure is read again.
fn clear_unconfirmed(tracked: &mut Tracked) {
    if tracked.claim.registered.is_none() {
        return;
    }
    if let Some(work) = &mut tracked.work {
        work.event = None;
    }
    let reason = match tracked.reason() {
        Some(Reason::NodeNotRegistered) if tracked.claim.mode() == Some(Mode::Scriptless) => {
            Reason::NoCseExtension
        }
        Some(Reason::CseFailureUnconfirmed | Reason::NodeNotRegistered) => {
            Reason::CseStatusUnavailable
        }
        _ => return,
    };
    let message = match reason {
        Reason::NoCseExtension => wording::NO_EXTENSION,
        _ => wording::REGISTERED,
    };
    tracked.held = Some(Held { reason, message: Arc::from(message), stood: false });
}

impl Recorded {
    /// Whether it is a verdict about a NodeClaim as it is now.
    fn counts_for(&self, claim: &Claim) -> bool {
        let refuted =
            matches!(self.reason, Some(Reason::CseFailureUnconfirmed | Reason::NodeNotRegistered))
                && claim.registered.is_some();
        self.reason.is_some() && !refuted
    }

    fn held(&self) -> Option<Held> {
        Some(Held { reason: self.reason?, message: Arc::from(self.message.as_str()), stood: false })
    }
}
