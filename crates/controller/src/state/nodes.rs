//! Nodes without a providerID: each is reported once it has lacked one for too long.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{Action, State};
use crate::event::{Event, Kind};
use crate::node::{Node, REASON};

/// The Nodes that lack a providerID now.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    /// By uid, with whether the finding was reported.
    found: BTreeMap<String, (Node, bool)>,
}

impl Nodes {
    /// Takes a complete list.
    pub(super) fn replace(&mut self, nodes: Vec<Node>) {
        let before = std::mem::take(&mut self.found);
        for node in nodes {
            let reported = before.get(&node.uid).is_some_and(|(_, reported)| *reported);
            self.found.insert(node.uid.clone(), (node, reported));
        }
    }

    pub(super) fn add(&mut self, node: Node) {
        self.found.entry(node.uid.clone()).or_insert((node, false));
    }

    pub(super) fn remove(&mut self, uid: &str) {
        self.found.remove(uid);
    }

    /// Forgets what was reported: another replica may not have been able to.
    pub(super) fn forget_reports(&mut self) {
        self.found.values_mut().for_each(|(_, reported)| *reported = false);
    }

    /// Returns how many were reported and still lack one.
    pub(super) fn reported(&self) -> usize {
        self.found.values().filter(|(_, reported)| *reported).count()
    }

    /// Returns when the next is a finding.
    pub(super) fn next_at(&self) -> Option<Timestamp> {
        self.found.values().filter(|(_, reported)| !reported).map(|(node, _)| node.due()).min()
    }

    fn take_due(&mut self, now: Timestamp) -> Vec<Node> {
        let due = self.found.values_mut().filter(|(node, reported)| !reported && node.due() <= now);
        due.map(|(node, reported)| {
            *reported = true;
            node.clone()
        })
        .collect()
    }
}

impl State {
    /// Reports Nodes that have lacked a providerID for too long, on their NodePools.
    pub(super) fn report_nodes(&mut self, now: Timestamp, actions: &mut Vec<Action>) {
        if !self.leads {
            return;
        }
        for node in self.nodes.take_due(now) {
            actions.push(Action::Event(Event {
                regarding: self.regarding(Kind::NodePool, &node.pool),
                reason: REASON,
                note: node.finding(),
                key: node.uid.clone(),
                at: now,
            }));
            actions.push(Action::NodeFinding(node));
        }
    }
}
