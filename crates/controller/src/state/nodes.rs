//! Nodes that Karpenter has not registered, compared with NodeClaims without a registered node. Each that
//! lacks a providerID for too long is reported.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::observation::node::Node;
use crate::verdict::registration::NodeState;

#[derive(Debug, Default)]
pub(super) struct Nodes {
    /// By name; true if the missing providerID was reported.
    known: BTreeMap<String, (Node, bool)>,
    /// True after a complete list. Before that, an unknown Node may still exist.
    is_complete: bool,
}

impl Nodes {
    pub(super) fn replace(&mut self, nodes: Vec<Node>) {
        let mut before = std::mem::take(&mut self.known);
        self.is_complete = true;
        for node in nodes {
            if let Some(same) = before.remove(&node.name) {
                self.known.insert(node.name.clone(), same);
            }
            self.add(node);
        }
    }

    pub(super) fn add(&mut self, node: Node) {
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

    pub(super) fn take_due(&mut self, now: Timestamp) -> Vec<Node> {
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
