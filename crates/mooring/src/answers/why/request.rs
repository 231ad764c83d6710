//! Reads for a subject.

use mooring_nodes::{ClusterFacts, Inventory, JoinState, Node, PoolKind};

use super::subject::{self, WhySubject};
use crate::answers::arguments::WhyArguments;
use crate::answers::common::filter;
use crate::arguments::without_kind;
use crate::cluster::{ConnectedCluster, NamedVms, Reports, VmRequest};
use crate::output::failure::CommandFailure;

/// Finds the subject, and reads from Azure only what the cluster lacks.
pub(super) async fn ask(
    arguments: &WhyArguments,
    cluster: &mut ConnectedCluster,
) -> Result<(WhySubject, Reports), CommandFailure> {
    let facts = &cluster.facts;
    let name = arguments.what.as_deref().map(without_kind);
    let subject = WhySubject::find(name, &facts.inventory, &facts.karpenter);
    let selected = select(arguments, facts, &subject);
    let mut request = VmRequest::unknown(&selected.nodes);
    match &subject {
        WhySubject::Pool { kind: PoolKind::NodePool, .. } => {}
        WhySubject::Cluster => request = request.with_pools(),
        WhySubject::Pool { name, kind: PoolKind::AksPool } => {
            let named = Some(NamedVms::Pool(name.clone()));
            request = VmRequest { named, ..request }.with_pools();
        }
        WhySubject::Unknown(name) => request.named = Some(NamedVms::Unknown(name.clone())),
        WhySubject::Node(uid) => add_node(&mut request, facts, uid, arguments.run_command),
    }
    let reports = cluster.ask_azure(&arguments.read.sources, &request).await?;
    let subject = match subject {
        WhySubject::Unknown(name) => subject::resolve(&name, &cluster.facts, &reports)?,
        known => known,
    };
    Ok((subject, reports))
}

/// Requests one node: with Run Command also one that has a result, and one without a NodeClaim by its name. A node without
/// a verdict is compared with others of its pool.
pub(super) fn add_node(request: &mut VmRequest, facts: &ClusterFacts, uid: &str, command: bool) {
    let Some(node) = facts.inventory.by_uid(uid).filter(|node| node.exists) else { return };
    request.run_command = command;
    let is_joining = node.state == JoinState::Joining;
    match &node.node_claim {
        Some(claim) if command => request.claims = vec![(node.uid.clone(), claim.clone())],
        Some(claim) if is_joining => {
            let of_pool = facts.inventory.nodes.iter().filter(|other| other.pool == node.pool);
            *request = VmRequest::unknown(of_pool);
            request.claims.retain(|(uid, _)| *uid != node.uid);
            request.claims.insert(0, (node.uid.clone(), claim.clone()));
        }
        None if command || is_joining => {
            request.named = node.node.clone().map(|name| named(node, name));
        }
        _ => {}
    }
}

fn named(node: &Node, name: String) -> NamedVms {
    let pool = node.pool.as_deref().map(str::to_owned);
    match node.vm_id.clone() {
        Some(vm_id) => NamedVms::Node { name, vm_id, pool },
        None => NamedVms::Unknown(name),
    }
}

pub(super) fn select(
    arguments: &WhyArguments,
    facts: &ClusterFacts,
    subject: &WhySubject,
) -> Inventory {
    let mut filter = filter(&arguments.read, facts);
    match subject {
        WhySubject::Cluster => {}
        WhySubject::Pool { name, .. } => filter.pool = Some(name.clone()),
        WhySubject::Node(uid) => {
            let nodes = facts.inventory.by_uid(uid).cloned().into_iter().collect();
            let reads = facts.inventory.reads.clone();
            return Inventory { nodes, reads, ..Inventory::default() };
        }
        WhySubject::Unknown(_) => return Inventory::default(),
    }
    facts.inventory.filtered(&filter)
}
