//! Inputs about claims, and who leads.

use std::collections::HashSet;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::reconcile::rank;
use super::tracked::{Held, Recorded, Tracked};
use super::{Action, State};
use crate::claim::Claim;
use crate::condition::Reason;
use crate::event::Kind;
use crate::intern::Interner;
use crate::karpenter::{About, ProvisioningError};
use crate::patch::{Wanted, is_there};
use crate::record::{Document, Entry};
use crate::vm_id::VmId;

/// Claims that are gone but not explained. Each costs some reads within seconds, so more than this
/// means that nothing can be read.
const MOST_GHOSTS: usize = 1000;
/// What Karpenter said is of use for this long.
const GIVEN_UP_LASTS: SignedDuration = SignedDuration::from_mins(10);
const MOST_GIVEN_UP: usize = 512;
/// A record this young may lack its events.
const UNFINISHED_FOR: SignedDuration = SignedDuration::from_mins(15);

impl State {
    /// A claim as it is now, or was: lists may be stale, and events come twice or late.
    pub(super) fn see(&mut self, claim: Claim, now: Timestamp, actions: &mut Vec<Action>) {
        let uid = Arc::clone(&claim.uid);
        let recorded = self.recorded.get(&*uid).filter(|recorded| recorded.reason.is_some());
        let tracked = match self.claims.get_mut(&uid) {
            Some(tracked) if tracked.claim.is_newer_than(&claim) => return,
            Some(tracked) => {
                self.ghosts -= usize::from(tracked.gone);
                tracked.gone = false;
                tracked.claim = claim;
                tracked
            }
            None => self.claims.entry(Arc::clone(&uid)).or_insert_with(|| Tracked::new(claim)),
        };
        // Another leader's verdict counts as ours: a replica that does not lead follows the object, and
        // one that does never takes back what says more.
        let stands = adopted(&tracked.claim);
        let more = stands.as_ref().map(|held| rank(held.reason)) > tracked.reason().map(rank);
        if !self.leads || more {
            tracked.held = recorded.and_then(Recorded::held).or(stands);
        } else if tracked.held.is_none() {
            tracked.held = recorded.and_then(Recorded::held);
        }
        if let Some(held) = &mut tracked.held {
            held.stood |=
                is_there(&tracked.claim, Wanted { reason: held.reason, message: &held.message });
        }
        self.notice(&uid);
        self.reconcile(&uid, now, actions);
    }

    /// What follows from a claim by itself: a node that came up is counted, a deletion is a trigger. A registered
    /// node came up, whether its bootstrap has been read by then or not.
    fn notice(&mut self, uid: &Arc<str>) {
        let Some(tracked) = self.claims.get_mut(uid) else { return };
        let came_up = tracked.reason() == Some(Reason::CseSucceeded)
            || (tracked.claim.registered.is_some() && tracked.held.is_none());
        if came_up && !tracked.counted {
            tracked.counted = true;
            if let Some(image) = tracked.claim.image_version() {
                self.fleet.count(image, None);
                self.fleet_changed = true;
            }
        }
        let given_up = tracked.claim.deleted.is_some() && tracked.claim.registered.is_none();
        if given_up && !tracked.is_settled() && tracked.claim.vm.is_some() {
            tracked.work().looks.since_trigger.get_or_insert(0);
        }
    }

    /// A claim was removed. One whose end is not explained is kept until it is.
    pub(super) fn lose(&mut self, uid: &Arc<str>, now: Timestamp, actions: &mut Vec<Action>) {
        let Some(tracked) = self.claims.get_mut(uid) else { return };
        let unexplained = !tracked.is_settled()
            && tracked.claim.registered.is_none()
            && (tracked.claim.vm.is_some()
                || tracked.work.as_ref().is_some_and(|work| work.event.is_some()));
        if !unexplained || !self.leads || tracked.gone {
            if !tracked.gone {
                // One that does not lead may come to, and Karpenter's word is then all that is left.
                let word = tracked.work.as_mut().and_then(|work| work.event.take());
                self.forget(uid);
                if let Some(word) = word.filter(|_| unexplained && !self.leads) {
                    self.keep_for_later(word);
                }
            }
            return;
        }
        if self.ghosts >= MOST_GHOSTS {
            self.dropped.ghosts += 1;
            self.forget(uid);
            return;
        }
        tracked.gone = true;
        self.ghosts += 1;
        tracked.work().looks.since_trigger.get_or_insert(0);
        self.reconcile(uid, now, actions);
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
        if let Some(tracked) = self.claims.remove(uid) {
            self.ghosts -= usize::from(tracked.gone);
        }
    }

