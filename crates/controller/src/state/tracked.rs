//! State of a NodeClaim.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use mooring_nodes::claim::Claim;
use mooring_nodes::unregistered::UnregisteredNode;
use mooring_nodes::verdict::registration::{
    NodeState, Overdue, VmState, overdue, overdue_after_success,
};
use mooring_nodes::verdict::{ConditionReason, Verdict};

use crate::observation::karpenter::ProvisioningError;
use crate::schedule::{QueuePriority, ReadHistory};
use crate::state::condition_write::{ConditionWrite, HeldVerdict, RESPONSE_TIMEOUT};
use crate::verdict::patch::has_condition;

#[derive(Debug)]
pub(super) struct TrackedClaim {
    /// Shared with views of the state; replaced, never changed.
    pub(super) claim: Arc<Claim>,
    /// Verdict that the condition must show.
    pub(super) held: Option<HeldVerdict>,
    /// None for a joined node.
    pub(super) work: Option<Box<Work>>,
    /// Time of the object's deletion; only events and the record can still be written.
    pub(super) deleted_at: Option<Timestamp>,
    /// True if its node was counted by image.
    pub(super) counted: bool,
}

#[derive(Debug, Default)]
pub(super) struct Work {
    pub(super) history: ReadHistory,
    /// Time and priority of a read without a result.
    pub(super) reading: Option<(Timestamp, QueuePriority)>,
    pub(super) write: ConditionWrite,
    /// An event that reports a failure. No read has contradicted it.
    pub(super) event: Option<ProvisioningError>,
    /// Time when an event last requested reads, and number of reads since.
    pub(super) burst: Option<(Timestamp, u32)>,
    /// Total of reads requested by events.
    pub(super) event_reads: u32,
    /// The VM is missing, so the AKS machine is read.
    pub(super) vm_missing: bool,
    /// The VM was read after its CSE had succeeded and its node was overdue.
    pub(super) late_read: bool,
    /// End of the output of CSE, if its node is overdue.
    pub(super) output: Option<String>,
    pub(super) vm: Option<VmState>,
    pub(super) inspection: Inspection,
}

/// A read of the cluster about an overdue node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Inspection {
    #[default]
    None,
    /// Since this time, without a result.
    Asked(Timestamp),
    /// The Node is Ready, and Karpenter has not noticed: not again before this time.
    NotBefore(Timestamp),
}

#[derive(Clone, Debug)]
pub(super) struct RecordedFailure {
    pub(super) at: Timestamp,
    pub(super) reason: Option<ConditionReason>,
    pub(super) message: String,
    pub(super) is_idle: bool,
}

impl TrackedClaim {
    pub(super) fn new(claim: impl Into<Arc<Claim>>) -> Self {
        Self { claim: claim.into(), held: None, work: None, deleted_at: None, counted: false }
    }

    pub(super) fn hold(&mut self, held: HeldVerdict) {
        let is_shown = has_condition(&self.claim, held.reason, &held.message);
        self.held = Some(HeldVerdict { was_written: held.was_written || is_shown, ..held });
    }

    pub(super) fn work(&mut self) -> &mut Work {
        self.work.get_or_insert_default()
    }

    pub(super) fn history(&self) -> ReadHistory {
        let history = self.work.as_ref().map_or_else(ReadHistory::default, |work| work.history);
        let idle_reported = self.held.as_ref().is_some_and(|held| held.is_idle);
        let not_before = self.work.as_ref().and_then(|work| match work.inspection {
            Inspection::NotBefore(at) => Some(at),
            Inspection::None | Inspection::Asked(_) => None,
        });
        ReadHistory { idle_reported, not_before, ..history }
    }

    pub(super) fn reason(&self) -> Option<ConditionReason> {
        self.held.as_ref().map(|held| held.reason)
    }

    /// Returns the time of a read that may still return.
    pub(super) fn reading_since(&self, now: Timestamp) -> Option<Timestamp> {
        let (since, _) = self.work.as_ref()?.reading?;
        (now.duration_since(since) < RESPONSE_TIMEOUT).then_some(since)
    }

    /// Returns when the node failed: by what shows the failure, else when Karpenter saw it, else now. A time outside
    /// of its life comes from a wrong clock.
    pub(super) fn failed_at(&self, verdict: &Verdict, now: Timestamp) -> Timestamp {
        let event = self.work.as_ref().and_then(|work| work.event.as_ref()).map(|event| event.at);
        let mut times =
            [verdict.at, event, self.claim.deleted, self.deleted_at].into_iter().flatten();
        times.find(|at| (self.claim.created..=now).contains(at)).unwrap_or(now)
    }

    pub(super) fn is_final(&self) -> bool {
        self.reason().is_some_and(ConditionReason::is_terminal)
    }

