//! Content of the documents `mooring.status/v1` and `mooring.fleet/v2`.

use mooring_controller::claim::image;
use mooring_controller::observation::node::Node;
use mooring_workflow::plural::counted;
use mooring_workflow::published::{Next, SourceName, SourceState};
use serde::Serialize;

use crate::advice::{Advice, Adviser};
use crate::facts::{ClusterFacts, ControllerState};
use crate::fleet::{Fleet, FleetRow};
use crate::group::groups;
use crate::karpenter::Mitigation;
use crate::merge::Inventory;
use crate::node::PoolKind;
use crate::pool::{Pool, PoolState, pools};

pub const STATUS_SCHEMA: &str = "mooring.status/v1";
pub const FLEET_SCHEMA: &str = "mooring.fleet/v2";

/// Something that is wrong, or that deserves attention.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusFinding {
    /// `node-without-provider-id`, `image-fails`, `nodes-fail`, `pool-degraded`, `source-not-read`,
    /// `run-unfinished`, `mitigation`, `controller-missing`, `controller-late` or `controller-unknown`.
    pub kind: &'static str,
    /// `error` or `warning`.
    pub severity: &'static str,
    pub message: String,
    /// What to do first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<Advice>,
}

impl StatusFinding {
    pub fn error(kind: &'static str, message: String) -> Self {
        Self { kind, severity: "error", message, advice: None }
    }

    pub fn warning(kind: &'static str, message: String) -> Self {
        Self { kind, severity: "warning", message, advice: None }
    }

    fn advise(self, advice: Option<Advice>) -> Self {
        Self { advice, ..self }
    }
}

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterStatus {
    pub findings: Vec<StatusFinding>,
    pub pools: Vec<Pool>,
    pub controller: ControllerState,
    pub next: Vec<Next>,
}

impl ClusterStatus {
    pub fn of(facts: &ClusterFacts, inventory: &Inventory, fleet: &Fleet) -> Self {
        let pools = known_pools(facts, inventory, fleet);
        Self {
            findings: findings(facts, inventory, fleet, &pools),
            next: next(inventory, facts, &pools),
            pools,
            controller: facts.controller.clone(),
        }
    }

    pub fn is_wrong(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == "error")
    }
}

/// Returns the pools. The failures of a NodePool are known only from NodeClaims and the record.
fn known_pools(facts: &ClusterFacts, inventory: &Inventory, fleet: &Fleet) -> Vec<Pool> {
    let is_failed = |name| facts.source_state(name) == SourceState::Failed;
    let is_unread = is_failed(SourceName::Cluster) || is_failed(SourceName::Record);
    let mut pools = pools(inventory, fleet);
    for pool in pools.iter_mut().filter(|pool| is_unread && pool.kind == PoolKind::NodePool) {
        if pool.state == PoolState::Healthy {
            pool.state = PoolState::Unknown;
        }
    }
    pools
}

/// Returns the sentence about an image that is at fault.
pub fn image_fails(row: &FleetRow) -> String {
    let FleetRow { here, others, .. } = row;
    format!(
        "Image {} fails with {} on {} of {} nodes, other images on {} of {}.",
        image::version(&row.image),
        row.cause,
        here.failed,
        here.nodes,
        others.failed,
        others.nodes
    )
}

fn degraded(pools: &[Pool]) -> impl Iterator<Item = &Pool> {
    pools.iter().filter(|pool| pool.state == PoolState::Degraded)
}

fn pool_finding(pool: &Pool) -> StatusFinding {
    let wanted = pool.wanted.map_or_else(|| "?".to_owned(), |wanted| wanted.to_string());
    let state = pool.provisioning_state.as_deref().unwrap_or("unknown");
    let message = format!(
        "AKS pool {} has {} of {wanted} nodes, and its state in Azure is {state}.",
        pool.name, pool.nodes
    );
    StatusFinding::error("pool-degraded", message)
}

