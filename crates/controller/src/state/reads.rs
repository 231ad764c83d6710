//! Scheduling of reads, and handling of their results.
//!
//! Any client that may create events in `default` can write one. So only an event about a known NodeClaim counts; the
//! VM to read follows from the NodeClaim alone; no event moves a scheduled read; and the reported failure becomes a
//! verdict only if the NodeClaim was deleted unregistered and Azure can no longer be read, marked as unconfirmed.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use mooring_nodes::claim::{Claim, Role};
use mooring_nodes::verdict::{ConditionReason, after};

use crate::observation::karpenter::{FailureSubject, ProvisioningError};
use crate::observation::{Observation, ProvisioningState};
use crate::schedule::{DELETED_AFTER_MISSES, QUICK_PAUSES, QueuePriority, TRIGGER_RESERVE};
use crate::state::condition_write::RESPONSE_TIMEOUT;
use crate::state::events::output_of;
use crate::state::machine::State;
use crate::state::messages::{Action, ReadRequest, ReadTarget};
use crate::verdict::evaluate;

pub(super) const EVENT_TTL: SignedDuration = SignedDuration::from_mins(10);
/// Time after which a further event about the same NodeClaim requests reads again.
const BURST_INTERVAL: SignedDuration = SignedDuration::from_secs(60);
/// Number of waiting reads above which a list is read.
const EVENT_BACKLOG: usize = 10;
const MAX_EARLY_EVENTS: usize = 512;

impl State {
    /// Handles an event: Karpenter gives up on a node, and its VM is deleted or about to be.
    pub(super) fn handle_provisioning_error(
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
    pub(super) fn has_event_backlog(&self) -> bool {
        self.event_queue.waiting() > EVENT_BACKLOG
    }

    /// Keeps an event about a known NodeClaim, and requests a read.
    pub(super) fn take_event(&mut self, uid: &Arc<str>, event: ProvisioningError, now: Timestamp) {
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
    pub(super) fn request_event_read(&mut self, uid: &Arc<str>, now: Timestamp) {
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

    /// Requests the reads of events, after all others that are due, as far as both rate limits allow.
    pub(super) fn plan_event_reads(&mut self, now: Timestamp, actions: &mut Vec<Action>) {
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
            let may = self.event_rate_limit.wait(now, 1, 0).is_zero()
                && self.rate_limit.take(now, 1, TRIGGER_RESERVE).is_ok();
            if !may {
                return;
            }
            let _ = self.event_rate_limit.take(now, 1, 0);
            self.event_queue.remove(&uid);
            self.request_read(&uid, QueuePriority::Event, now, actions);
        }
    }

    /// Requests a few more quick reads after an inconclusive one, since the view of a VM can lag.
    pub(super) fn follow_event_read(&mut self, uid: &Arc<str>, now: Timestamp) {
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
pub(super) fn contradicts(observation: &Observation) -> bool {
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

impl State {
    /// Requests due reads, by priority, as far as the rate limit allows.
    pub(super) fn plan(&mut self, now: Timestamp, actions: &mut Vec<Action>) {
        if !self.leads {
            return;
        }
        self.rewrite(now, actions);
        self.report_images(now, actions);
        self.queue.advance(now);
        let sweeping = self.is_sweeping();
        while let Some((priority, uid)) = self.queue.first() {
            if priority == QueuePriority::Pending && sweeping {
                break;
            }
            let uid = Arc::clone(uid);
            let kept = match priority {
                QueuePriority::Trigger => 0,
                // Azure shows a result to read.
                QueuePriority::Sweep => TRIGGER_RESERVE / 2,
                QueuePriority::Pending | QueuePriority::Event => TRIGGER_RESERVE,
            };
            if self.rate_limit.take(now, 1, kept).is_err() {
                break;
            }
            self.request_read(&uid, priority, now, actions);
        }
        self.request_sweeps(now, actions);
        self.plan_event_reads(now, actions);
    }

    /// Returns true if the rate limit delays a due read.
    pub(super) fn is_held_back(&self) -> bool {
        self.queue
            .first()
            .is_some_and(|(priority, _)| priority != QueuePriority::Pending || !self.is_sweeping())
    }

    pub(super) fn request_read(
        &mut self,
        uid: &Arc<str>,
        priority: QueuePriority,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let Some((tracked, target)) = self.claims.get_mut(uid).and_then(|tracked| {
            let missing = tracked.work.as_ref().is_some_and(|work| work.vm_missing);
            let target = target(&tracked.claim, missing)?;
            Some((tracked, target))
        }) else {
            self.queue.remove(uid);
            return;
        };
        tracked.work().reading = Some((now, priority));
        // Without a response, the NodeClaim is due again then.
        let again = after(now, RESPONSE_TIMEOUT);
        let launched = tracked.claim.launched.unwrap_or(tracked.claim.created);
        let next = if priority == QueuePriority::Event { QueuePriority::Pending } else { priority };
        self.queue.set(uid, again, next, launched);
        actions.push(Action::Read(ReadRequest { uid: Arc::clone(uid), target, priority }));
    }
}

/// The VM has most details. The AKS machine is read if the VM is missing.
fn target(claim: &Claim, vm_missing: bool) -> Option<ReadTarget> {
    let vm = claim.vm.clone().map(ReadTarget::Vm);
    let machine = claim.machine.clone().map(ReadTarget::Machine);
    if vm_missing { machine.or(vm) } else { vm.or(machine) }
}

impl State {
    pub(super) fn observe(
        &mut self,
        uid: &Arc<str>,
        observation: &Observation,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let Some(tracked) = self.claims.get_mut(uid) else { return };
        let settled = tracked.is_final();
        let work = tracked.work();
        let by_event = matches!(work.reading.take(), Some((_, QueuePriority::Event)));
        if contradicts(observation) {
            work.event = None;
        }
        let history = &mut work.history;
        // Reads of events do not change the schedule.
        history.count = history.count.saturating_add(u32::from(!by_event));
        history.since_trigger = history.since_trigger.map(|tried| tried.saturating_add(1));
        history.denied = matches!(observation, Observation::Denied { .. });
        history.sweep_requested = false;
        let unanswered =
            matches!(observation, Observation::Throttled { .. } | Observation::Unreadable { .. });
        history.last = if unanswered { history.last } else { Some(now) };
        history.retry_after_seconds = match observation {
            Observation::Throttled { retry_after } => retry_after
                .map_or(0, |pause| i64::try_from(pause.as_secs().min(600)).unwrap_or(600)),
            _ => 0,
        };
        let missing = *observation == Observation::Missing;
        history.missing = if missing { history.missing.saturating_add(1) } else { 0 };
        work.vm_missing |= missing;
        if let Observation::Vm(vm) = observation {
            work.vm = Some(vm.state());
        }
        if settled {
            history.late = history.late.saturating_add(u32::from(!by_event));
            work.late_read |= !by_event && !unanswered;
            work.output = output_of(observation).or(work.output.take());
            return match tracked.reason() {
                Some(ConditionReason::NodeNotRegistered) => self.report_idle(uid, now, actions),
                _ => self.reconcile(uid, now, actions),
            };
        }
        // A read that is too early shows the extension still running; the next one shows its result.
        if let Some(verdict) = evaluate(&tracked.claim, observation, now).verdict() {
            self.hold_verdict(uid, verdict, now, actions);
        }
        if by_event {
            self.follow_event_read(uid, now);
        }
        self.reconcile(uid, now, actions);
    }
}