    /// Returns true if the node registered and its bootstrap did not fail, as far as it was read.
    pub(super) fn has_joined(&self) -> bool {
        let not_failed = matches!(
            self.reason(),
            None | Some(
                ConditionReason::CseStatusUnavailable
                    | ConditionReason::NoCseExtension
                    | ConditionReason::CseNotCreated
                    | ConditionReason::CseSucceeded
            )
        );
        self.claim.registered.is_some() && not_failed
    }

    /// Returns true if no further evidence can be found.
    pub(super) fn is_explained(&self, timeout: SignedDuration, now: Timestamp) -> bool {
        self.is_final() && overdue_of(self, timeout, now).is_none()
    }

    /// Returns the bytes outside of the table.
    pub(super) fn heap(&self) -> usize {
        let work = self.work.as_ref().map_or(0, |_| size_of::<Work>() + 16);
        // Two counters, and the overhead of the allocation.
        self.claim.footprint() + 32 + work
    }
}

/// Returns how a NodeClaim that is not explained ended unregistered, if it did. The success of CSE explains nothing.
pub(super) fn overdue_of(
    tracked: &TrackedClaim,
    timeout: SignedDuration,
    now: Timestamp,
) -> Option<Overdue> {
    let claim = &tracked.claim;
    if claim.launched.is_none() || claim.vm.is_none() {
        return None;
    }
    match tracked.reason() {
        Some(ConditionReason::CseSucceeded) => {
            overdue_after_success(claim, tracked.deleted_at, timeout, now)
        }
        _ if tracked.is_final() => None,
        _ => overdue(claim, tracked.deleted_at, now),
    }
}

#[derive(Debug, Default)]
pub(super) struct TrackedNodes {
    /// By name; true if the missing providerID was reported.
    known: BTreeMap<String, (UnregisteredNode, bool)>,
    /// True after a complete list. Before that, an unknown Node may still exist.
    is_complete: bool,
}

impl TrackedNodes {
    pub(super) fn replace(&mut self, nodes: Vec<UnregisteredNode>) {
        let mut before = std::mem::take(&mut self.known);
        self.is_complete = true;
        for node in nodes {
            if let Some(same) = before.remove(&node.name) {
                self.known.insert(node.name.clone(), same);
            }
            self.add(node);
        }
    }

    pub(super) fn add(&mut self, node: UnregisteredNode) {
        let before = self.known.get(&node.name);
        let reported = before.is_some_and(|(before, reported)| {
            *reported && before.uid == node.uid && node.lacks_provider_id()
        });
        self.known.insert(node.name.clone(), (node, reported));
    }

    /// Removes a Node, unless another with the same name replaced it.
    pub(super) fn remove(&mut self, name: &str, uid: &str) {
        if self.known.get(name).is_some_and(|(node, _)| node.uid == uid) {
            self.known.remove(name);
        }
    }

    pub(super) fn state_of(&self, name: &str) -> NodeState {
        match self.known.get(name) {
            Some((node, _)) => node.state,
            None if self.is_complete => NodeState::Absent,
            None => NodeState::Unknown,
        }
    }

    /// Forgets reports, which another leader may not have written.
    pub(super) fn forget_reports(&mut self) {
        self.known.values_mut().for_each(|(_, reported)| *reported = false);
    }

    /// Returns the number of reported Nodes that still lack a providerID.
    pub(super) fn reported(&self) -> usize {
        self.known.values().filter(|(_, reported)| *reported).count()
    }

    pub(super) fn next_at(&self) -> Option<Timestamp> {
        let lacking = self.known.values().filter(|(node, done)| !done && node.lacks_provider_id());
        lacking.map(|(node, _)| node.due()).min()
    }

