//! Karpenter, and nodes that it lost.

use mooring_nodes::ClusterFacts;
use mooring_workflow::plural::counted;
use mooring_workflow::published::{SourceName, SourceState};

use crate::doctor::check::{CheckState, DoctorCheck};

pub(crate) fn karpenter(facts: &ClusterFacts) -> Vec<DoctorCheck> {
    if !facts.has_karpenter {
        let message = "not installed: only AKS pools are shown";
        return vec![DoctorCheck::new("karpenter", "installed", CheckState::Skipped, message)];
    }
    let pools = &facts.karpenter.node_pools;
    let pools = pools.as_ref().map(|pools| counted(pools.len(), "NodePool"));
    let versions = match facts.karpenter.has_versions {
        Some(true) => "; images can be pinned (spec.versions of an AKSNodeClass)",
        Some(false) => "; images cannot be pinned: the AKSNodeClass has no spec.versions",
        None => "",
    };
    let state = if pools.is_some() { CheckState::Ok } else { CheckState::Warning };
    let is_failed = facts.source_state(SourceName::Cluster) == SourceState::Failed;
    let unread = if is_failed { "NodePools were not read" } else { "NodePools are not installed" };
    let pools = pools.unwrap_or_else(|| unread.to_owned());
    let message = format!("NodeClaims v1, {pools}{versions}");
    let mut checks = vec![DoctorCheck::new("karpenter", "installed", state, message)];
    for node in &facts.lost {
        let command = format!("kubectl delete node {}", mooring_redact::shell_word(&node.name));
        checks.push(
            DoctorCheck::new("karpenter", "provider-id", CheckState::Failed, node.finding())
                .fix(Some(command)),
        );
    }
    checks
}
