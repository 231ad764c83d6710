//! Scheduling of reads, and handling of their results.

pub(super) mod event_reads;

use std::sync::Arc;

use jiff::Timestamp;

use super::events::output_of;
use super::machine::State;
use super::messages::{Action, Read, Target};
use super::tracked::RESPONSE_TIMEOUT;
use crate::claim::Claim;
use crate::observation::Observation;
use crate::schedule::Priority;
use crate::schedule::rate_limit::TRIGGER_RESERVE;
use crate::verdict::condition::Reason;
use crate::verdict::registration::VmState;
use crate::verdict::{Finding, evaluate};
use event_reads::contradicts;

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
            if priority == Priority::Pending && sweeping {
                break;
            }
            let uid = Arc::clone(uid);
            let kept = match priority {
                Priority::Trigger => 0.0,
                // Azure shows a result to read.
                Priority::Sweep => TRIGGER_RESERVE / 2.0,
                Priority::Pending | Priority::Event => TRIGGER_RESERVE,
            };
            if !self.rate_limit.take(kept, now) {
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
            .is_some_and(|(priority, _)| priority != Priority::Pending || !self.is_sweeping())
    }

    pub(super) fn request_read(
        &mut self,
        uid: &Arc<str>,
        priority: Priority,
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
        let again = now.saturating_add(RESPONSE_TIMEOUT).unwrap_or(Timestamp::MAX);
        let launched = tracked.claim.launched.unwrap_or(tracked.claim.created);
        let next = if priority == Priority::Event { Priority::Pending } else { priority };
        self.queue.set(uid, again, next, launched);
        actions.push(Action::Read(Read { uid: Arc::clone(uid), target, priority }));
    }

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
        let by_event = matches!(work.reading.take(), Some((_, Priority::Event)));
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
            work.vm = Some(VmState::of(vm));
        }
        if settled {
            history.late = history.late.saturating_add(u32::from(!by_event));
            work.late_read |= !by_event && !unanswered;
            work.output = output_of(observation).or(work.output.take());
            return match tracked.reason() {
                Some(Reason::NodeNotRegistered) => self.report_idle(uid, now, actions),
                _ => self.reconcile(uid, now, actions),
            };
        }
        let found = evaluate(&tracked.claim, observation, now);
        // A read that is too early shows the extension still running; the next one shows its result.
        match found {
            Finding::Final(verdict) | Finding::Passing(verdict) => {
                self.hold_verdict(uid, verdict, now, actions);
            }
            Finding::Nothing => {}
        }
        if by_event {
            self.follow_event_read(uid, now);
        }
        self.reconcile(uid, now, actions);
    }
}

/// The VM has most details. The AKS machine is read if the VM is missing.
fn target(claim: &Claim, vm_missing: bool) -> Option<Target> {
    let vm = claim.vm.clone().map(Target::Vm);
    let machine = claim.machine.clone().map(Target::Machine);
    if vm_missing { machine.or(vm) } else { vm.or(machine) }
}
