//! Nodes that Karpenter has not registered, compared with NodeClaims without a registered node. Each that
//! lacks a providerID for too long is reported.

use std::collections::BTreeMap;

use jiff::Timestamp;
use mooring_nodes::unregistered::UnregisteredNode;
use mooring_nodes::verdict::registration::NodeState;

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
    use super::*;
    use mooring_nodes::unregistered::PROVIDER_ID_TIMEOUT;

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