fn findings(
    facts: &ClusterFacts,
    inventory: &Inventory,
    fleet: &Fleet,
    pools: &[Pool],
) -> Vec<StatusFinding> {
    let lost = facts.lost.iter().map(Node::finding);
    let lost = lost.map(|text| StatusFinding::error("node-without-provider-id", text));
    let adviser = Adviser::new(facts);
    let images = fleet.findings().map(|row| {
        let first = adviser.of_row(inventory, row).into_iter().next();
        StatusFinding::error("image-fails", image_fails(row)).advise(first)
    });
    let mut found: Vec<StatusFinding> = lost.chain(images).collect();
    let blamed: Vec<(&str, &str)> =
        fleet.findings().map(|row| (row.image.as_str(), row.cause.as_str())).collect();
    for group in groups(inventory) {
        let key = (group.image.as_deref().unwrap_or_default(), group.cause.as_str());
        if blamed.contains(&key) || !group.is_confirmed {
            continue;
        }
        let pool = group.pool.as_deref().unwrap_or("no pool");
        let nodes = counted(group.failed, "node");
        let message = format!("{nodes} of pool {pool} failed: {}.", group.cause);
        let first = adviser.advise(&group).into_iter().next();
        found.push(StatusFinding::error("nodes-fail", message).advise(first));
    }
    found.extend(degraded(pools).map(pool_finding));
    let mitigations = facts.karpenter.mitigations(None).into_iter();
    found.extend(mitigations.map(|one| {
        StatusFinding::warning("mitigation", one.message).advise(Some(Advice::undo(one.undo)))
    }));
    let unread = facts.unread(fleet.joining);
    found.extend(unread.map(|text| StatusFinding::warning("source-not-read", text.to_owned())));
    found.extend(controller_finding(facts));
    found
}

fn controller_finding(facts: &ClusterFacts) -> Option<StatusFinding> {
    let controller = &facts.controller;
    let (kind, message) = match controller.state {
        "unknown" => (
            "controller-unknown",
            "The state of the controller was not read: failures may not be recorded.".to_owned(),
        ),
        "not-running" => (
            "controller-missing",
            "No controller is running: failures of deleted nodes are not recorded.".to_owned(),
        ),
        "late" => {
            let since = controller.renewed_at;
            let since = since.map_or_else(|| "an unknown time".to_owned(), |at| at.to_string());
            ("controller-late", format!("The controller did not renew its Lease since {since}."))
        }
        _ => return None,
    };
    Some(StatusFinding::warning(kind, message))
}

fn next(inventory: &Inventory, facts: &ClusterFacts, pools: &[Pool]) -> Vec<Next> {
    let mut next = Vec::new();
    for pool in degraded(pools).take(2) {
        let command =
            format!("mooring repair detect --pool {}", mooring_redact::shell_word(&pool.name));
        next.push(Next::new(command, "signs of a wedged pool"));
    }
    let mut pools: Vec<_> = groups(inventory).into_iter().filter_map(|group| group.pool).collect();
    pools.dedup();
    for pool in pools.iter().take(2) {
        let command = format!("mooring why {}", mooring_redact::shell_word(pool));
        next.push(Next::new(command, "failed nodes of the pool"));
    }
    if !pools.is_empty() {
        next.push(Next::new("mooring fleet", "failures by image and cause"));
    }
    if facts.has_karpenter && facts.controller.state == "not-running" {
        next.push(Next::new("helm install mooring charts/mooring", "record failures"));
    }
    next
}

/// An image that is at fault, and what can be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ImageFinding {
    pub image: String,
    pub cause: String,
    pub message: String,
    pub actions: Vec<Advice>,
}

impl ImageFinding {
    /// Returns the images that are at fault.
    pub fn all(facts: &ClusterFacts, inventory: &Inventory, fleet: &Fleet) -> Vec<Self> {
        let adviser = Adviser::new(facts);
        let finding = |row: &FleetRow| Self {
            image: row.image.clone(),
            cause: row.cause.clone(),
            message: image_fails(row),
            actions: adviser.of_row(inventory, row),
        };
        fleet.findings().map(finding).collect()
    }
}

/// A Node without a providerID.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LostNode {
    pub node: String,
    pub pool: String,
    pub message: String,
}

impl LostNode {
    pub fn new(node: &Node) -> Self {
        Self { node: node.name.clone(), pool: node.pool.clone(), message: node.finding() }
    }
}

#[derive(Debug, Serialize)]
pub struct FleetContent<'a> {
    #[serde(flatten)]
    fleet: &'a Fleet,
    findings: &'a [ImageFinding],
    mitigations: Vec<Mitigation>,
    #[serde(rename = "nodesWithoutProviderID")]
    lost: Vec<LostNode>,
}

impl<'a> FleetContent<'a> {
    pub fn new(facts: &ClusterFacts, fleet: &'a Fleet, findings: &'a [ImageFinding]) -> Self {
        Self {
            fleet,
            findings,
            mitigations: facts.karpenter.mitigations(None),
            lost: facts.lost.iter().map(LostNode::new).collect(),
        }
    }
}
