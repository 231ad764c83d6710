use std::sync::Arc;

use jiff::Timestamp;
use mooring_nodes::verdict::condition::ConditionReason;

use super::event_reads::contradicts;
use crate::observation::Observation;
use crate::schedule::QueuePriority;
use crate::state::events::output_of;
use crate::state::machine::State;
use crate::state::messages::Action;
use crate::verdict::evaluate;

impl State {
    pub(in crate::state) fn observe(
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
