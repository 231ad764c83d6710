//! Events that report a failure: each is only a reason to read Azure, within a separate rate limit.
//!
//! Any client that may create events in `default` can write one. So only an event about a known NodeClaim counts; the
//! VM to read follows from the NodeClaim alone; no event moves a scheduled read; and the reported failure becomes a
//! verdict only if the NodeClaim was deleted unregistered and Azure can no longer be read, marked as unconfirmed.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use mooring_nodes::claim::mode::Role;
use mooring_nodes::verdict::after;

use crate::observation::karpenter::{FailureSubject, ProvisioningError};
use crate::observation::{Observation, ProvisioningState};
use crate::schedule::rate_limit::TRIGGER_RESERVE;
use crate::schedule::{DELETED_AFTER_MISSES, QUICK_PAUSES, QueuePriority};
use crate::state::machine::State;
use crate::state::messages::Action;

pub(in crate::state) const EVENT_TTL: SignedDuration = SignedDuration::from_mins(10);
/// Time after which a further event about the same NodeClaim requests reads again.
const BURST_INTERVAL: SignedDuration = SignedDuration::from_secs(60);
/// Number of waiting reads above which a list is read.
const EVENT_BACKLOG: usize = 10;
const MAX_EARLY_EVENTS: usize = 512;

impl State {
    /// Handles an event: Karpenter gives up on a node, and its VM is deleted or about to be.
    pub(in crate::state) fn handle_provisioning_error(
        &mut self,
        mut event: ProvisioningError,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        // The writer chooses its time.
        event.at = event.at.min(now);
        let old = now.duration_since(event.at) > EVENT_TTL;
        if old
            || event.about() == FailureSubject::OtherExtension
            || self.recorded.contains_key(&event.uid)
        {
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

    /// Returns true if events request more reads than the rate limit allows. One list then shows which of the
    /// VMs failed, and failed ones are read regardless of events.
    pub(in crate::state) fn has_event_backlog(&self) -> bool {
        self.event_queue.waiting() > EVENT_BACKLOG
    }

    /// Keeps an event about a known NodeClaim, and requests a read.
    pub(in crate::state) fn take_event(
        &mut self,
        uid: &Arc<str>,
        event: ProvisioningError,
        now: Timestamp,
    ) {
        let Some(tracked) = self.claims.get_mut(uid) else { return };
        if tracked.is_final() || tracked.claim.registered.is_some() {
            return;
        }
        let work = tracked.work();
        // The first about the bootstrap is kept.
        if work.event.as_ref().is_none_or(|kept| kept.about() != FailureSubject::Cse) {
            work.event = Some(event);
        }
        self.request_event_read(uid, now);
    }

    /// Requests a read of a NodeClaim's VM, unless its deletion does or an event did recently.
    pub(in crate::state) fn request_event_read(&mut self, uid: &Arc<str>, now: Timestamp) {
        let Some(tracked) = self.claims.get_mut(uid).filter(|_| self.leads) else { return };
        let work = tracked.work();
        let recent =
            work.burst.is_some_and(|(since, _)| now.duration_since(since) < BURST_INTERVAL);
        if recent || work.history.since_trigger.is_some() {
            return;
        }
        work.burst = Some((now, 0));
        let order = order(work.event_reads);
        self.event_queue.set(uid, now, QueuePriority::Event, order);
    }

    /// Keeps an event whose NodeClaim may still be observed.
    fn keep_early(&mut self, event: ProvisioningError) {
        self.early_events.retain(|other| other.uid != event.uid);
        if self.early_events.len() >= MAX_EARLY_EVENTS {
            self.early_events.pop_front();
            self.dropped.events += 1;
        }
        self.early_events.push_back(event);
    }

    /// Takes the event that was observed before its NodeClaim.
    pub(in crate::state) fn take_early(&mut self, uid: &Arc<str>, now: Timestamp) {
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

    /// Requests the reads of events, after all others that are due, as far as both rate limits allow.
    pub(in crate::state) fn plan_event_reads(&mut self, now: Timestamp, actions: &mut Vec<Action>) {
        self.event_queue.advance(now);
        while let Some((_, uid)) = self.event_queue.first() {
            let uid = Arc::clone(uid);
            let Some(tracked) = self.claims.get(&uid).filter(|tracked| {
                !tracked.is_final()
                    && tracked.claim.registered.is_none()
                    && tracked.history().since_trigger.is_none()
            }) else {
                self.event_queue.remove(&uid);
                continue;
            };
            if tracked.reading_since(now).is_some() {
                self.repeat_event_read(&uid, 1, now);
                continue;
            }
            if !self.event_rate_limit.has(0.0, now) || !self.rate_limit.take(TRIGGER_RESERVE, now) {
                return;
            }
            self.event_rate_limit.take(0.0, now);
            self.event_queue.remove(&uid);
            self.request_read(&uid, QueuePriority::Event, now, actions);
        }
    }

    /// Requests a few more quick reads after an inconclusive one, since the view of a VM can lag.
    pub(in crate::state) fn follow_event_read(&mut self, uid: &Arc<str>, now: Timestamp) {
        let Some(tracked) = self.claims.get_mut(uid) else { return };
        if tracked.is_final() {
            return;
        }
        let work = tracked.work();
        work.event_reads = work.event_reads.saturating_add(1);
        let Some((_, made)) = &mut work.burst else { return };
        *made += 1;
        let pause = QUICK_PAUSES
            .get(*made as usize - 1)
            .filter(|_| work.history.missing < DELETED_AFTER_MISSES);
        if let Some(pause) = pause {
            let pause = (*pause).max(work.history.retry_after_seconds);
            self.repeat_event_read(uid, pause, now);
        }
    }

    fn repeat_event_read(&mut self, uid: &Arc<str>, seconds: i64, now: Timestamp) {
        let reads = self.claims.get(uid).and_then(|tracked| tracked.work.as_ref());
        let order = order(reads.map_or(0, |work| work.event_reads));
        let at = after(now, SignedDuration::from_secs(seconds));
        self.event_queue.set(uid, at, QueuePriority::Event, order);
    }
}

/// `NodeClaim`s with the fewest event reads come first, so that repeated events about some do not delay the
/// first event about another.
fn order(event_reads: u32) -> Timestamp {
    Timestamp::from_second(i64::from(event_reads)).unwrap_or(Timestamp::MAX)
}

/// Returns true if a read shows that the bootstrap has not failed.
pub(in crate::state) fn contradicts(observation: &Observation) -> bool {
    let Observation::Vm(vm) = observation else { return false };
    vm.progress != ProvisioningState::Deleting
        && vm.extensions.iter().any(|extension| {
            extension.role != Role::Other
                && matches!(
                    extension.progress,
                    ProvisioningState::Running | ProvisioningState::Succeeded
                )
        })
}
