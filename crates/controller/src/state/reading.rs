//! Which reads are asked for now, and what their answers change.

use std::sync::Arc;

use jiff::Timestamp;

use super::event_reads::contradicts;
use super::limits::ANSWERED_WITHIN;
use super::machine::State;
use super::messages::{Action, Read, Target};
use super::telling::output_of;
use crate::claim::Claim;
use crate::observation::Observation;
use crate::schedule::Priority;
use crate::schedule::share::KEPT_FOR_TRIGGERS;
use crate::verdict::condition::Reason;
use crate::verdict::registration::VmState;
use crate::verdict::{Finding, judge};

impl State {
    /// Asks for what is due, as far as the budget goes, the most urgent first.
    pub(super) fn plan(&mut self, now: Timestamp, actions: &mut Vec<Action>) {
        if !self.leads {
            return;
        }
        self.rewrite(now, actions);
        self.tell_fleet(now, actions);
        self.queue.advance(now);
        let sweeping = self.is_sweeping();
        while let Some((priority, uid)) = self.queue.first() {
            if priority == Priority::Pending && sweeping {
                break;
            }
            let uid = Arc::clone(uid);
            let kept = match priority {
                Priority::Trigger => 0.0,
                // Azure shows that there is something to read.
                Priority::Wanted => KEPT_FOR_TRIGGERS / 2.0,
                Priority::Pending | Priority::Event => KEPT_FOR_TRIGGERS,
            };
            if !self.share.take(kept, now) {
                break;
            }
            self.ask(&uid, priority, now, actions);
        }
        if sweeping || self.has_event_backlog() {
            self.ask_sweeps(now, actions);
        }
        self.plan_event_reads(now, actions);
    }

    /// Whether something is due that the budget holds back.
    pub(super) fn is_held_back(&self) -> bool {
        self.queue
            .first()
            .is_some_and(|(priority, _)| priority != Priority::Pending || !self.is_sweeping())
    }

    pub(super) fn ask(
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
        // Should the answer never come, the claim is due again then.
        let again = now.saturating_add(ANSWERED_WITHIN).unwrap_or(Timestamp::MAX);
        let launched = tracked.claim.launched.unwrap_or(tracked.claim.created);
        let next = if priority == Priority::Event { Priority::Pending } else { priority };
        self.queue.set(uid, again, next, launched);
        actions.push(Action::Read(Read { uid: Arc::clone(uid), target, priority }));
    }

    /// A read was answered.
    pub(super) fn observe(
        &mut self,
        uid: &Arc<str>,
        seen: &Observation,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let Some(tracked) = self.claims.get_mut(uid) else { return };
        let settled = tracked.is_settled();
        let work = tracked.work();
        let by_event = matches!(work.reading.take(), Some((_, Priority::Event)));
        if contradicts(seen) {
            work.event = None;
        }
        let looks = &mut work.looks;
        // What an event asks for does not change the schedule.
        looks.count = looks.count.saturating_add(u32::from(!by_event));
        looks.since_trigger = looks.since_trigger.map(|tried| tried.saturating_add(1));
        looks.refused = matches!(seen, Observation::Refused { .. });
        looks.wanted = false;
        let unanswered =
            matches!(seen, Observation::Throttled { .. } | Observation::Unreadable { .. });
        looks.last = if unanswered { looks.last } else { Some(now) };
        looks.retry_after_seconds = match seen {
            Observation::Throttled { retry_after } => retry_after
                .map_or(0, |pause| i64::try_from(pause.as_secs().min(600)).unwrap_or(600)),
            _ => 0,
        };
        let missing = *seen == Observation::Missing;
        looks.missing = if missing { looks.missing.saturating_add(1) } else { 0 };
        work.vm_missing |= missing;
        if let Observation::Vm(vm) = seen {
            work.vm = Some(VmState::of(vm));
        }
        if settled {
            looks.late = looks.late.saturating_add(u32::from(!by_event));
            work.late_read |= !by_event && !unanswered;
            work.output = output_of(seen).or(work.output.take());
            return match tracked.reason() {
                Some(Reason::NodeNotRegistered) => self.tell_idle(uid, now, actions),
                _ => self.reconcile(uid, now, actions),
            };
        }
        let found = judge(&tracked.claim, seen, now);
        // A read that comes too early is answered with the extension still running; the next will show.
        match found {
            Finding::Final(verdict) | Finding::Passing(verdict) => {
                self.settle(uid, verdict, now, actions);
            }
            Finding::Nothing => {}
        }
        if by_event {
            self.follow_event_read(uid, now);
        }
        self.reconcile(uid, now, actions);
    }
}

/// The VM tells most. The AKS machine is asked where there is no VM.
fn target(claim: &Claim, vm_missing: bool) -> Option<Target> {
    let vm = claim.vm.clone().map(Target::Vm);
    let machine = claim.machine.clone().map(Target::Machine);
    if vm_missing { machine.or(vm) } else { vm.or(machine) }
}
