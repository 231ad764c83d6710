//! Nodes that did not register: when the cluster is asked about them, and what follows.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::limits::ANSWERED_WITHIN;
use super::machine::State;
use super::messages::Action;
use super::tracked::{Held, overdue_of};
use crate::verdict::Verdict;
use crate::verdict::condition::Reason;
use crate::verdict::registration::{
    AzureState, ClusterState, NodeState, Overdue, RequestState, overdue,
};
use crate::verdict::wording;

/// A node that is ready and that Karpenter has not registered is asked about this often.
const INSPECT_AGAIN: SignedDuration = SignedDuration::from_mins(5);
/// Reads of the VM of a node that does not register after its CSE succeeded; then the cluster alone counts.
const LATE_LOOKS: u32 = 3;

impl State {
    /// Asks for the certificate signing requests of a node that is overdue, once enough is known of its VM. Says whether it did, or has.
    pub(super) fn inspect(
        &mut self,
        uid: &Arc<str>,
        exhausted: bool,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) -> bool {
        let patience = self.settings.registration_patience;
        let Some(tracked) = self.claims.get_mut(uid) else { return false };
        let Some(overdue) = overdue_of(tracked, patience, now) else { return false };
        let work = tracked.work();
        let late = work.looks.late;
        let seen = match work.vm {
            _ if overdue.cse_succeeded => {
                overdue.is_alive && (work.late_read || late >= LATE_LOOKS)
            }
            // No further read shows more.
            Some(vm) if vm.lacks_extension => true,
            Some(_) => overdue.is_alive,
            // The VM may be gone, or Azure does not let us read it, or not answer.
            None => overdue.is_alive && (work.looks.last.is_some() || work.looks.count > 3),
        };
        if !seen && !exhausted {
            return false;
        }
        if work.inspecting.is_some_and(|since| now.duration_since(since) < ANSWERED_WITHIN) {
            return true;
        }
        if overdue.is_alive && work.inspect_after.is_some_and(|after| now < after) {
            return false;
        }
        work.inspecting = Some(now);
        let node = tracked.claim.node_name();
        self.queue.remove(uid);
        actions.push(Action::Inspect { uid: Arc::clone(uid), node });
        true
    }

    /// The certificate signing requests have come; the Node is known from its watch.
    pub(super) fn inspected(
        &mut self,
        uid: &Arc<str>,
        request: RequestState,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let patience = self.settings.registration_patience;
        let Some(tracked) = self.claims.get_mut(uid) else { return };
        let node = self.nodes.state_of(&tracked.claim.node_name());
        let cluster = ClusterState { node, request };
        let overdue = overdue_of(tracked, patience, now);
        let work = tracked.work();
        work.inspecting = None;
        let azure = AzureState::of(work.vm, work.looks.refused);
        match overdue {
            // It has joined, and only Karpenter has not noticed.
            Some(Overdue { is_alive: true, .. }) if cluster.node == NodeState::Ready => {
                work.inspect_after = now.saturating_add(INSPECT_AGAIN).ok();
            }
            Some(overdue) => {
                let output = work.output.take();
                let mut verdict = Verdict::not_registered(&tracked.claim, azure, cluster, overdue);
                if let Some(failure) = &mut verdict.failure {
                    failure.evidence = output;
                }
                return self.settle(uid, verdict, now, actions);
            }
            None => {}
        }
        self.reconcile(uid, now, actions);
    }

    /// Karpenter has not deleted a NodeClaim that was given up: its message says so from now on.
    pub(super) fn tell_idle(&mut self, uid: &Arc<str>, now: Timestamp, actions: &mut Vec<Action>) {
        let Some(tracked) = self.claims.get_mut(uid) else { return };
        let idle =
            overdue(&tracked.claim, tracked.gone, now).is_some_and(|overdue| overdue.is_idle);
        if let Some(held) = tracked.held.as_ref().filter(|held| {
            idle && held.reason == Reason::NodeNotRegistered
                && !held.message.ends_with(wording::IDLE)
        }) {
            let message = Arc::from(format!("{}{}", held.message, wording::IDLE));
            tracked.held = Some(Held { message, stood: false, ..held.clone() });
        }
        self.reconcile(uid, now, actions);
    }
}