    pub(super) fn take_due(&mut self, now: Timestamp) -> Vec<UnregisteredNode> {
        let due = self
            .known
            .values_mut()
            .filter(|(node, reported)| !reported && node.lacks_provider_id() && node.due() <= now);
        due.map(|(node, reported)| {
            *reported = true;
            node.clone()
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use mooring_nodes::claim::vm_id::VmId;
    use mooring_nodes::unregistered::PROVIDER_ID_TIMEOUT;

    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + seconds).unwrap()
    }

    fn tracked(reason: Option<ConditionReason>, registered: bool) -> TrackedClaim {
        let vm = VmId { subscription: "s".into(), group: "g".into(), name: "aks-c".into() };
        let claim = Claim::placeholder(&"u".into(), "c", Some(vm), None, at(0));
        let claim = Claim { registered: registered.then_some(at(70)), ..claim };
        let held =
            |reason| HeldVerdict { was_written: true, ..HeldVerdict::unwritten(reason, "m", None) };
        TrackedClaim { held: reason.map(held), ..TrackedClaim::new(claim) }
    }

    #[test]
    fn registered_node_joined_unless_its_bootstrap_failed() {
        use ConditionReason::*;
        for (reason, expected) in [
            (None, true),
            (Some(CseSucceeded), true),
            (Some(NoCseExtension), true),
            (Some(CseNotCreated), true),
            (Some(CseStatusUnavailable), true),
            (Some(CseRunning), false),
            (Some(CseFailed), false),
            (Some(NodeNotRegistered), false),
        ] {
            assert_eq!(tracked(reason, true).has_joined(), expected, "{reason:?}");
            assert!(!tracked(reason, false).has_joined(), "{reason:?}");
        }
    }

    #[test]
    fn only_a_launched_and_unexplained_node_is_overdue() {
        let timeout = SignedDuration::from_mins(5);
        let overdue = |tracked: &TrackedClaim| overdue_of(tracked, timeout, at(960)).is_some();
        let waiting = tracked(None, false);
        assert!(overdue(&waiting) && !waiting.is_explained(timeout, at(960)));
        let mut unlaunched = tracked(None, false);
        Arc::make_mut(&mut unlaunched.claim).launched = None;
        let mut without = tracked(None, false);
        Arc::make_mut(&mut without.claim).vm = None;
        assert!(!overdue(&unlaunched) && !overdue(&without));
        let failed = tracked(Some(ConditionReason::CseFailed), false);
        assert!(!overdue(&failed) && failed.is_explained(timeout, at(960)));
        let succeeded = tracked(Some(ConditionReason::CseSucceeded), false);
        assert!(overdue(&succeeded) && !succeeded.is_explained(timeout, at(960)));
    }

    #[test]
    fn read_may_return_for_a_minute() {
        let mut tracked = tracked(None, false);
        assert_eq!(tracked.reading_since(at(0)), None);
        tracked.work().reading = Some((at(0), QueuePriority::Pending));
        assert_eq!(tracked.reading_since(at(59)), Some(at(0)));
        assert_eq!(tracked.reading_since(at(60)), None);
    }

    fn node(name: &str, uid: &str, state: NodeState) -> UnregisteredNode {
        let pool = "default".to_owned();
        UnregisteredNode {
            name: name.into(),
            uid: uid.into(),
            pool,
            created: Timestamp::UNIX_EPOCH,
            state,
        }
    }

    fn names(nodes: &[UnregisteredNode]) -> Vec<&str> {
        nodes.iter().map(|node| &*node.name).collect()
    }

    #[test]
    fn node_without_a_provider_id_is_reported_once() {
        let due = Timestamp::UNIX_EPOCH + PROVIDER_ID_TIMEOUT;
        let lost = || node("a", "u1", NodeState::NoProviderId);
        let mut nodes = TrackedNodes::default();
        nodes.add(lost());
        nodes.add(node("b", "u2", NodeState::NotReady));
        assert_eq!(nodes.next_at(), Some(due));
        assert_eq!(nodes.take_due(due - jiff::SignedDuration::from_secs(1)), []);
        assert_eq!((names(&nodes.take_due(due)), nodes.reported()), (vec!["a"], 1));
        // Neither an update nor a list repeats it.
        nodes.add(lost());
        nodes.replace(vec![lost()]);
        assert_eq!((nodes.next_at(), nodes.take_due(due).len(), nodes.reported()), (None, 0, 1));
        // Another Node of the same name is another report.
        nodes.add(node("a", "u3", NodeState::NoProviderId));
        assert_eq!((nodes.reported(), nodes.take_due(due).len()), (0, 1));
        nodes.forget_reports();
        assert_eq!((nodes.reported(), nodes.take_due(due).len()), (0, 1));
        // It has a providerID now.
        nodes.add(node("a", "u3", NodeState::NotReady));
        assert_eq!((nodes.reported(), nodes.next_at()), (0, None));
    }

    #[test]
    fn unknown_node_is_absent_only_after_a_list() {
        let mut nodes = TrackedNodes::default();
        nodes.add(node("a", "u1", NodeState::Ready));
        assert_eq!(nodes.state_of("a"), NodeState::Ready);
        assert_eq!(nodes.state_of("b"), NodeState::Unknown);
        nodes.replace(vec![node("c", "u3", NodeState::NotReady)]);
        assert_eq!(nodes.state_of("a"), NodeState::Absent);
        nodes.remove("c", "another");
        assert_eq!(nodes.state_of("c"), NodeState::NotReady);
        nodes.remove("c", "u3");
        assert_eq!(nodes.state_of("c"), NodeState::Absent);
    }
}
