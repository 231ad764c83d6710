//! Nodes that did not register: reads of cluster state about them, and the resulting verdicts.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use mooring_nodes::verdict::registration::{
    AzureReading, ClusterState, NodeState, Overdue, RequestState, overdue,
};
use mooring_nodes::verdict::{Verdict, after};

use super::condition_write::RESPONSE_TIMEOUT;
use super::machine::State;
use super::messages::Action;
use super::tracked::{Inspection, overdue_of};

/// Interval for a node that is Ready and not registered by Karpenter.
const INSPECT_INTERVAL: SignedDuration = SignedDuration::from_mins(5);
/// Reads of the VM of a node that does not register after its CSE succeeded; afterwards only the cluster counts.
const MAX_LATE_READS: u32 = 3;

impl State {
    /// Requests the certificate signing requests of an overdue node, once enough is known of its VM. Returns
    /// true if requested now or before.
    pub(super) fn inspect(
        &mut self,
        uid: &Arc<str>,
        exhausted: bool,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) -> bool {
        let timeout = self.settings.registration_timeout;
        let Some(tracked) = self.claims.get_mut(uid) else { return false };
        let Some(overdue) = overdue_of(tracked, timeout, now) else { return false };
        let work = tracked.work();
        let late = work.history.late;
        let is_known = match work.vm {
            _ if overdue.cse_succeeded => {
                overdue.is_alive && (work.late_read || late >= MAX_LATE_READS)
            }
            // No further read shows more.
            Some(vm) if vm.lacks_extension => true,
            Some(_) => overdue.is_alive,
            // The VM may be deleted, or Azure denies access or does not respond.
            None => overdue.is_alive && (work.history.last.is_some() || work.history.count > 3),
        };
        if !is_known && !exhausted {
            return false;
        }
        match work.inspection {
            Inspection::Asked(at) if now.duration_since(at) < RESPONSE_TIMEOUT => return true,
            Inspection::NotBefore(at) if overdue.is_alive && now < at => return false,
            _ => work.inspection = Inspection::Asked(now),
        }
        let node = tracked.claim.node_name();
        self.queue.remove(uid);
        actions.push(Action::Inspect { uid: Arc::clone(uid), node });
        true
    }

    /// Handles the certificate signing requests; the Node is known from its watch.
    pub(super) fn inspected(
        &mut self,
        uid: &Arc<str>,
        request: RequestState,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let timeout = self.settings.registration_timeout;
        let Some(tracked) = self.claims.get_mut(uid) else { return };
        let node = self.nodes.state_of(&tracked.claim.node_name());
        let cluster = ClusterState { node, request };
        let overdue = overdue_of(tracked, timeout, now);
        let work = tracked.work();
        work.inspection = Inspection::None;
        let azure = AzureReading::of(work.vm, work.history.denied);
        match overdue {
            // It has joined, but Karpenter has not noticed.
            Some(Overdue { is_alive: true, .. }) if cluster.node == NodeState::Ready => {
                work.inspection = Inspection::NotBefore(after(now, INSPECT_INTERVAL));
            }
            Some(overdue) => {
                let output = work.output.take();
                let mut verdict = Verdict::not_registered(&tracked.claim, azure, cluster, overdue);
                if let Some(failure) = &mut verdict.failure {
                    failure.evidence = output;
                }
                return self.hold_verdict(uid, verdict, now, actions);
            }
            None => {}
        }
        self.reconcile(uid, now, actions);
    }

    /// Adds to the message that Karpenter has not deleted an overdue NodeClaim.
    pub(super) fn report_idle(
        &mut self,
        uid: &Arc<str>,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let Some(tracked) = self.claims.get_mut(uid) else { return };
        let idle =
            overdue(&tracked.claim, tracked.deleted_at, now).is_some_and(|overdue| overdue.is_idle);
        if let Some(held) = tracked.held.as_mut().filter(|_| idle) {
            held.say_idle();
        }
        self.reconcile(uid, now, actions);
    }
}
