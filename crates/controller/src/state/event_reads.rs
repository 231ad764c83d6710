//! Events that report a failure: each is a reason to read Azure, within a budget of its own, and nothing more.
//!
//! Any client that may create events in `default` can write one. So only an event about a NodeClaim that was seen counts;
//! which VM is read follows from the NodeClaim alone; no event moves a scheduled read; and what an event reports becomes
//! a verdict only if the NodeClaim was deleted unregistered and Azure can no longer be read, marked as unconfirmed.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::machine::State;
use super::messages::Action;
use crate::claim::mode::Role;
use crate::observation::karpenter::{About, ProvisioningError};
use crate::observation::{Observation, Progress};
use crate::schedule::share::KEPT_FOR_TRIGGERS;
use crate::schedule::{GONE, Priority, QUICK_PAUSES};

/// An event is of use for this long.
pub(super) const EVENT_TTL: SignedDuration = SignedDuration::from_mins(10);
/// A further event about the same NodeClaim asks for reads again after this long.
const BURST_INTERVAL: SignedDuration = SignedDuration::from_secs(60);
/// With more reads waiting than this, a list is read.
const EVENT_BACKLOG: usize = 10;
/// Events about `NodeClaim`s that were not seen yet.
const MAX_EARLY_EVENTS: usize = 512;

impl State {
    /// An event says that Karpenter gives a node up: the VM is about to go, or is gone.
    pub(super) fn given_up(
        &mut self,
        mut event: ProvisioningError,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        // Its time is the writer's choice.
        event.at = event.at.min(now);
        let old = now.duration_since(event.at) > EVENT_TTL;
        if old || event.about() == About::OtherExtension || self.recorded.contains_key(&event.uid) {
            return;
        }
        let Some((uid, tracked)) = self.claims.get_key_value(event.uid.as_str()) else {
            self.keep_early(event);
            return;
        };
        if *tracked.claim.name == *event.name {
            let uid = Arc::clone(uid);
            self.take_event(&uid, event, now);
            self.reconcile(&uid, now, actions);
        }
    }

    /// Whether events ask for more reads than they are given. One list then shows which of the VMs failed, if any, and
    /// what Azure shows as failed is read whatever events say.
    pub(super) fn has_event_backlog(&self) -> bool {
        self.event_queue.waiting() > EVENT_BACKLOG
    }

    /// Keeps an event about a NodeClaim that was seen, and asks for a read.
    pub(super) fn take_event(&mut self, uid: &Arc<str>, event: ProvisioningError, now: Timestamp) {
        let Some(tracked) = self.claims.get_mut(uid) else { return };
        if tracked.is_settled() || tracked.claim.registered.is_some() {
            return;
        }
        let work = tracked.work();
        // The first that is about the bootstrap stays.
        if work.event.as_ref().is_none_or(|kept| kept.about() != About::Cse) {
            work.event = Some(event);
        }
        self.ask_by_event(uid, now);
    }

    /// Asks for a read of a NodeClaim's VM, unless its deletion does or an event did just now.
    pub(super) fn ask_by_event(&mut self, uid: &Arc<str>, now: Timestamp) {
        let Some(tracked) = self.claims.get_mut(uid).filter(|_| self.leads) else { return };
        let work = tracked.work();
        let recent =
            work.burst.is_some_and(|(since, _)| now.duration_since(since) < BURST_INTERVAL);
        if recent || work.looks.since_trigger.is_some() {
            return;
        }
        work.burst = Some((now, 0));
        let order = order(work.event_reads);
        self.event_queue.set(uid, now, Priority::Event, order);
    }

    /// An event whose NodeClaim may still come.
    fn keep_early(&mut self, event: ProvisioningError) {
        self.early_events.retain(|other| other.uid != event.uid);
        if self.early_events.len() >= MAX_EARLY_EVENTS {
            self.early_events.pop_front();
            self.dropped.events += 1;
        }
        self.early_events.push_back(event);
    }

    /// The event that came before its NodeClaim.
    pub(super) fn take_early(&mut self, uid: &Arc<str>, now: Timestamp) {
        let found = self.early_events.iter().position(|event| *event.uid == **uid);
        let event = found.and_then(|at| self.early_events.remove(at));
        let named = |event: &ProvisioningError| {
            let claim = self.claims.get(uid).map(|tracked| &tracked.claim);
            claim.is_some_and(|claim| *claim.name == *event.name)
                && now.duration_since(event.at) <= EVENT_TTL
        };
        if let Some(event) = event.filter(named) {
            self.take_event(uid, event, now);
        }
    }

    /// Asks for the reads that events want, after all others that are due, as far as both budgets go.
    pub(super) fn plan_event_reads(&mut self, now: Timestamp, actions: &mut Vec<Action>) {
        self.event_queue.advance(now);
        while let Some((_, uid)) = self.event_queue.first() {
            let uid = Arc::clone(uid);
            let Some(tracked) = self.claims.get(&uid).filter(|tracked| {
                !tracked.is_settled()
                    && tracked.claim.registered.is_none()
                    && tracked.looks().since_trigger.is_none()
            }) else {
                self.event_queue.remove(&uid);
                continue;
            };
            if tracked.reading_since(now).is_some() {
                self.ask_again_by_event(&uid, 1, now);
                continue;
            }
            if !self.event_share.has(0.0, now) || !self.share.take(KEPT_FOR_TRIGGERS, now) {
                return;
            }
            self.event_share.take(0.0, now);
            self.event_queue.remove(&uid);
            self.ask(&uid, Priority::Event, now, actions);
        }
    }

    /// A read that an event asked for was answered, with nothing final: a few more follow quickly, since the view of a VM
    /// can lag behind.
    pub(super) fn follow_event_read(&mut self, uid: &Arc<str>, now: Timestamp) {
        let Some(tracked) = self.claims.get_mut(uid) else { return };
        if tracked.is_settled() {
            return;
        }
        let work = tracked.work();
        work.event_reads = work.event_reads.saturating_add(1);
        let Some((_, made)) = &mut work.burst else { return };
        *made += 1;
        let pause = QUICK_PAUSES.get(*made as usize - 1).filter(|_| work.looks.missing < GONE);
        if let Some(pause) = pause {
            let pause = (*pause).max(work.looks.retry_after_seconds);
            self.ask_again_by_event(uid, pause, now);
        }
    }

    fn ask_again_by_event(&mut self, uid: &Arc<str>, seconds: i64, now: Timestamp) {
        let reads = self.claims.get(uid).and_then(|tracked| tracked.work.as_ref());
        let order = order(reads.map_or(0, |work| work.event_reads));
        let at = now.saturating_add(SignedDuration::from_secs(seconds)).unwrap_or(Timestamp::MAX);
        self.event_queue.set(uid, at, Priority::Event, order);
    }
}

/// `NodeClaim`s for which events asked the least come first, so that repeated events about some do not keep the first event
/// about another waiting.
fn order(event_reads: u32) -> Timestamp {
    Timestamp::from_second(i64::from(event_reads)).unwrap_or(Timestamp::MAX)
}

/// Whether a read shows that the bootstrap has not failed, whatever an event says.
pub(super) fn contradicts(seen: &Observation) -> bool {
    let Observation::Vm(vm) = seen else { return false };
    vm.progress != Progress::Deleting
        && vm.extensions.iter().any(|extension| {
            extension.role != Role::Other
                && matches!(extension.progress, Progress::Running | Progress::Succeeded)
        })
}
