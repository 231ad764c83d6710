use std::sync::Arc;

use jiff::Timestamp;
use mooring_nodes::claim::Claim;
use mooring_nodes::verdict::after;

use crate::schedule::QueuePriority;
use crate::schedule::rate_limit::TRIGGER_RESERVE;
use crate::state::condition_write::RESPONSE_TIMEOUT;
use crate::state::machine::State;
use crate::state::messages::{Action, ReadRequest, ReadTarget};

impl State {
    /// Requests due reads, by priority, as far as the rate limit allows.
    pub(in crate::state) fn plan(&mut self, now: Timestamp, actions: &mut Vec<Action>) {
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
                QueuePriority::Trigger => 0.0,
                // Azure shows a result to read.
                QueuePriority::Sweep => TRIGGER_RESERVE / 2.0,
                QueuePriority::Pending | QueuePriority::Event => TRIGGER_RESERVE,
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
    pub(in crate::state) fn is_held_back(&self) -> bool {
        self.queue
            .first()
            .is_some_and(|(priority, _)| priority != QueuePriority::Pending || !self.is_sweeping())
    }

    pub(in crate::state) fn request_read(
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
