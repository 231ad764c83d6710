//! Changes in Azure, applied to the cluster.

use jiff::Timestamp;
use serde_json::Value;

use super::model::SimulatedCluster;
use super::{claims, nodes};
use crate::azure::{AzureChange, Join};
use crate::kubernetes::Key;

impl SimulatedCluster {
    /// Applies a change in Azure. The cluster rejects none of these writes; an existing object is not changed.
    pub(super) fn follow(&mut self, change: &AzureChange, at: Timestamp) {
        match change {
            AzureChange::NodeJoined(node) => {
                self.request_certificate(node, at);
                if node.join.has_node() {
                    let _ = self.kubernetes.create(nodes::object(node, at), at);
                }
                if matches!(node.join, Join::Ready | Join::NoProviderId) {
                    let wait = self.azure.options().scaled(self.options.node_start);
                    self.starting.insert((at.checked_add(wait).unwrap_or(at), node.name.clone()));
                }
            }
            AzureChange::NodeGone { node, .. } => {
                self.starting.retain(|(_, name)| name != node);
                let _ = self.kubernetes.delete("nodes", &Key::new(None, node), at);
            }
            AzureChange::VmCreated(vm) => claims::adopt(&mut self.kubernetes, &self.azure, vm, at),
            AzureChange::VmRuns(_) | AzureChange::VmGone(_) | AzureChange::CseEnded { .. } => {}
        }
        if let Some(karpenter) = &mut self.karpenter {
            karpenter.handle_change(change, at);
        }
    }

    /// Applies a change from before the start: it keeps its own time, and nodes are Ready.
    pub(super) fn recall(&mut self, change: &AzureChange, start: Timestamp) {
        match change {
            AzureChange::NodeJoined(node) => {
                let created = self.created(&node.provider_id).unwrap_or(start);
                let at = self.bootstrapped(&node.provider_id).map_or(created, |at| at.max(created));
                let _ = self.kubernetes.create(nodes::object(node, at), at);
                self.make_ready(&node.name, at);
            }
            AzureChange::VmCreated(vm) => {
                let at = self.created(&vm.provider_id).unwrap_or(start);
                claims::adopt(&mut self.kubernetes, &self.azure, vm, at);
            }
            other => self.follow(other, start),
        }
    }

    fn created(&self, provider_id: &str) -> Option<Timestamp> {
        let body = self.azure.resource(provider_id.strip_prefix("azure://")?)?;
        body.pointer("/properties/timeCreated").and_then(Value::as_str)?.parse().ok()
    }

    /// Returns the end of the bootstrap of a VM, which is that of the VM's last operation.
    fn bootstrapped(&self, provider_id: &str) -> Option<Timestamp> {
        let body = self.azure.resource(provider_id.strip_prefix("azure://")?)?;
        let status = "/properties/instanceView/statuses/0/time";
        body.pointer(status).and_then(Value::as_str)?.parse().ok()
    }

    /// Sets due nodes to Ready. Returns true if there were any.
    pub(super) fn ready_nodes(&mut self, now: Timestamp) -> bool {
        let mut any = false;
        while self.starting.first().is_some_and(|(at, _)| *at <= now) {
            let Some((_, node)) = self.starting.pop_first() else { break };
            self.make_ready(&node, now);
            any = true;
        }
        any
    }

    fn make_ready(&mut self, node: &str, now: Timestamp) {
        let key = Key::new(None, node);
        let Some(object) = self.kubernetes.get("nodes", &key) else { return };
        let patch = nodes::ready(object, now);
        let _ = self.kubernetes.change("nodes", &key, &patch, now);
        match &mut self.karpenter {
            Some(karpenter) => karpenter.hear_ready(node, now),
            // Without Karpenter, NodeClaims still get their conditions.
            None => claims::join(&mut self.kubernetes, node, now),
        }
    }
}