    /// Karpenter gives a node up: the VM is about to go, or is gone.
    pub(super) fn given_up(
        &mut self,
        event: ProvisioningError,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let old = now.duration_since(event.at) > GIVEN_UP_LASTS;
        if old || event.about() == About::OtherExtension {
            return;
        }
        let uid: Arc<str> = Arc::from(event.uid.as_str());
        if let Some(tracked) = self.claims.get_mut(&uid) {
            if !tracked.is_settled() {
                let work = tracked.work();
                work.event = Some(event);
                work.looks.since_trigger.get_or_insert(0);
                self.reconcile(&uid, now, actions);
            }
        } else if !self.leads {
            self.keep_for_later(event);
        } else if !self.recorded.contains_key(&event.uid) && event.about() == About::Cse {
            self.see_ghost(&uid, event, now, actions);
        }
    }

    /// A replica that does not lead keeps what it may need when it comes to.
    fn keep_for_later(&mut self, event: ProvisioningError) {
        self.given_up.retain(|other| other.uid != event.uid);
        if self.given_up.len() >= MOST_GIVEN_UP {
            self.given_up.pop_front();
            self.dropped.given_up += 1;
        }
        self.given_up.push_back(event);
    }

    /// A claim that was gone before it was seen: its name tells its VM's, and its pool's.
    fn see_ghost(
        &mut self,
        uid: &Arc<str>,
        event: ProvisioningError,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        if self.ghosts >= MOST_GHOSTS {
            self.dropped.ghosts += 1;
            return;
        }
        let mut interner = Interner::default();
        let vm_name = event.vm_name().map_or_else(|| format!("aks-{}", event.name), str::to_owned);
        let vm =
            self.settings.subscription.as_ref().zip(self.settings.node_resource_group.as_ref());
        let vm = vm.and_then(|(subscription, group)| {
            let id = format!(
                "/subscriptions/{subscription}/resourceGroups/{group}/virtualMachines/{vm_name}"
            );
            VmId::parse(&id, &mut interner)
        });
        let pool = event.name.rsplit_once('-').map(|(pool, _)| pool.to_owned());
        let pool = pool.filter(|pool| self.objects.contains_key(&(Kind::NodePool, pool.clone())));
        let claim = Claim::vanished(uid, &event.name, vm, pool.as_deref(), event.at);
        let mut tracked = Tracked::new(claim);
        tracked.gone = true;
        let work = tracked.work();
        work.event = Some(event);
        work.looks.since_trigger = Some(0);
        self.ghosts += 1;
        self.claims.insert(Arc::clone(uid), tracked);
        self.reconcile(uid, now, actions);
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
        if let Some(image) = &entry.image {
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
        (self.objects, self.share, self.dropped) = (before.objects, before.share, before.dropped);
        for tracked in before.claims.into_values() {
            if let Some(event) = tracked.work.and_then(|work| work.event) {
                self.keep_for_later(event);
            }
            if !tracked.gone {
                self.see(tracked.claim, now, &mut Vec::new());
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
                if tracked.held.as_ref().is_none_or(|held| !held.reason.is_terminal())
                    && let Some(held) = self.recorded.get(&*uid).and_then(Recorded::held)
                {
                    tracked.held = Some(held);
                }
            }
            self.reconcile(&uid, now, actions);
        }
        for event in std::mem::take(&mut self.given_up) {
            self.given_up(event, now, actions);
        }
    }
}

/// A verdict of an earlier leader's, as it stands on the object.
fn adopted(claim: &Claim) -> Option<Held> {
    let condition = claim.condition.as_ref()?;
    let reason =
        Reason::parse(&condition.reason).filter(|reason| reason.status() == condition.status)?;
    Some(Held { reason, message: Arc::clone(&condition.message), stood: true })
}

impl Recorded {
    fn held(&self) -> Option<Held> {
        Some(Held { reason: self.reason?, message: Arc::from(self.message.as_str()), stood: false })
    }
}
